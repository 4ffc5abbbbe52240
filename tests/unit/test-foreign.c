// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that perf made on another architecture: contended counts and totals by type are those
 * that perf finds in them on this one. See tests/golden/arm64.md for the origin of the files and
 * the figures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/locktype.h"
#include "kontend/model-cpu.h"
#include "kontend/reader.h"
#include "kontend/stack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expected {
	const char *file;
	uint64_t events;
	struct {
		enum lock_type type;
		uint64_t contended, total_ns;
	} types[2];
};

static const struct expected files[] = {
	{"arm64-lock-record.data",
	 152,
	 {{LOCK_RWSEM_R, 48, 72254176}, {LOCK_RWSEM_W, 28, 38399824}}},
	{"arm64-stream-zstd.data",
	 110,
	 {{LOCK_RWSEM_R, 36, 89887248}, {LOCK_RWSEM_W, 19, 56512432}}},
};

static void read_all(struct engine *e, const char *file, struct error *err)
{
	struct reader_options o = {0};
	struct source *s;
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/%s", getenv("GOLDEN_DIR"), file);
	o.path = path;
	assert_int_equal(reader_new(&s, &o, err), 0);
	assert_int_equal(engine_init(e, s, NULL, err), 0);
	do
		r = engine_pump(e, 0, err);
	while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, ENGINE_END);
}

static void check_types(const struct model *m, const struct expected *want)
{
	uint64_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(m->types[want->types[i].type].contended, want->types[i].contended);
		assert_int_equal(m->types[want->types[i].type].total_ns, want->types[i].total_ns);
		n += want->types[i].contended;
	}
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		n -= m->types[i].contended;
	assert_int_equal(n, 0);
}

/* A chain of this machine's kernel would be as wrong as none. */
static void check_stacks(const struct model *m)
{
	unsigned deep = 0;

	for (uint32_t i = 0; i < m->stacks->n; i++)
		deep += m->stacks->stacks[i].n >= 4;
	assert_true(deep > 1);
}

static void test_figures_are_those_of_perf(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct error err = {0};
		struct engine e;

		read_all(&e, files[i].file, &err);
		assert_int_equal(e.model->n_events, files[i].events);
		check_types(e.model, &files[i]);
		check_stacks(e.model);
		assert_int_equal(e.model->damage->unmatched_begin + e.model->damage->unmatched_end,
				 0);
		assert_int_equal(e.model->damage->lost + e.model->damage->bad, 0);
		engine_deinit(&e);
	}
}

/* Kernel symbols of this machine are not taken for those of another one. */
static void test_no_names_of_this_machine(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct error err = {0};
		struct engine e;

		read_all(&e, files[i].file, &err);
		assert_int_equal(e.sym.n, 0);
		assert_int_equal(e.notes.n, 1);
		assert_non_null(strstr(e.notes.items[0].text, "6.1.0-56-cloud-arm64 (aarch64)"));
		engine_deinit(&e);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures_are_those_of_perf),
		cmocka_unit_test(test_no_names_of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
