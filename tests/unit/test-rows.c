// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of a stream: whatever their length, their content adds up to the whole, each ends where
 * it should, and a gap is one slice. And the columns of rows if a recording does not name its
 * machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/mem.h"
#include "kontend/memfile.h"
#include "kontend/model-cpu.h"
#include "kontend/query-machine.h"
#include "kontend/rows.h"

#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS

/* Results of slices: where they ended, and the sums of all. */
struct cut {
	struct engine_slices slices;
	struct engine *engine;
	uint64_t every_ns, n, waits, total_ns, last_ns;
};

static void take_sums(struct cut *c)
{
	const struct model *m = c->engine->model;

	for (size_t i = 0; i < LOCK_TYPES; i++) {
		c->waits += m->types[i].contended;
		c->total_ns += m->types[i].total_ns;
	}
	c->n++;
}

static uint64_t first(struct engine_slices *s, uint64_t begin_ns)
{
	struct cut *c = (struct cut *)s;

	return begin_ns + c->every_ns;
}

static int close_slice(struct engine_slices *s, uint64_t time_ns, struct error *err)
{
	struct cut *c = (struct cut *)s;
	const struct model *m = c->engine->model;

	(void)err;
	assert_int_equal(m->now_ns, s->next_ns);
	assert_true(time_ns > s->next_ns);
	assert_true(m->zero_ns >= c->last_ns);
	c->last_ns = s->next_ns;
	take_sums(c);
	s->next_ns += c->every_ns;
	return 0;
}

static struct cut play_cut(uint64_t every_ns)
{
	struct cut c = {.slices = {.close = close_slice, .first = first}, .every_ns = every_ns};
	struct error err = {0};
	struct engine e;
	struct rig rig;

	canned_init(&rig);
	assert_int_equal(engine_init(&e, synth_source(rig.synth), NULL, &err), 0);
	c.engine = &e;
	e.slices = every_ns ? &c.slices : NULL;
	for (int r = 0; r != ENGINE_END;) {
		r = engine_pump(&e, 0, &err);
		assert_true(r >= 0);
	}
	take_sums(&c);
	engine_deinit(&e);
	rig_deinit(&rig);
	return c;
}

static void slices_add_up_to_the_whole(void **state)
{
	static const uint64_t every[] = {7 * MS, 100 * MS, 333 * MS, 100000 * MS};
	const struct cut whole = play_cut(0);

	(void)state;
	assert_true(whole.waits > 10);
	for (size_t i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
		struct cut c = play_cut(every[i]);

		assert_int_equal(c.waits, whole.waits);
		assert_int_equal(c.total_ns, whole.total_ns);
		assert_true(i == 3 ? c.n == 1 : c.n > 1);
	}
}

static char *rows_of(struct asked *w, unsigned tables)
{
	const struct rows_spec s = {.version = "1.2.3", .tables = tables};
	struct memfile m = {0};
	FILE *f = memfile_open(&m);
	struct error err = {0};

	assert_non_null(f);
	query_begin(&w->q);
	assert_int_equal(rows_write(&w->q, &s, f, &err), 0);
	assert_int_equal(fclose(f), 0);
	return m.text;
}

static void what_is_not_known_has_a_reason(void **state)
{
	struct asked *w = *state;
	struct error err = {0};
	unsigned parts;

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	assert_int_equal(rows_parse("parts", &parts, &err), 0);
	char *text = rows_of(w, parts);
	assert_non_null(strstr(text, "\"table\":\"parts\",\"host\":null,\"machine_id\":null,"));
	assert_non_null(
		strstr(text, "\"unknown\":{\"host\":\"the recording does not contain it\""));
	assert_int_equal(strchr(text, '\n') - text, (ptrdiff_t)strlen(text) - 1);
	mem_free(text);
}

/* A file may leave its texts open. */
static void a_machine_is_what_the_recording_says(void **state)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} body = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION}};
	struct asked *w = *state;

	memset(&body.machine, 'x', sizeof(body.machine));
	rig_init(&w->rig, 1);
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &body, sizeof(body));
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	struct record_machine m = query_machine(&w->q);
	assert_int_equal(strlen(m.host), sizeof(m.host) - 1);
	assert_int_equal(strlen(m.id), sizeof(m.id) - 1);
	assert_int_equal(strlen(m.boot), sizeof(m.boot) - 1);
	assert_int_equal(strlen(m.kontend), sizeof(m.kontend) - 1);
	assert_int_equal(strlen(m.refused), sizeof(m.refused) - 1);
}

/* Recordings of 1.0.0 do not have the last texts. */
static void a_machine_of_1_0_0_is_known(void **state)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} body = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION},
		  .machine = {.host = "web-1", .kontend = "1.0.0", .refused = "more"}};
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_record(w->rig.synth, RECORD_SNAPSHOT, 0, &body,
		     sizeof(body.head) + RECORD_MACHINE_LEAST);
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	struct record_machine m = query_machine(&w->q);
	assert_int_equal(RECORD_MACHINE_LEAST, 176);
	assert_string_equal(m.host, "web-1");
	assert_string_equal(m.kontend, "1.0.0");
	assert_string_equal(m.refused, "");
}

static void tables_have_names(void **state)
{
	struct error err = {0};
	unsigned one, all;

	(void)state;
	assert_int_equal(rows_parse("locks", &one, &err), 0);
	assert_int_equal(rows_parse("mmap,locks,parts", &all, &err), 0);
	assert_true((all & one) == one && all != one);
	assert_true(rows_parse("", &all, &err) < 0);
	assert_true(rows_parse("locks,", &all, &err) < 0);
	assert_true(rows_parse("lock", &all, &err) < 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_add_up_to_the_whole), T(what_is_not_known_has_a_reason),
		T(a_machine_is_what_the_recording_says),      T(a_machine_of_1_0_0_is_known),
		cmocka_unit_test(tables_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
