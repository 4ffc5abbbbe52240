// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles: the output is unpacked by zlib and read by libprotobuf-c, adds up to the report, and
 * has the tables of the golden file. Names are hostile, values many, memory short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/pprof.h"
#include "kontend/query-overview.h"
#include "profile.pb-c.h"
#include "synth-profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { UNPACKED = 1 << 22, GZIP = 16 + MAX_WBITS };

typedef Perftools__Profiles__Profile profile;
typedef Perftools__Profiles__Sample sample;
typedef Perftools__Profiles__Location location;

static profile *unpack(const char *packed, size_t len)
{
	uint8_t *bytes = malloc(UNPACKED);
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)packed,
		      .avail_in = (uInt)len,
		      .next_out = bytes,
		      .avail_out = UNPACKED};

	assert_non_null(bytes);
	assert_int_equal(inflateInit2(&z, GZIP), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	profile *p = perftools__profiles__profile__unpack(NULL, z.total_out, bytes);
	inflateEnd(&z);
	free(bytes);
	assert_non_null(p);
	return p;
}

static struct pprof *begin(enum query_samples_what what)
{
	const struct pprof_spec spec = {.what = what, .version = "1.2.3"};
	struct pprof *p;
	struct error err = {0};

	if (pprof_new(&p, &spec, &err) < 0)
		fail_msg("pprof_new: %s", err.text);
	return p;
}

static void add_query(struct pprof *p, struct query *q)
{
	struct error err = {0};

	query_begin(q);
	if (pprof_add(p, q, &err) < 0)
		fail_msg("pprof_add: %s", err.text);
}

/* The profile as read back; the written one is freed. */
static profile *finish(struct pprof *p)
{
	struct error err = {0};
	char *packed = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&packed, &len);

	assert_non_null(f);
	if (pprof_write(p, f, &err) < 0)
		fail_msg("pprof_write: %s", err.text);
	fclose(f);
	pprof_free(p);
	profile *ret = unpack(packed, len);
	free(packed);
	return ret;
}

static profile *profile_of(struct query *q, enum query_samples_what what)
{
	struct pprof *p = begin(what);

	add_query(p, q);
	return finish(p);
}

static void forget(profile *p)
{
	perftools__profiles__profile__free_unpacked(p, NULL);
}

static int64_t sum(const profile *p, unsigned value)
{
	int64_t ret = 0;

	for (size_t i = 0; i < p->n_sample; i++)
		ret += p->sample[i]->value[value];
	return ret;
}

static const char *text(const profile *p, int64_t at)
{
	assert_in_range(at, 0, p->n_string_table - 1);
	return p->string_table[at];
}

/* Every number is one of a thing that is there. */
static void check_numbers(const profile *p)
{
	assert_string_equal(text(p, 0), "");
	for (size_t i = 0; i < p->n_function; i++)
		assert_int_equal(p->function[i]->id, i + 1);
	for (size_t i = 0; i < p->n_location; i++) {
		const location *l = p->location[i];
		assert_int_equal(l->id, i + 1);
		assert_in_range(l->mapping_id, 0, p->n_mapping);
		for (size_t k = 0; k < l->n_line; k++)
			assert_in_range(l->line[k]->function_id, 1, p->n_function);
	}
	for (size_t i = 0; i < p->n_sample; i++) {
		const sample *s = p->sample[i];
		assert_int_equal(s->n_value, p->n_sample_type);
		for (size_t k = 0; k < s->n_location_id; k++)
			assert_in_range(s->location_id[k], 1, p->n_location);
	}
}

static void put_location(FILE *f, const profile *p, const location *l)
{
	const char *file = l->mapping_id ? text(p, p->mapping[l->mapping_id - 1]->filename) : "-";

	fprintf(f, "    %s", file);
	if (l->address)
		fprintf(f, "+0x%" PRIx64, l->address);
	for (size_t i = 0; i < l->n_line; i++)
		fprintf(f, " %s", text(p, p->function[l->line[i]->function_id - 1]->name));
	fputc('\n', f);
}

static void put_sample(FILE *f, const profile *p, const sample *s)
{
	for (size_t i = 0; i < s->n_value; i++)
		fprintf(f, "%s%" PRId64, i ? " " : "", s->value[i]);
	for (size_t i = 0; i < s->n_label; i++) {
		fprintf(f, " %s=", text(p, s->label[i]->key));
		if (s->label[i]->str)
			fprintf(f, "\"%s\"", text(p, s->label[i]->str));
		else
			fprintf(f, "%" PRId64, s->label[i]->num);
	}
	fputc('\n', f);
	for (size_t i = 0; i < s->n_location_id; i++)
		put_location(f, p, p->location[s->location_id[i] - 1]);
}

/* As a text; free() it. */
static char *dump(const profile *p)
{
	char *ret = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&ret, &len);

	assert_non_null(f);
	for (size_t i = 0; i < p->n_sample_type; i++)
		fprintf(f, "%s/%s ", text(p, p->sample_type[i]->type),
			text(p, p->sample_type[i]->unit));
	fprintf(f, "of %" PRId64 " ns at %" PRId64 ", shown %s, every %" PRId64 " %s/%s\n",
		p->duration_nanos, p->time_nanos, text(p, p->default_sample_type), p->period,
		text(p, p->period_type->type), text(p, p->period_type->unit));
	for (size_t i = 0; i < p->n_comment; i++)
		fprintf(f, "# %s\n", text(p, p->comment[i]));
	for (size_t i = 0; i < p->n_mapping; i++)
		fprintf(f, "%s %s%s\n", text(p, p->mapping[i]->filename),
			text(p, p->mapping[i]->build_id),
			p->mapping[i]->has_line_numbers ? " lines" : "");
	for (size_t i = 0; i < p->n_sample; i++)
		put_sample(f, p, p->sample[i]);
	fclose(f);
	return ret;
}

static void waits_add_up_to_the_report(void **state)
{
	struct asked *w = *state;
	struct query_overview o;
	profile *p = profile_of(&w->q, SAMPLES_WAITS);
	char *all = dump(p);

	check_numbers(p);
	golden_check(all, "export-pprof");
	free(all);
	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_true(o.total_ns > 0 && o.contended > 0);
	assert_int_equal(sum(p, 0), o.contended);
	assert_int_equal(sum(p, 1), o.total_ns);
	forget(p);
}

/* Without those for the spinlock. */
static void sleeps_are_of_locks_that_sleep(void **state)
{
	struct asked *w = *state;
	const struct model *m = w->q.model;
	profile *p = profile_of(&w->q, SAMPLES_SLEEPS);

	assert_true(m->types[LOCK_SPINLOCK].total_ns > 0);
	forget(p);
	p = profile_of(&w->q, SAMPLES_WAITS);
	int64_t all = sum(p, 1);
	forget(p);
	p = profile_of(&w->q, SAMPLES_SLEEPS);
	assert_int_equal(all - sum(p, 1), m->types[LOCK_SPINLOCK].total_ns);
	forget(p);
}

/* An entry that is added twice is there once, and counts twice. */
static void what_comes_again_is_added_up(void **state)
{
	struct asked *w = *state;
	profile *once = profile_of(&w->q, SAMPLES_WAITS), *twice;
	struct pprof *p = begin(SAMPLES_WAITS);

	add_query(p, &w->q);
	add_query(p, &w->q);
	twice = finish(p);
	assert_int_equal(twice->n_sample, once->n_sample);
	assert_int_equal(twice->n_location, once->n_location);
	assert_int_equal(twice->n_string_table, once->n_string_table);
	assert_int_equal(sum(twice, 1), 2 * sum(once, 1));
	assert_int_equal(twice->duration_nanos, 2 * once->duration_nanos);
	forget(once);
	forget(twice);
}

/* Quotes are harmless in this format; what is no text, or would break a line, is not in it. */
static void names_from_outside_are_text(void **state)
{
	struct asked *w = *state;
	uint64_t place = 0xffffffff81001010;

	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, "ffffffff81001000 t a;\"b\"\x1b\n");
	synth_comm(w->rig.synth, 0, 0, 7, 7, "a\"b\n\xff\xc3\xa4'");
	synth_begin(w->rig.synth, 0, CANNED_START, 7, 7, 4096, LCB_F_MUTEX, &place, 1);
	synth_end(w->rig.synth, 0, CANNED_START + 30, 7, 7, 4096, 0);
	synth_begin(w->rig.synth, 0, CANNED_START + 50, 8, 8, 8192, LCB_F_MUTEX, NULL, 0);
	synth_end(w->rig.synth, 0, CANNED_START + 55, 8, 8, 8192, 0);
	synth_round(w->rig.synth, CANNED_START + 400);
	asked_play(w, NULL);
	profile *p = profile_of(&w->q, SAMPLES_WAITS);
	char *all = dump(p);
	const char *samples = strstr(all, "\n1 30");
	assert_non_null(samples);
	assert_string_equal(
		samples + 1,
		"1 30 type=\"mutex\" lock=\"(a;\"b\"?)\" comm=\"a\"b??\xc3\xa4'\" pid=7\n"
		"    [kernel.kallsyms] a;\"b\"?\n"
		"1 5 type=\"mutex\" lock=\"(no call chain)\" pid=8\n"
		"    - [no call chain]\n");
	free(all);
	forget(p);
}

static size_t count_values(const profile *p, const char *key, const char *value)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_sample; i++)
		for (size_t k = 0; k < p->sample[i]->n_label; k++)
			n += !strcmp(text(p, p->sample[i]->label[k]->key), key) &&
			     !strcmp(text(p, p->sample[i]->label[k]->str), value);
	return n;
}

static void begin_stream(struct asked *w)
{
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, synth_kallsyms);
}

/* The first ones by time have their names. */
static void many_values_are_other(void **state)
{
	enum { TASKS = PPROF_VALUES + 40 };
	struct asked *w = *state;
	uint64_t place = synth_addr(SYNTH_PIPE_READ), t = CANNED_START;
	char comm[16];

	begin_stream(w);
	for (int i = 1; i <= TASKS; i++) {
		snprintf(comm, sizeof(comm), "task-%d", i);
		synth_comm(w->rig.synth, 0, t, i, i, comm);
		synth_begin(w->rig.synth, 0, t, i, i, 4096, LCB_F_MUTEX, &place, 1);
		synth_end(w->rig.synth, 0, t + 1000 + (uint64_t)i, i, i, 4096, 0);
		t += 2000;
	}
	synth_round(w->rig.synth, t);
	asked_play(w, NULL);
	profile *p = profile_of(&w->q, SAMPLES_WAITS);
	assert_int_equal(sum(p, 0), TASKS);
	assert_int_equal(sum(p, 1), 1000 * TASKS + TASKS * (TASKS + 1) / 2);
	assert_int_equal(p->n_sample, PPROF_VALUES + 1);
	assert_int_equal(count_values(p, "comm", "other"), 1);
	snprintf(comm, sizeof(comm), "task-%d", TASKS);
	assert_int_equal(count_values(p, "comm", comm), 1);
	assert_int_equal(count_values(p, "comm", "task-40"), 0);
	forget(p);
}

enum { CALLERS = 200, WAITERS = PPROF_VALUES };

static void begin_callers(struct asked *w)
{
	char *symbols = NULL;
	size_t len;
	FILE *f = open_memstream(&symbols, &len);

	assert_non_null(f);
	for (unsigned i = 0; i < CALLERS; i++)
		fprintf(f, "%016llx t caller_%03u\n", 0xffffffff82000000ull + i * 256ull, i);
	fclose(f);
	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, symbols);
	free(symbols);
}

/* Stacks without room of their own are one sample of their type, and sums stay exact. */
static void many_samples_are_other(void **state)
{
	const struct pprof_spec live = {.what = SAMPLES_WAITS, .live = true};
	struct asked *w = *state;
	uint64_t t = CANNED_START;
	struct pprof *p;

	begin_callers(w);
	for (int i = 0; i < CALLERS * WAITERS; i++) {
		uint64_t place = 0xffffffff82000010ull + (uint64_t)(i % CALLERS) * 256;
		int task = 1 + i / CALLERS;
		synth_begin(w->rig.synth, 0, t, task, task, 4096, LCB_F_MUTEX, &place, 1);
		synth_end(w->rig.synth, 0, t + 1000, task, task, 4096, 0);
		t += 2000;
	}
	synth_round(w->rig.synth, t);
	asked_play(w, NULL);
	assert_int_equal(pprof_new(&p, &live, NULL), 0);
	add_query(p, &w->q);
	profile *few = finish(p), *all = profile_of(&w->q, SAMPLES_WAITS);
	check_numbers(few);
	assert_int_equal(few->n_sample, PPROF_LIVE_SAMPLES + 1);
	assert_int_equal(all->n_sample, CALLERS * WAITERS);
	assert_int_equal(sum(few, 0), CALLERS * WAITERS);
	assert_int_equal(sum(few, 1), sum(all, 1));
	forget(few);
	forget(all);
}

/* Program frames are offsets in files, to be named by tools; kernel frames have names. */
static void samples_are_of_cpu_time(void **state)
{
	const uint64_t kernel = synth_addr(SYNTH_PIPE_READ), user[] = {0x401020, 0x402030};
	const struct synth_chain chain = {&kernel, user, 1, 2, 0};
	const uint8_t id[20] = {0xab, 0xcd};
	struct asked *w = *state;

	begin_stream(w);
	synth_profile(w->rig.synth);
	synth_comm(w->rig.synth, 0, CANNED_START, 9, 9, "busy");
	synth_mmap_id(w->rig.synth, 0, CANNED_START, 9, 0x400000, 0x10000, "/no/busy", id);
	for (unsigned i = 0; i < 3; i++)
		synth_sample(w->rig.synth, 0, CANNED_START + i, 9, 9, 2000000, chain);
	synth_round(w->rig.synth, CANNED_START + 400);
	asked_play(w, NULL);
	profile *p = profile_of(&w->q, SAMPLES_CPU);
	char *all = dump(p);
	check_numbers(p);
	assert_non_null(strstr(all, "samples/count cpu/nanoseconds of"));
	assert_non_null(strstr(all, "/no/busy abcd000000000000000000000000000000000000\n"
				    "3 6000000 comm=\"busy\" pid=9\n"
				    "    [kernel.kallsyms] pipe_read\n"
				    "    /no/busy+0x1020\n"
				    "    /no/busy+0x2030\n"));
	free(all);
	forget(p);
}

static void nothing_is_a_profile_too(void **state)
{
	struct asked *w = *state;

	begin_stream(w);
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	profile *p = profile_of(&w->q, SAMPLES_WAITS);
	assert_int_equal(p->n_sample, 0);
	assert_int_equal(p->n_sample_type, 2);
	forget(p);
}

static int try(struct asked *w, FILE *out)
{
	const struct pprof_spec spec = {.what = SAMPLES_WAITS};
	struct pprof *p = NULL;
	int r = pprof_new(&p, &spec, NULL);

	r = r < 0 ? r : pprof_add(p, &w->q, NULL);
	r = r < 0 ? r : pprof_write(p, out, NULL);
	pprof_free(p);
	return r;
}

static void failures_are_said(void **state)
{
	struct asked *w = *state;
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
	long n;

	assert_non_null(full);
	assert_non_null(null);
	query_begin(&w->q);
	assert_int_equal(try(w, full), -ENOSPC);
	fclose(full);
	for (n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = try(w, null);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 20);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits_add_up_to_the_report, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(sleeps_are_of_locks_that_sleep, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(what_comes_again_is_added_up, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(names_from_outside_are_text, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(many_values_are_other, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(many_samples_are_other, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(samples_are_of_cpu_time, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(nothing_is_a_profile_too, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(failures_are_said, asked_setup, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
