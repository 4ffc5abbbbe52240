// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings added up by name: things that are the same on two machines with other numbers and
 * addresses; that sums, parts and histograms are those of all waits; and rows without room.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "fleet/internal.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "lock-snaps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
enum { T0 = 1000000000 };
#define MMAP_LOCK 0xffff888100001000ull
#define FILE_LOCK 0xffff888100002000ull

/* A machine with other numbers than the next one. */
struct machine {
	struct rig rig;
	struct query q;
};

static void put_machine(struct synth *s, unsigned number)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} body = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION}};

	snprintf(body.machine.host, sizeof(body.machine.host), "twin");
	snprintf(body.machine.id, sizeof(body.machine.id), "%08xabcd", number);
	synth_record(s, RECORD_SNAPSHOT, 0, &body, sizeof(body));
}

static void wait_for(struct machine *m, uint64_t at, uint64_t ns, uint64_t lock, int tid)
{
	uint64_t frames[] = {synth_addr(SYNTH_DOWN_WRITE_KILLABLE),
			     synth_addr(SYNTH_VM_MMAP_PGOFF)};

	synth_begin(m->rig.synth, 0, at, tid, tid, lock, LCB_F_WRITE, frames, 2);
	synth_end(m->rig.synth, 0, at + ns, tid, tid, lock, 0);
}

static void make_machine(struct machine *m, unsigned number, const uint64_t *waits_ns, size_t n)
{
	int pid = 100 * (int)number;
	uint64_t shift = number * 0x10000ull, t = T0;
	struct locksnap snap = {0};

	rig_init(&m->rig, 2);
	put_machine(m->rig.synth, number);
	synth_comm(m->rig.synth, 0, 0, pid, pid, "mysqld");
	synth_round(m->rig.synth, t);
	lock_snap_name(&snap, MMAP_LOCK + shift, LOCKSNAP_MMAP, -1, pid, "mysqld", "", 0);
	lock_snap_name(&snap, FILE_LOCK + shift, LOCKSNAP_INODE, -1, 0, "", "/data/x", 0);
	lock_snap_emit(m->rig.synth, &snap, t);
	for (size_t i = 0; i < n; i++) {
		t += 1000 * MS;
		wait_for(m, t, waits_ns[i], (i % 2 ? FILE_LOCK : MMAP_LOCK) + shift, pid);
	}
	synth_tick(m->rig.synth, t + 900 * MS);
	synth_round(m->rig.synth, t + 999 * MS);
	rig_play(&m->rig, NULL);
	assert_int_equal(query_init(&m->q, &m->rig.engine), 0);
	query_begin(&m->q);
}

static void end_machine(struct machine *m)
{
	query_deinit(&m->q);
	rig_deinit(&m->rig);
}

static const uint64_t first[] = {3 * MS, 5000, 90 * MS, 7000, 1 * MS};
static const uint64_t second[] = {4 * MS, 6000, 200 * MS};
enum { N_FIRST = sizeof(first) / sizeof(*first), N_SECOND = sizeof(second) / sizeof(*second) };

struct both {
	struct machine one, two;
	struct arena arena;
};

static int setup(void **state)
{
	struct both *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	make_machine(&b->one, 1, first, N_FIRST);
	make_machine(&b->two, 2, second, N_SECOND);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct both *b = *state;

	end_machine(&b->one);
	end_machine(&b->two);
	arena_deinit(&b->arena);
	free(b);
	return 0;
}

static struct fleet *take_both(struct both *b, enum fleet_by by)
{
	struct fleet *m = fleet_new(by, 0);
	struct error err = {0};

	assert_non_null(m);
	if (fleet_take(m, &b->one.q, &err) < 0 || fleet_take(m, &b->two.q, &err) < 0)
		fail_msg("%s", err.text);
	return m;
}

static struct table query_table(struct both *b, const struct fleet *m, enum fleet_at at)
{
	struct table t;
	size_t fixed;

	assert_int_equal(fleet_table(m, at, 0, &b->arena, &t, &fixed), 0);
	return t;
}

static const struct value *at(const struct table *t, size_t row, const char *key)
{
	size_t col = table_column(t, key);

	if (col == SIZE_MAX || row >= t->n_rows)
		fail_msg("no column %s or no row %zu", key, row);
	return table_value(t, row, col);
}

static size_t row_of(const struct table *t, const char *key, const char *name)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (at(t, i, key)->known && !strcmp(at(t, i, key)->s, name))
			return i;
	fail_msg("no row %s", name);
	return 0;
}

static void locks_go_by_names_without_numbers(void **state)
{
	struct both *b = *state;
	struct fleet *m = take_both(b, FLEET_BY_HOST);
	struct table t = query_table(b, m, FLEET_LOCKS);

	assert_int_equal(t.n_rows, 2);
	size_t mmap = row_of(&t, "name", "mmap_lock mysqld"),
	       file = row_of(&t, "name", "i_rwsem /data/x");
	assert_int_equal(at(&t, mmap, "contended")->u, 5);
	assert_int_equal(at(&t, mmap, "total_ns")->u, 298 * MS);
	assert_int_equal(at(&t, mmap, "max_ns")->u, 200 * MS);
	assert_int_equal(at(&t, mmap, "min_ns")->u, 1 * MS);
	assert_int_equal(at(&t, file, "total_ns")->u, 18000);
	/* One name, two machines. */
	assert_int_equal(at(&t, mmap, "twin (00000001)")->u, 94 * MS);
	assert_int_equal(at(&t, mmap, "twin (00000002)")->u, 204 * MS);
	assert_false(at(&t, mmap, "(others)")->known);
	fleet_free(m);
}

static void histograms_are_those_of_all_waits(void **state)
{
	struct both *b = *state;
	struct fleet *m = take_both(b, FLEET_BY_KERNEL);
	struct table t = query_table(b, m, FLEET_TYPES);
	struct hist want = {0};
	const struct value *from = at(&t, 0, "hist_from_ns"), *n = at(&t, 0, "hist_n");

	for (size_t i = 0; i < N_FIRST; i++, want.n++)
		want.count[hist_bucket(first[i])]++;
	for (size_t i = 0; i < N_SECOND; i++, want.n++)
		want.count[hist_bucket(second[i])]++;
	uint64_t p99 = hist_percentile(&want, 99, 5000, 200 * MS);
	for (uint32_t i = 0; i < n->n; i++) {
		uint64_t *count = &want.count[hist_bucket(from->series[i])];

		assert_int_equal(*count, n->series[i]);
		*count = 0;
	}
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		assert_int_equal(want.count[i], 0);
	assert_int_equal(at(&t, 0, "p99_ns")->u, p99);
	t = query_table(b, m, FLEET_GROUPS);
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(at(&t, 0, "recordings")->u, 2);
	assert_int_equal(at(&t, 0, "contended")->u, N_FIRST + N_SECOND);
	assert_int_equal(fleet_sum(m)->machines, 2);
	fleet_free(m);
}

/* A row without room loses its name and nothing else. */
static void what_has_no_room_is_other(void **state)
{
	struct both *b = *state;
	struct fleet *m = fleet_new(FLEET_BY_HOST, 0);
	const struct fleet_values v = {.v = {7}, .known = 1};
	const char *texts[FLEET_KEYS] = {NULL};
	char name[32];

	assert_non_null(m);
	texts[0] = name;
	for (unsigned i = 0; i < FLEET_ROWS + 10; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		fleet_add_part(m, FLEET_TASKS, fleet_key(m, texts), 0, &v, NULL);
	}
	struct table t = query_table(b, m, FLEET_TASKS);
	assert_int_equal(t.n_rows, FLEET_ROWS);
	/* One of the rows is "(other)" from the beginning. */
	assert_int_equal(at(&t, row_of(&t, "comm", "(other)"), "total_ns")->u, 11 * 7);
	assert_int_equal(fleet_sum(m)->rows_folded, 11);
	fleet_free(m);
}

static void services_are_units(void **state)
{
	static const struct {
		const char *path, *want;
	} all[] = {
		{"/system.slice/nginx.service", "nginx.service"},
		{"/system.slice/nginx.service/worker", "nginx.service"},
		{"/user.slice/user-0.slice/user@0.service/app.slice/x.service", "user@0.service"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
		{"/init.scope", "init.scope"},
		{"/user.slice", "user.slice"},
		{"/kubepods/besteffort/pod1", "/kubepods/besteffort/pod1"},
		{"/", "/"},
		{"", ""},
	};
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_string_equal(fleet_service(all[i].path, buf, sizeof(buf)), all[i].want);
}

static void tables_have_names(void **state)
{
	struct error err = {0};
	unsigned tables = 0;

	(void)state;
	assert_int_equal(fleet_tables_parse("hot,locks", &tables, &err), 0);
	assert_int_equal(tables, 1u << FLEET_HOT | 1u << FLEET_LOCKS);
	assert_true(fleet_tables_parse("locks,", &tables, &err) < 0);
	assert_true(fleet_tables_parse("lock", &tables, &err) < 0);
}

static int take_one(struct both *b)
{
	struct arena arena = {0};
	struct table t;
	size_t fixed;
	struct fleet *m = fleet_new(FLEET_BY_HOST, 1u << FLEET_LOCKS | 1u << FLEET_TASKS);
	int r = m ? fleet_take(m, &b->one.q, NULL) : -ENOMEM;

	r = r < 0 ? r : fleet_table(m, FLEET_LOCKS, 0, &arena, &t, &fixed);
	r = r < 0 ? r : fleet_compare(m, m, FLEET_LOCKS, 0, &arena, &t);
	fleet_free(m);
	arena_deinit(&arena);
	return r;
}

static void memory_may_run_out_at_any_point(void **state)
{
	struct both *b = *state;
	long n;

	for (n = 0;; n++) {
		query_begin(&b->one.q);
		mem_fail_after(n);
		int r = take_one(b);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
		query_deinit(&b->one.q);
		assert_int_equal(query_init(&b->one.q, &b->one.rig.engine), 0);
	}
	assert_true(n > 10);
}

static double figure(const struct table *t, size_t row, const char *key)
{
	const struct value *v = table_value(t, row, table_column(t, key));

	if (!v->known)
		fail_msg("%s of row %zu is not known", key, row);
	return v->d;
}

static struct fleet *of_recordings(struct query *const *qs, size_t n)
{
	struct fleet *m = fleet_new(FLEET_BY_RECORDING, 0);

	assert_non_null(m);
	for (size_t i = 0; i < n; i++) {
		query_begin(qs[i]);
		assert_int_equal(fleet_take(m, qs[i], NULL), 0);
	}
	return m;
}

/* Of one machine before and the other one after; and of four and four, of which each is as apart.
 */
static void groups_are_compared(void **state)
{
	struct both *b = *state;
	struct query *const one[] = {&b->one.q, &b->one.q, &b->one.q, &b->one.q};
	struct query *const two[] = {&b->two.q, &b->two.q, &b->two.q, &b->two.q};

	for (size_t n = 1; n <= 4; n += 3) {
		struct fleet *before = of_recordings(one, n), *after = of_recordings(two, n);
		struct table t;
		double sum[2] = {0};
		assert_int_equal(fleet_compare(before, after, FLEET_LOCKS, 0, &b->arena, &t), 0);
		assert_true(t.n_rows > 1 && t.n_rows == t.n_total);
		for (size_t i = 0; i < t.n_rows; i++) {
			double a = figure(&t, i, "a"), z = figure(&t, i, "b");
			sum[0] += a;
			sum[1] += z;
			assert_true(figure(&t, i, "delta") == z - a);
			assert_true(i == 0 || fabs(figure(&t, i, "delta")) <=
						      fabs(figure(&t, i - 1, "delta")));
			assert_true(figure(&t, i, "a_most") >= a * 0.999999);
			const char *change = table_value(&t, i, table_column(&t, "change"))->s;
			assert_string_equal(change, n == 1 ? "few" : z > a ? "more" : "less");
		}
		const struct fleet_sum *s = fleet_sum(before);
		assert_true(fabs(sum[0] / ((double)s->total_ns * 1e9 / (double)s->measured_ns) -
				 1) < 1e-9);
		s = fleet_sum(after);
		assert_true(fabs(sum[1] / ((double)s->total_ns * 1e9 / (double)s->measured_ns) -
				 1) < 1e-9);
		fleet_free(before);
		fleet_free(after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locks_go_by_names_without_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(histograms_are_those_of_all_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(what_has_no_room_is_other, setup, teardown),
		cmocka_unit_test(services_are_units),
		cmocka_unit_test(tables_have_names),
		cmocka_unit_test_setup_teardown(groups_are_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_may_run_out_at_any_point, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
