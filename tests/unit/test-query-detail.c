// SPDX-License-Identifier: GPL-2.0-only
/*
 * The details of a row (trees, histograms, series, titles), the identity of rows over time and
 * folding, and every query with every allocation failing once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/query-hist.h"
#include "kontend/query-overview.h"
#include "kontend/query-tree.h"
#include "kontend/query.h"

#include <errno.h>
#include <string.h>

static void drill_down_by_the_ids_of_waiters(void **state)
{
	struct asked *w = *state;
	struct table all = asked_waiters(w, (struct query_spec){0}), t;
	struct query_spec spec = {.by = BY_TASK, .scope.mask = 1 << BY_LOCK};

	assert_int_equal(all.n_rows, 2);
	spec.scope.id[BY_LOCK] = cell_u(&all, 0, "lock_id");
	t = asked_locks(w, spec);
	assert_int_equal(t.n_rows, 2); /* both writers of the mmap_lock, no reader */
	assert_true(table_row(&t, cell_u(&all, 0, "task_id")) != SIZE_MAX);
	assert_int_equal(column_sum(&t, "contended"), 30);
	spec.scope.mask |= 1 << BY_CALLER;
	spec.scope.id[BY_CALLER] = cell_u(&all, 0, "caller_id");
	t = asked_locks(w, spec);
	assert_int_equal(column_sum(&t, "contended"), 18);
	t = asked_waiters(w, (struct query_spec){.scope = spec.scope});
	assert_int_equal(t.n_rows, 1);
	assert_int_equal(t.ids[0], all.ids[0]);
	assert_string_equal(query_title(&w->q, BY_LOCK, spec.scope.id[BY_LOCK]),
			    "rwsem:W vm_mmap_pgoff …345678");
	assert_string_equal(query_title(&w->q, BY_CALLER, spec.scope.id[BY_CALLER]),
			    "rwsem:W vm_mmap_pgoff");
	assert_string_equal(query_title(&w->q, BY_TASK, cell_u(&all, 0, "task_id")), "mm/5215");
}

static void every_row_leads_to_its_own_cells(void **state)
{
	struct asked *w = *state;

	for (int by = 0; by < QUERY_BYS; by++) {
		struct table t = asked_locks(w, (struct query_spec){.by = (enum query_by)by});
		for (size_t i = 0; i < t.n_rows; i++) {
			struct query_spec spec = {.by = BY_LOCK, .scope.mask = 1u << by};
			struct query_hist h;
			struct query_tree tree;
			spec.scope.id[by] = t.ids[i];
			struct table in = asked_locks(w, spec);
			assert_int_equal(column_sum(&in, "total_ns"), cell_u(&t, i, "total_ns"));
			assert_int_equal(column_sum(&in, "waiting"), cell_u(&t, i, "waiting"));
			assert_int_equal(query_hist_now(&w->q, &spec.scope, &h), 0);
			assert_int_equal(h.n_waits, cell_u(&t, i, "contended"));
			assert_int_equal(h.total_ns, cell_u(&t, i, "total_ns"));
			assert_int_equal(query_tree(&w->q, &spec.scope, false, false, &tree), 0);
			assert_int_equal(tree.n_waits,
					 cell_u(&t, i, "contended") + cell_u(&t, i, "waiting"));
			assert_string_not_equal(query_title(&w->q, (enum query_by)by, t.ids[i]),
						"?");
		}
	}
}

static void titles_name_every_kind_of_row(void **state)
{
	struct asked *w = *state;
	struct query *q = &w->q;

	assert_string_equal(query_title(q, BY_PROCESS, CANNED_MM), "mm/5214");
	assert_string_equal(query_title(q, BY_PROCESS, 4711), "-/4711");
	assert_string_equal(query_title(q, BY_TYPE, LOCK_MUTEX), "mutex");
	assert_string_equal(query_title(q, BY_CPU, 3), "cpu 3");
	assert_string_equal(query_title(q, BY_CGROUP, CANNED_CGROUP), "/user.slice/sh.scope");
	assert_string_equal(query_title(q, BY_CGROUP, 1234), "cgroup id 1234");
	assert_string_equal(query_title(q, BY_CGROUP, 0), "no cgroup");
	assert_string_equal(query_title(q, BY_STACK, 1), "no call chain");
	/* A lock that the model no longer holds is still called by its address. */
	assert_string_equal(query_title(q, BY_LOCK, lock_key(0xffff888000004000, LOCK_RWLOCK_R)),
			    "rwlock:R 0xffff888000004000");
	assert_string_equal(query_title(q, BY_TASK, 99ull << 32 | 7), "-/7");
}

static void the_tree_is_merged_both_ways(void **state)
{
	struct asked *w = *state;
	struct query_scope mmap = {.mask = 1 << BY_TYPE, .id[BY_TYPE] = LOCK_RWSEM_W};
	struct query_tree t;

	assert_int_equal(query_tree(&w->q, &mmap, false, false, &t), 0);
	assert_int_equal(t.n_waits, 31);
	assert_int_equal(t.total_ns, 565 * CANNED_MS);
	assert_int_equal(t.n, 8);
	assert_string_equal(t.nodes[0].name, "vm_mmap_pgoff");
	assert_int_equal(t.nodes[0].n, 19);
	assert_int_equal(t.nodes[0].max_ns, 400 * CANNED_MS);
	assert_string_equal(t.nodes[3].name, "entry_SYSCALL_64_after_hwframe");
	assert_int_equal(t.nodes[3].depth, 3);
	assert_false(t.nodes[3].has_children);
	assert_string_equal(t.nodes[4].name, "__vm_munmap");
	assert_int_equal(t.nodes[4].depth, 0);
	assert_int_equal(t.nodes[0].total_ns + t.nodes[4].total_ns, t.total_ns);

	assert_int_equal(query_tree(&w->q, &mmap, true, false, &t), 0);
	assert_int_equal(t.n, 6); /* two shared frames, then two branches of two */
	assert_string_equal(t.nodes[0].name, "entry_SYSCALL_64_after_hwframe");
	assert_true(t.nodes[0].pct == 100.0);
	assert_string_equal(t.nodes[2].name, "__x64_sys_mmap");
	assert_string_equal(t.nodes[3].name, "vm_mmap_pgoff");
	assert_int_equal(t.nodes[3].depth, 3);

	assert_int_equal(query_tree(&w->q, NULL, false, true, &t), 0);
	assert_string_equal(t.nodes[0].name, "rmqueue_bulk"); /* most often, not longest */
}

static void a_chain_that_is_missing_is_a_root(void **state)
{
	struct asked *w = *state;
	struct query_tree t;

	rig_init(&w->rig, 1);
	synth_begin(w->rig.synth, 0, CANNED_START, 1, 1, 0xffff888000001000, LCB_F_READ, NULL, 0);
	synth_end(w->rig.synth, 0, CANNED_START + 10, 1, 1, 0xffff888000001000, 0);
	synth_round(w->rig.synth, CANNED_START + 100);
	asked_play(w, NULL);
	assert_int_equal(query_tree(&w->q, NULL, false, false, &t), 0);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.nodes[0].name, "(no call chain)");
	struct table tab = asked_locks(w, (struct query_spec){.by = BY_CALLER});
	assert_string_equal(cell_s(&tab, 0, "caller"), "-");
	assert_string_equal(cell_s(&tab, 0, "name"), "0xffff888000001000");
	assert_string_equal(query_title(&w->q, BY_CALLER, tab.ids[0]), "rwsem:R no call chain");
	tab = asked_locks(w, (struct query_spec){.by = BY_STACK});
	assert_string_equal(cell_s(&tab, 0, "stack"), "-");
}

static void without_symbols_addresses_are_shown(void **state)
{
	struct asked *w = *state;
	uint64_t frames[] = {0xffffffff81001234, 0xffffffff81005678};
	struct query_overview o;

	w->rig.synth = synth_new(1);
	synth_prologue(w->rig.synth, "0000000000000000 T _stext\n0000000000000000 T vm_mmap\n");
	synth_begin(w->rig.synth, 0, CANNED_START, 1, 1, 0xffff888000001000, 0, frames, 2);
	synth_end(w->rig.synth, 0, CANNED_START + 10, 1, 1, 0xffff888000001000, 0);
	synth_round(w->rig.synth, CANNED_START + 100);
	asked_play(w, NULL);
	struct table t = asked_locks(w, (struct query_spec){.by = BY_CALLER});
	assert_string_equal(cell_s(&t, 0, "caller"), "0xffffffff81001234");
	assert_string_equal(cell_s(&t, 0, "name"), "0xffff888000001000 (0xffffffff81001234)");
	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.sym_state, SYM_WITHHELD);
}

static void the_histogram_has_all_waits(void **state)
{
	struct asked *w = *state;
	struct query_scope rw = {.mask = 1 << BY_TYPE, .id[BY_TYPE] = LOCK_RWSEM_W};
	struct query_hist h;
	uint64_t n = 0;

	assert_int_equal(query_hist(&w->q, &rw, &h), 0);
	assert_int_equal(h.n_waits, 30);
	for (size_t i = 0; i < h.n; i++) {
		assert_true(h.bars[i].upper_ns == 2 * h.bars[i].lower_ns);
		n += h.bars[i].n;
	}
	assert_int_equal(n, 30);
	assert_int_equal(h.n, 5);	  /* 524 us .. 16.8 ms */
	assert_int_equal(h.bars[0].n, 3); /* 1 ms */
	assert_int_equal(h.bars[4].n, 6); /* 9, 10 ms */
	assert_int_equal(h.min_ns, CANNED_MS);
	assert_int_equal(h.max_ns, 10 * CANNED_MS);
	rw.id[BY_TYPE] = LOCK_PCPU_SEM_W;
	assert_int_equal(query_hist(&w->q, &rw, &h), 0);
	assert_int_equal(h.n, 0);
	assert_int_equal(h.n_waits + h.min_ns + h.max_ns + h.p99_ns, 0);
}

static void series_follow_the_scope(void **state)
{
	struct asked *w = *state;
	struct query_scope scope = {.mask = 1 << BY_LOCK};
	struct query_series sr;

	assert_int_equal(query_series(&w->q, NULL, &sr), 0);
	assert_int_equal(sr.n, 3);
	assert_int_equal(sr.v[0], 55 * CANNED_MS + 24500 + 15 * CANNED_MS + 80000);
	/* The last bucket has the waits in flight and the one that failed. */
	assert_int_equal(sr.v[2], sr.v[0] + (400 + 300 + 5) * CANNED_MS);
	scope.id[BY_LOCK] = lock_key(CANNED_MMAP_LOCK, LOCK_RWSEM_R);
	assert_int_equal(query_series(&w->q, &scope, &sr), 0);
	assert_int_equal(sr.v[0], 15 * CANNED_MS);
	assert_int_equal(sr.v[2], 315 * CANNED_MS);
	assert_true(sr.all[2] > sr.v[2]);
	scope.id[BY_LOCK] = 1;
	assert_int_equal(query_series(&w->q, &scope, &sr), 0);
	assert_int_equal(sr.v[0] + sr.v[1] + sr.v[2], 0);
	scope = (struct query_scope){.mask = 1 << BY_TASK};
	assert_int_equal(query_series(&w->q, &scope, &sr), 0);
	assert_int_equal(sr.n, 0);
}

static void the_overview_sums_it_all_up(void **state)
{
	struct asked *w = *state;
	struct query_overview o;
	struct table t;
	struct error err = {0};

	assert_int_equal(query_overview(&w->q, &o), 0);
	assert_int_equal(o.elapsed_ns, 3000 * CANNED_MS);
	assert_int_equal(o.contended, 78);
	assert_int_equal(o.waiting, 2);
	assert_int_equal(o.waiting_rwsem_r, 1);
	assert_int_equal(o.waiting_rwsem_w, 1);
	assert_int_equal(o.longest_ns, 400 * CANNED_MS);
	assert_string_equal(o.longest_task, "mm/5215");
	assert_string_equal(o.longest_type, "rwsem:W");
	assert_int_equal(o.damage.unmatched_end, 1);
	assert_int_equal(o.damage.lost, 3);
	assert_true(o.unmatched_pct > 1.2 && o.unmatched_pct < 1.3);
	assert_int_equal(o.n_series, 3);
	assert_int_equal(o.contended_series[1], 26);
	assert_int_equal(query_cpus(&w->q, &(struct query_spec){0}, &t, &err), 0);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, 1, "lost"), 3);
	assert_int_equal(cell_u(&t, 0, "waiting"), 1);
	assert_int_equal(column_sum(&t, "contended"), 78);
	assert_int_equal(query_types(&w->q, &(struct query_spec){0}, &t, &err), 0);
	assert_int_equal(t.n_rows, 4);
	assert_string_equal(t.name, "types");
}

/* Hundreds of locks, stacks and tasks in the order of @step: the order of ids must not matter. */
static void state_many(struct asked *w, unsigned step)
{
	enum { N = 211 };

	rig_init(&w->rig, 1);
	for (unsigned i = 0; i < N; i++) {
		unsigned k = i * step % N;
		uint64_t lock = 0xffff888000000000 + 0x100 * k, t = CANNED_START + i * 10000;
		uint64_t frames[] = {synth_addr(SYNTH_VM_MMAP_PGOFF), 0xffffffff81010000 + k};
		synth_begin(w->rig.synth, 0, t, 100, 100 + (int)k, lock, LCB_F_WRITE, frames, 2);
		synth_end(w->rig.synth, 0, t + 100 + k, 100, 100 + (int)k, lock, 0);
	}
	synth_tick(w->rig.synth, CANNED_START + 1000 * CANNED_MS);
}

static void ids_do_not_depend_on_indices(void **state)
{
	struct asked *a = *state, b = {0};

	state_many(a, 1);
	asked_play(a, NULL);
	state_many(&b, 17);
	asked_play(&b, NULL);
	for (int by = 0; by < QUERY_BYS; by++) {
		struct query_spec spec = {.by = (enum query_by)by, .sort = "total_ns"};
		struct table x = asked_locks(a, spec), y = asked_locks(&b, spec);
		if (by == BY_TASK) /* serials are given in the order of appearance */
			continue;
		assert_int_equal(x.n_rows, y.n_rows);
		assert_memory_equal(x.ids, y.ids, x.n_rows * sizeof(*x.ids));
	}
	query_deinit(&b.q);
	rig_deinit(&b.rig);
}

static void folding_keeps_sums_and_ids(void **state)
{
	struct asked *w = *state;
	struct model_limits small = {
		.locks = 64, .stacks = 64, .tasks = 512, .cells = 64, .hist_groups = 256};
	struct table t;
	size_t other = 0;

	state_many(w, 1);
	asked_play(w, &small);
	t = asked_locks(w, (struct query_spec){.by = BY_LOCK});
	assert_true(t.n_rows < 211);
	assert_int_equal(column_sum(&t, "contended"), 211);
	for (size_t i = 0; i < t.n_rows; i++) {
		if (strcmp(cell_s(&t, i, "name"), "other") == 0) {
			other++;
			assert_false(cell_at(&t, i, "lock")->known);
			assert_string_equal(query_title(&w->q, BY_LOCK, t.ids[i]), "rwsem:W other");
		} else {
			assert_true(t.ids[i] == lock_key(cell_u(&t, i, "lock"), LOCK_RWSEM_W));
		}
	}
	assert_int_equal(other, 1);
	t = asked_locks(w, (struct query_spec){.by = BY_TASK});
	assert_int_equal(column_sum(&t, "contended"), 211);
	t = asked_locks(w, (struct query_spec){.by = BY_STACK, .sort = "stack"});
	assert_int_equal(column_sum(&t, "contended"), 211);
}

static int all_queries(struct query *q)
{
	struct query_scope scope = {.mask = 1 << BY_TYPE, .id[BY_TYPE] = LOCK_RWSEM_W};
	struct query_spec spec = {.filter = "rwsem", .sort = "p99_ns"};
	struct query_overview o;
	struct query_tree tree;
	struct query_hist hist;
	struct query_series series;
	struct table t;
	int r = 0;

	for (int by = 0; r == 0 && by < QUERY_BYS; by++) {
		spec.by = (enum query_by)by;
		r = query_locks(q, &spec, &t, NULL);
	}
	if (r == 0)
		r = query_waiters(q, &(struct query_spec){.filter = "rwsem"}, &t, NULL);
	if (r == 0)
		r = query_cpus(q, &(struct query_spec){0}, &t, NULL);
	if (r == 0)
		r = query_types(q, &(struct query_spec){0}, &t, NULL);
	if (r == 0)
		r = query_overview(q, &o);
	if (r == 0)
		r = query_tree(q, &scope, false, false, &tree);
	if (r == 0)
		r = query_hist(q, &scope, &hist);
	return r ? r : query_series(q, &scope, &series);
}

static void memory_may_run_out_at_any_point(void **state)
{
	struct asked *w = *state;
	int r = -ENOMEM;
	long n;

	for (n = 0; r != 0; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		mem_fail_after(n);
		r = all_queries(&w->q);
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		/* The same query object works again afterwards. */
		query_begin(&w->q);
		assert_int_equal(all_queries(&w->q), 0);
		assert_true(n < 10000);
	}
	assert_true(n > 10);
	query_deinit(&w->q);
	mem_fail_after(0);
	assert_int_equal(query_init(&w->q, &w->rig.engine), -ENOMEM);
	mem_fail_after(-1);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
}

#define WITH(f, s) cmocka_unit_test_setup_teardown(f, s, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(drill_down_by_the_ids_of_waiters, asked_setup),
		WITH(every_row_leads_to_its_own_cells, asked_setup),
		WITH(titles_name_every_kind_of_row, asked_setup),
		WITH(the_tree_is_merged_both_ways, asked_setup),
		WITH(a_chain_that_is_missing_is_a_root, asked_setup_empty),
		WITH(without_symbols_addresses_are_shown, asked_setup_empty),
		WITH(the_histogram_has_all_waits, asked_setup),
		WITH(series_follow_the_scope, asked_setup),
		WITH(the_overview_sums_it_all_up, asked_setup),
		WITH(ids_do_not_depend_on_indices, asked_setup_empty),
		WITH(folding_keeps_sums_and_ids, asked_setup_empty),
		WITH(memory_may_run_out_at_any_point, asked_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
