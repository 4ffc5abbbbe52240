// SPDX-License-Identifier: GPL-2.0-only
/* The tree of all call chains: what it adds up to, with both weights, as a whole and in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/mem.h"
#include "kontend/query-flame.h"
#include "kontend/query-hot.h"
#include "kontend/query-tree.h"
#include "kontend/query-zoom.h"
#include "synth-profile.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CODE 0x400000ull
#define LOCK 0xffff888011111100ull

/* app/50: 6 samples in its code, on CPU 0. worker/51: 3 in a lock path, on CPU 1; waits 5 ms. */
static void state_stream(struct asked *w)
{
	const uint64_t lock[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				 synth_addr(SYNTH_VM_MMAP_PGOFF)};
	const uint64_t wait[] = {synth_addr(SYNTH_TRACEITER_BEGIN), lock[0], lock[1]};
	const uint64_t user = CODE + 5;
	struct synth *s;

	rig_init(&w->rig, 2);
	s = w->rig.synth;
	synth_profile(s);
	synth_comm(s, 0, START, 50, 50, "app");
	synth_comm(s, 0, START, 50, 51, "worker");
	synth_mmap(s, 0, START, 50, CODE, 0x10000, 0x1000, "/bin/app");
	for (uint64_t i = 0; i < 6; i++)
		synth_sample(s, 0, START + (10 + i) * MS, 50, 50, MS,
			     (struct synth_chain){.user = &user, .n_user = 1});
	for (uint64_t i = 0; i < 3; i++)
		synth_sample(s, 1, START + (20 + i) * MS, 50, 51, MS,
			     (struct synth_chain){
				     .kernel = lock, .n_kernel = 2, .user = &user, .n_user = 1});
	synth_begin(s, 1, START + 30 * MS, 50, 51, LOCK, LCB_F_WRITE, wait, 3);
	synth_end(s, 1, START + 35 * MS, 50, 51, LOCK, 0);
	synth_begin(s, 1, START + 80 * MS, 50, 51, LOCK, LCB_F_WRITE, lock, 2);
	synth_tick(s, START + 100 * MS);
}

static struct query_tree flame(struct asked *w, struct query_flame_spec spec)
{
	struct query_tree t;

	query_begin(&w->q);
	assert_int_equal(query_flame(&w->q, &spec, &t), 0);
	return t;
}

static const struct query_node *node(const struct query_tree *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->nodes[i].name, name) == 0)
			return &t->nodes[i];
	fail_msg("no frame %s", name);
	return NULL;
}

/* The figures of children are part of those of a node; names are in order. */
static void check(const struct query_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		uint64_t n = 0, ns = 0;
		const char *before = "";
		for (size_t k = i + 1; k < t->n && t->nodes[k].depth > t->nodes[i].depth; k++) {
			if (t->nodes[k].depth != t->nodes[i].depth + 1)
				continue;
			n += t->nodes[k].n;
			ns += t->nodes[k].total_ns;
			assert_true(strcmp(before, t->nodes[k].name) <= 0);
			before = t->nodes[k].name;
		}
		assert_true(n <= t->nodes[i].n && ns <= t->nodes[i].total_ns);
		assert_true(t->nodes[i].pct <= 100 && t->nodes[i].pct_parent <= 100);
	}
}

static void samples_and_waits_meet_in_one_tree(void **state)
{
	struct asked *w = *state;
	struct query_tree t;

	state_stream(w);
	asked_play(w, NULL);
	t = flame(w, (struct query_flame_spec){0});
	check(&t);
	assert_int_equal(t.n_waits, 9);
	assert_int_equal(t.total_ns, 25 * MS);
	assert_int_equal(node(&t, "app")->n, 6);
	assert_int_equal(node(&t, "app")->depth, 0);
	assert_int_equal(query_flame_frame(node(&t, "app")), FRAME_NAME);
	assert_int_equal(node(&t, "worker")->n, 3);
	assert_int_equal(node(&t, "worker")->total_ns, 25 * MS);
	const struct query_node *slow = node(&t, "rwsem_down_write_slowpath");
	assert_int_equal(query_flame_frame(slow), FRAME_LOCK);
	assert_string_equal(slow->object, "[kernel]");
	assert_int_equal(query_flame_frame(node(&t, "vm_mmap_pgoff")), FRAME_KERNEL);
	assert_int_equal(node(&t, "[rwsem:W]")->total_ns, 25 * MS);
	assert_int_equal(query_flame_frame(node(&t, "[rwsem:W]")), FRAME_LOCK);
	for (size_t i = 0; i < t.n; i++)
		assert_string_not_equal(t.nodes[i].name, "__traceiter_contention_begin");
	t = flame(w, (struct query_flame_spec){.by_wait = true});
	assert_true(node(&t, "worker")->pct > 99.9 && node(&t, "app")->pct < 0.1);
	t = flame(w, (struct query_flame_spec){.locks = true});
	assert_int_equal(t.n_waits, 3);
}

static bool has(const struct query_tree *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->nodes[i].name, name) == 0)
			return true;
	return false;
}

/* Nodes without weight are left out, and are in the sums all the same. */
static void what_has_no_box_is_left_out(void **state)
{
	struct asked *w = *state;
	struct query_tree t;

	state_stream(w);
	asked_play(w, NULL);
	t = flame(w, (struct query_flame_spec){.by_wait = true, .boxes_only = true});
	check(&t);
	assert_int_equal(t.n_waits, 9);
	assert_int_equal(t.total_ns, 25 * MS);
	assert_false(has(&t, "app"));
	assert_int_equal(node(&t, "worker")->n, 3);
	assert_int_equal(node(&t, "[rwsem:W]")->total_ns, 25 * MS);
	t = flame(w, (struct query_flame_spec){.boxes_only = true});
	check(&t);
	assert_int_equal(t.total_ns, 25 * MS);
	assert_int_equal(node(&t, "app")->n, 6);
	assert_int_equal(node(&t, "worker")->total_ns, 25 * MS);
	assert_false(has(&t, "[rwsem:W]"));
}

/* In the next frame call chains are as they were found in the first one. */
static void kept_chains_are_the_same(void **state)
{
	struct asked *w = *state;
	struct query_tree a, b;

	state_stream(w);
	asked_play(w, NULL);
	a = flame(w, (struct query_flame_spec){0});
	size_t n = a.n;
	uint64_t id = node(&a, "rwsem_down_write_slowpath")->id;
	b = flame(w, (struct query_flame_spec){0});
	assert_int_equal(b.n, n);
	assert_int_equal(node(&b, "rwsem_down_write_slowpath")->id, id);
}

static uint64_t samples_in(struct asked *w, const char *term, uint64_t *ret_ns)
{
	struct query_zoom zoom = {0};
	struct query_tree t;

	assert_int_equal(query_zoom_parse(term, NULL, &zoom, NULL), 0);
	t = flame(w, (struct query_flame_spec){.zoom = &zoom});
	check(&t);
	*ret_ns = t.total_ns;
	return t.n_waits;
}

static void a_part_is_looked_at_alone(void **state)
{
	static const struct {
		const char *term;
		uint64_t n, ns;
	} parts[] = {
		{"pid=50", 9, 25},	   {"pid=51", 0, 0},	   {"tid=51", 3, 25},
		{"tid=50", 6, 0},	   {"comm=worker", 3, 25}, {"comm=work", 0, 0},
		{"object=/bin/app", 6, 0}, {"object=app", 6, 0},   {"object=[kernel]", 3, 25},
		{"group=rwsem", 3, 25},	   {"group=other", 6, 0},  {"group=perf", 0, 0},
		{"cpu=0", 6, 0},	   {"cpu=1", 3, 25},
	};
	struct asked *w = *state;
	uint64_t ns;

	state_stream(w);
	asked_play(w, NULL);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		assert_int_equal(samples_in(w, parts[i].term, &ns), parts[i].n);
		assert_int_equal(ns, parts[i].ns * MS);
	}
}

static void what_is_no_part_is_refused(void **state)
{
	static const char *const bad[] = {"",	      "pid",	"pid=",	 "pid=x",
					  "pid=1x",   "pid=-1", "=5",	 "cpu=99999999999",
					  "group=rw", "comm=",	"what=1"};
	struct query_zoom zoom = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(query_zoom_parse(bad[i], NULL, &zoom, &err), -EINVAL);
	assert_int_equal(zoom.n, 0);
	err = (struct error){0};
	for (int i = 0; i < QUERY_ZOOM_TERMS; i++)
		assert_int_equal(query_zoom_parse("cpu=1", NULL, &zoom, &err), 0);
	assert_int_equal(query_zoom_parse("cpu=1", NULL, &zoom, &err), -EINVAL);
	assert_non_null(strstr(err.text, "8 times"));
}

static void a_lock_has_its_waits_alone(void **state)
{
	struct asked *w = *state;
	struct query_flame_spec spec = {.by_wait = true, .scope.mask = 1u << BY_LOCK};
	struct query_spec locks = {0};
	struct query_tree t;

	state_stream(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	spec.scope.id[BY_LOCK] = asked_locks(w, locks).ids[0];
	t = flame(w, spec);
	assert_int_equal(t.n_waits, 0);
	assert_int_equal(t.total_ns, 25 * MS);
}

static void every_allocation_may_fail(void **state)
{
	struct asked *w = *state;
	struct query_flame_spec spec = {0};
	struct query_tree t;
	long n;

	state_stream(w);
	asked_play(w, NULL);
	for (n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = query_flame(&w->q, &spec, &t);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 2);
}

#define ON_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STREAM(samples_and_waits_meet_in_one_tree),
		ON_STREAM(a_part_is_looked_at_alone),
		ON_STREAM(what_has_no_box_is_left_out),
		ON_STREAM(kept_chains_are_the_same),
		cmocka_unit_test(what_is_no_part_is_refused),
		ON_STREAM(a_lock_has_its_waits_alone),
		ON_STREAM(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
