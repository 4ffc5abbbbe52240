// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording that names the functions of programs and has their code: taken from this program,
 * which is what was recorded, and read as if on a machine that does not have it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canary.h"
#include "kontend/buildids.h"
#include "kontend/eventsnap.h"
#include "kontend/funcset.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-annotate.h"
#include "kontend/query-functions.h"
#include "kontend/query-hot.h"
#include "kontend/query-load.h"
#include "kontend/snapshot.h"
#include "kontend/writer.h"
#include "recording.h"
#include "synth-profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS 1000000ull

static void load_names(struct query *q)
{
	assert_int_equal(query_functions_meet(q, NULL), 0);
	while (query_load_names(q, 1000000000))
		;
}

static void take_functions(struct asked *w, const struct query_functions_limits *l,
			   struct funcsnap *ret)
{
	struct error err = {0};

	load_names(&w->q);
	if (query_functions(&w->q, l, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void play_here(struct asked *w)
{
	struct canary_place h = canary_here();

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	canary_machine(w->rig.synth);
	canary_stream(w->rig.synth, CANARY_START, &h);
	asked_play(w, NULL);
	query_begin(&w->q);
}

static void state_some(struct synth *s, const struct funcsnap *found, size_t cut, uint32_t flags)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_FUNCS, .version = FUNCSNAP_VERSION, .flags = flags};
	size_t len = funcsnap_size(found);
	char *body = mem_calloc(1, sizeof(head) + len);

	assert_non_null(body);
	memcpy(body, &head, sizeof(head));
	funcsnap_encode(found, body + sizeof(head));
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(head) + len - cut);
	mem_free(body);
}

static void state_found(struct synth *s, const struct funcsnap *found, size_t cut)
{
	state_some(s, found, cut, 0);
}

/* With sanitizers it calls others, which are named, too. */
static const struct funcsnap_func *canary_in(const struct funcsnap *s)
{
	for (size_t i = 0; i < s->n_funcs; i++)
		if (!strcmp(funcsnap_text(s, s->funcs[i].name), "names_canary"))
			return &s->funcs[i];
	fail_msg("names_canary is not among %zu functions", s->n_funcs);
	return NULL;
}

static void names_and_code_are_taken(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0}, none = {0};
	const struct query_functions_limits no_code = {.functions = 10, .names = 1000};
	const struct query_functions_limits nothing = {.names = 1000, .code = 1000};

	play_here(w);
	take_functions(w, &query_functions_usual, &found);
	const struct funcsnap_func *f = canary_in(&found);
	assert_int_equal(found.n_objects, 1);
	assert_int_equal(found.objects[0].maj, 8);
	assert_int_equal(f->code_len, f->size);
	assert_memory_equal(found.code + f->code, (const void *)(uintptr_t)canary_addr(), f->size);
	funcsnap_deinit(&found);
	take_functions(w, &no_code, &found);
	canary_in(&found);
	assert_int_equal(found.head.left_code, 1);
	assert_int_equal(found.n_code, 0);
	funcsnap_deinit(&found);
	take_functions(w, &nothing, &none);
	assert_int_equal(none.n_funcs, 0);
	assert_true(none.head.left_names >= 1);
	funcsnap_deinit(&none);
}

/* Functions reported before are left out, until there is code to add as well. */
static void only_what_is_new_is_taken(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0};
	struct map64 reported = {0};
	struct query_functions_limits l = query_functions_usual;

	l.reported = &reported;
	play_here(w);
	take_functions(w, &l, &found);
	canary_in(&found);
	funcsnap_deinit(&found);
	take_functions(w, &l, &found);
	assert_int_equal(found.n_funcs, 0);
	funcsnap_deinit(&found);
	for (size_t i = 0; i <= reported.mask; i++)
		reported.slots[i].value = 1;
	take_functions(w, &l, &found);
	assert_true(canary_in(&found)->code_len > 0);
	funcsnap_deinit(&found);
	map64_deinit(&reported);
	assert_int_equal(query_functions_within(UINT64_MAX).code, query_functions_usual.code);
	assert_int_equal(query_functions_within(1 << 20).code, 1 << 19);
}

static void find_found(struct asked *w, struct funcsnap *ret)
{
	play_here(w);
	take_functions(w, &query_functions_usual, ret);
	query_deinit(&w->q);
	rig_deinit(&w->rig);
}

static struct table hot(struct asked *w)
{
	struct table t;
	struct error err = {0};

	load_names(&w->q);
	query_begin(&w->q);
	if (query_hot(&w->q, &(struct query_hot_spec){0}, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* "test-names+0x1234", and the reason beside it. */
static void check_unnamed(struct table *t, const char *why)
{
	const char *symbol = cell_s(t, 0, "symbol"), *object = cell_s(t, 0, "object");
	const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
	size_t n = strlen(file);

	assert_memory_equal(symbol, file, n);
	assert_memory_equal(symbol + n, "+0x", 3);
	assert_string_equal(cell_s(t, 0, "note"), why);
}

/* The file is there, but recorded elsewhere and without a build id it may be another one. */
static void another_machine_has_them(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0};
	struct canary_place h = canary_here();

	find_found(w, &found);
	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	canary_stream(w->rig.synth, CANARY_START, &h);
	state_found(w->rig.synth, &found, 0);
	asked_play(w, NULL);
	query_begin(&w->q);
	struct table t = hot(w);
	assert_string_equal(cell_s(&t, 0, "symbol"), "names_canary");
	assert_string_equal(cell_s(&t, 0, "object"), h.path);
	assert_string_equal(cell_s(&t, 0, "names"), "recording");
	struct query_annotate a;
	uint64_t start;
	assert_int_equal(query_annotate_find(&w->q, "names_canary", &start, NULL), 0);
	assert_int_equal(query_annotate(&w->q, start, &a, NULL), 0);
	assert_int_equal(a.samples, 9);
	assert_true(a.recorded);
	if (!a.why || !strstr(a.why, "disassembler")) {
		/* The synthetic machine has no name: its code cannot be taken apart. */
		assert_int_equal(a.size, canary_in(&found)->size);
	}
	funcsnap_deinit(&found);
}

/* A recorder that was killed has written the name first, and the code when it was hot. */
static void what_was_told_in_parts_is_one(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0}, named;
	struct canary_place h = canary_here();

	find_found(w, &found);
	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	canary_stream(w->rig.synth, CANARY_START, &h);
	named = found;
	named.funcs = mem_dup(found.funcs, found.n_funcs, sizeof(*found.funcs));
	assert_non_null(named.funcs);
	for (size_t i = 0; i < named.n_funcs; i++)
		named.funcs[i].code = named.funcs[i].code_len = 0;
	state_some(w->rig.synth, &named, 0, RECORD_SNAPSHOT_MORE);
	state_some(w->rig.synth, &found, 0, RECORD_SNAPSHOT_MORE);
	state_some(w->rig.synth, &found, 0, RECORD_SNAPSHOT_MORE);
	mem_free(named.funcs);
	asked_play(w, NULL);
	query_begin(&w->q);
	struct table t = hot(w);
	assert_string_equal(cell_s(&t, 0, "symbol"), "names_canary");
	assert_string_equal(cell_s(&t, 0, "names"), "recording");
	const struct funcset *reported = w->rig.engine.model->funcs;
	assert_int_equal(funcset_changes(reported), 2);
	assert_int_equal(funcset_snap(reported)->n_funcs, found.n_funcs);
	assert_int_equal(canary_in(funcset_snap(reported))->code_len, canary_in(&found)->code_len);
	funcsnap_deinit(&found);
}

static void damaged_or_of_others_they_are_none(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0};
	struct canary_place h = canary_here();

	find_found(w, &found);
	for (int i = 0; i < 2; i++) {
		rig_init(&w->rig, 1);
		synth_profile(w->rig.synth);
		canary_stream(w->rig.synth, CANARY_START, &h);
		found.objects[0].ino += (uint64_t)i;
		state_found(w->rig.synth, &found, i ? 0 : 16);
		asked_play(w, NULL);
		query_begin(&w->q);
		struct table t = hot(w);
		check_unnamed(&t, "recorded elsewhere, without a build id");
		if (i == 0) {
			query_deinit(&w->q);
			rig_deinit(&w->rig);
		}
	}
	funcsnap_deinit(&found);
}

static void state_build_id(struct synth *s, const char *path, uint8_t first)
{
	struct record_snapshot head = {.kind = SNAPSHOT_BUILD_IDS, .version = BUILDIDS_VERSION};
	const uint8_t id[20] = {first};
	char body[600];

	memcpy(body, &head, sizeof(head));
	size_t n = buildids_put(path, id, sizeof(id), body + sizeof(head),
				sizeof(body) - sizeof(head));
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(head) + n);
}

/* Also on this machine: it was replaced since. */
static void a_file_of_another_build_id_is_refused(void **state)
{
	struct asked *w = *state;
	struct canary_place h = canary_here();

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	canary_machine(w->rig.synth);
	state_build_id(w->rig.synth, h.path, 0xee);
	canary_stream(w->rig.synth, CANARY_START, &h);
	asked_play(w, NULL);
	query_begin(&w->q);
	struct table t = hot(w);
	check_unnamed(&t, "the build id differs from the one recorded");
}

/* The kernel may say it of each mapping; files of one name are not one then. */
static void mappings_say_build_ids(void **state)
{
	struct asked *w = *state;
	struct canary_place h = canary_here();
	const uint8_t ids[2][20] = {{1}, {2}};
	uint64_t ip = canary_addr();

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	canary_machine(w->rig.synth);
	for (int i = 0; i < 3; i++) {
		synth_mmap_id(w->rig.synth, 0, CANARY_START, CANARY_PID + i, h.start, h.len, h.path,
			      ids[i / 2]);
		synth_sample(w->rig.synth, 0, CANARY_START + MS, CANARY_PID + i, CANARY_PID + i, MS,
			     (struct synth_chain){.user = &ip, .n_user = 1});
	}
	synth_tick(w->rig.synth, CANARY_START + 100 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
	const struct map_objects *objects = w->rig.engine.model->profile->spaces.objects;
	assert_int_equal(objects->n, 3);
	assert_int_equal(map_object_get(objects, 1)->id_len, 20);
	assert_memory_equal(map_object_get(objects, 2)->id, ids[1], 20);
	struct table t = hot(w);
	check_unnamed(&t, "the build id differs from the one recorded");
}

/* Two files, two functions in each: as many rows, as in perf. */
static void functions_without_names_never_merge(void **state)
{
	static const char *const paths[2] = {"/opt/none/liba.so", "/opt/none/libb.so"};
	static const uint64_t starts[2] = {0x10000, 0x50000};
	struct asked *w = *state;
	size_t at = 0, rows;

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	for (int i = 0; i < 2; i++)
		synth_mmap(w->rig.synth, 0, CANARY_START, CANARY_PID, starts[i], 0x3000, 0x1000,
			   paths[i]);
	for (int i = 0; i < 8; i++) {
		uint64_t ip = starts[i / 2 % 2] + 0x100 * (uint64_t)(1 + i / 4);
		synth_sample(w->rig.synth, 0, CANARY_START + MS, CANARY_PID, CANARY_PID, MS,
			     (struct synth_chain){.user = &ip, .n_user = 1});
	}
	synth_tick(w->rig.synth, CANARY_START + 100 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
	struct table t = hot(w);
	assert_int_equal(t.n_rows, 4);
	for (size_t row = 0; row < 4; row++) {
		const char *symbol = cell_s(&t, row, "symbol");
		assert_int_equal(cell_u(&t, row, "samples"), 2);
		assert_true(!strcmp(symbol, "liba.so+0x1100") ||
			    !strcmp(symbol, "liba.so+0x1200") ||
			    !strcmp(symbol, "libb.so+0x1100") || !strcmp(symbol, "libb.so+0x1200"));
		for (size_t other = 0; other < row; other++)
			assert_string_not_equal(symbol, cell_s(&t, other, "symbol"));
	}
	const char *why = query_hot_unnamed(&t, &at, &rows);
	assert_string_equal(why, cell_s(&t, 0, "note"));
	assert_int_equal(rows, 4);
	assert_null(query_hot_unnamed(&t, &at, &rows));
}

static void memory_runs_out(void **state)
{
	struct asked *w = *state;
	struct funcsnap found = {0};
	int r = -ENOMEM;

	play_here(w);
	load_names(&w->q);
	for (long n = 0; r; n++) {
		struct error err = {0};
		mem_fail_after(n);
		r = query_functions(&w->q, &query_functions_usual, &found, &err);
		mem_fail_after(-1);
		assert_true(!r || (r == -ENOMEM && err.text[0] && !found.n_funcs));
		assert_true(n < 1000);
	}
	canary_in(&found);
	funcsnap_deinit(&found);
}

/* The names of PMUs come with the events that count on them. */
static void state_pmus(struct synth *s)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} body = {.attr = {.type = PERF_TYPE_HARDWARE,
			   .size = sizeof(body.attr),
			   .config = 4ull << 32 | PERF_COUNT_HW_CPU_CYCLES,
			   .sample_freq = 999,
			   .freq = 1,
			   .sample_id_all = 1,
			   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP},
		  .id = 900};
	struct eventsnap names = {0};
	struct eventsnap_pmu pmus[] = {{.type = 4}, {.type = 10}};
	struct {
		struct record_snapshot head;
		uint8_t body[512];
	} r = {.head = {.kind = SNAPSHOT_EVENTS, .version = EVENTSNAP_VERSION}};

	synth_record(s, RECORD_ATTR, 0, &body, sizeof(body));
	body.attr.config = 10ull << 32 | PERF_COUNT_HW_CPU_CYCLES;
	body.id = 901;
	synth_record(s, RECORD_ATTR, 0, &body, sizeof(body));
	pmus[0].name = eventsnap_add_text(&names, "cpu_core");
	pmus[1].name = eventsnap_add_text(&names, "cpu_atom");
	for (int i = 0; i < 2; i++)
		assert_int_equal(eventsnap_add_pmu(&names, &pmus[i]), 0);
	assert_true(eventsnap_size(&names) <= sizeof(r.body));
	eventsnap_encode(&names, r.body);
	synth_record(s, RECORD_SNAPSHOT, 0, &r, sizeof(r.head) + eventsnap_size(&names));
	eventsnap_deinit(&names);
}

/* Both events, by the names that the recording has for their PMUs. */
static void check_pmus(const struct recording *rec)
{
	struct reader_options o = {.path = "bytes", .bytes = rec->data, .n_bytes = rec->len};
	const struct model_limits limits = model_limits_of(32 << 20);
	struct source *s;
	struct engine e;
	struct error err = {0};
	int r;

	assert_int_equal(reader_new(&s, &o, &err), 0);
	assert_int_equal(engine_init(&e, s, &limits, &err), 0);
	do
		r = engine_pump(&e, 0, &err);
	while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, ENGINE_END);
	assert_true(eventlist_match(&e.events, "cpu_core/cycles/"));
	assert_true(eventlist_match(&e.events, "cpu_atom/cycles/"));
	assert_int_equal(eventlist_match(&e.events, "cycles"),
			 eventlist_match(&e.events, "cpu_*/cycles/"));
	engine_deinit(&e);
}

/* Names at the end of a file, as they are written, and @more times on the way. */
static struct synth *state_ending(int more)
{
	struct funcsnap found = {0};
	struct funcsnap_func f = {.start = 0x1000, .size = 0x10, .object = 1};
	struct funcsnap_object o = {.ino = 7, .maj = 8, .min = 1};
	struct synth *s = synth_new(2);

	o.path = funcsnap_add_text(&found, "/opt/away");
	funcsnap_add_object(&found, &o);
	f.name = funcsnap_add_text(&found, "far_away");
	funcsnap_add_func(&found, &f);
	synth_prologue(s, synth_kallsyms);
	state_pmus(s);
	recording_waits(s, 5, 40);
	for (int i = 0; i < more; i++)
		state_some(s, &found, 0, RECORD_SNAPSHOT_MORE);
	synth_tick(s, 3000 * MS);
	state_build_id(s, "/opt/away", 1);
	state_found(s, &found, 0);
	funcsnap_deinit(&found);
	return s;
}

/* Position of the first of a kind among all records; *ret_n: their number. */
static int first_of(struct recording *rec, enum record_kind kind, uint16_t snapshot, int *ret_n)
{
	struct reader_options o = {.path = "bytes", .bytes = rec->data, .n_bytes = rec->len};
	struct record_snapshot head = {0};
	struct source *s;
	struct record r;
	int first = -1, e;

	*ret_n = 0;
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	for (int at = 0; (e = source_next(s, 0, &r, NULL)) == 0; at++) {
		bool is_it = r.kind == kind;
		if (is_it && kind == RECORD_SNAPSHOT)
			is_it = snapshot_parse(r.data, r.len, &head) && head.kind == snapshot;
		if (is_it && !(*ret_n)++)
			first = at;
		assert_int_not_equal(r.kind, RECORD_TRAILER);
		source_release(s, &r);
	}
	assert_int_equal(e, SOURCE_END);
	source_free(s);
	return first;
}

static void names_at_the_end_come_first(void **state)
{
	static const int forms[] = {0, RECORDING_ZSTD, RECORDING_PIPE};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		int form = forms[i % 3], more = i < 3 ? 0 : 2;
		struct synth *s = state_ending(more);
		struct recording rec = recording_written(synth_source(s), form);
		int n, events = first_of(&rec, RECORD_PERF, 0, &n);
		int names = first_of(&rec, RECORD_SNAPSHOT, SNAPSHOT_FUNCS, &n);
		/* Names reported earlier are skipped where all of them come first. */
		assert_int_equal(n, form == RECORDING_PIPE ? 1 + more : 1);
		/* Without an end the file does not give their place. */
		assert_true(form == RECORDING_PIPE ? names > events : names < events);
		int ids = first_of(&rec, RECORD_SNAPSHOT, SNAPSHOT_BUILD_IDS, &n);
		assert_int_equal(n, form == RECORDING_PIPE ? 0 : 1);
		assert_true(form == RECORDING_PIPE || ids < events);
		assert_true(first_of(&rec, RECORD_SNAPSHOT, SNAPSHOT_EVENTS, &n) < events);
		assert_int_equal(n, 1);
		check_pmus(&rec);
		recording_free(&rec);
		synth_free(s);
	}
}

/* The word of the file is not trusted: all events are read, and once. */
static void a_wrong_end_does_no_harm(void **state)
{
	struct synth *s = state_ending(0);
	struct recording rec = recording_written(synth_source(s), 0);
	struct recording_result good, bad;
	uint64_t data[2], len;

	(void)state;
	memcpy(data, rec.data + 40, sizeof(data));
	uint8_t *at = rec.data + data[0] + data[1] - 12;
	memcpy(&len, at, sizeof(len));
	recording_read_bytes(&good, rec.data, rec.len);
	const uint64_t lengths[] = {0, 1, 8, len - 8, len + 8, data[1] - 96, data[1], UINT64_MAX};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		memcpy(at, &lengths[i], sizeof(len));
		recording_read_bytes(&bad, rec.data, rec.len);
		assert_int_equal(bad.answer, 0);
		assert_string_equal(bad.dump, good.dump);
		recording_result_free(&bad);
	}
	recording_result_free(&good);
	recording_free(&rec);
	synth_free(s);
}

static void shrinking_keeps_them(void **state)
{
	struct synth *s = state_ending(0);
	int fd, to = memfd_create("small", 0), n;
	struct writer *w = recording_writer(synth_source(s), 0, &fd);
	struct recording rec = recording_of(fd);
	struct reader_options ro = {.path = "bytes", .bytes = rec.data, .n_bytes = rec.len};
	struct source *from;

	(void)state;
	assert_int_equal(reader_new(&from, &ro, NULL), 0);
	assert_int_equal(writer_shrink(from, w, to, NULL), 0);
	struct recording small = recording_of(to);
	int events = first_of(&small, RECORD_PERF, 0, &n);
	assert_true(first_of(&small, RECORD_SNAPSHOT, SNAPSHOT_FUNCS, &n) < events);
	assert_int_equal(n, 1);
	assert_true(first_of(&small, RECORD_SNAPSHOT, SNAPSHOT_BUILD_IDS, &n) < events);
	assert_int_equal(n, 1);
	check_pmus(&small);
	writer_free(w);
	source_free(from);
	close(fd);
	close(to);
	recording_free(&small);
	recording_free(&rec);
	synth_free(s);
}

#define ASKED(test) cmocka_unit_test_setup_teardown(test, asked_setup_empty, asked_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		ASKED(names_and_code_are_taken),
		ASKED(only_what_is_new_is_taken),
		ASKED(what_was_told_in_parts_is_one),
		ASKED(another_machine_has_them),
		ASKED(damaged_or_of_others_they_are_none),
		ASKED(a_file_of_another_build_id_is_refused),
		ASKED(mappings_say_build_ids),
		ASKED(functions_without_names_never_merge),
		ASKED(memory_runs_out),
		cmocka_unit_test(names_at_the_end_come_first),
		cmocka_unit_test(a_wrong_end_does_no_harm),
		cmocka_unit_test(shrinking_keeps_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
