// SPDX-License-Identifier: GPL-2.0-only
/* Boxes of flame graphs, of trees of any shape at any width. */
#include "widgets/flame.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { NODES = 400, DEEPEST = 40 };

struct tree {
	struct query_node nodes[NODES];
	struct query_tree t;
	struct flame_box boxes[NODES + 1];
	uint64_t seed;
};

static uint64_t draw(struct tree *r, uint64_t below)
{
	r->seed = r->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (r->seed >> 33) % below;
}

/* Children take what is left of @weight, or leave some; some weigh nothing. */
static void grow(struct tree *r, uint16_t depth, uint64_t weight)
{
	while (r->t.n < NODES && draw(r, 5) && depth < DEEPEST) {
		uint64_t part = draw(r, 6) ? draw(r, weight + 1) : weight;
		r->nodes[r->t.n++] = (struct query_node){
			.name = draw(r, 3) ? "f" : "g", .n = part, .depth = depth};
		weight -= part;
		grow(r, (uint16_t)(depth + 1), part);
	}
}

static void make_tree(struct tree *r, uint64_t seed)
{
	*r = (struct tree){.seed = seed};
	r->t.nodes = r->nodes;
	r->t.n_waits = seed % 3 ? 1 + draw(r, 300) : draw(r, 1ull << 31) << 20;
	grow(r, 0, r->t.n_waits);
}

static const struct flame_box *parent(const struct tree *r, size_t n, const struct flame_box *b)
{
	for (size_t i = n; i-- > 0;)
		if (&r->boxes[i] < b && r->boxes[i].level + 1 == b->level)
			return &r->boxes[i];
	return NULL;
}

static uint64_t weight(const struct tree *r, uint32_t node)
{
	return node == FLAME_ALL ? r->t.n_waits : r->nodes[node].n;
}

static void check_box(const struct tree *r, size_t n, size_t i, uint32_t root, int w)
{
	const struct flame_box *b = &r->boxes[i], *up = parent(r, n, b);

	assert_true(b->w > 0 && b->x >= 0 && b->x + b->w <= w);
	if (b->level == 0)
		return;
	assert_non_null(up);
	assert_true(b->x >= up->x && b->x + b->w <= up->x + up->w);
	for (size_t k = 0; k < i; k++)
		if (r->boxes[k].level == b->level)
			assert_true(r->boxes[k].x + r->boxes[k].w <= b->x);
	double exact = (double)w * (double)weight(r, b->node) / (double)weight(r, root);
	/* Cut down at both ends, once a level. */
	if (b->level > (root == FLAME_ALL ? 0 : r->nodes[root].depth + 1))
		assert_true(b->w >= exact - b->level - 1 && b->w <= exact + b->level + 1);
	else
		assert_int_equal(b->w, w);
}

static void boxes_stay_within_their_parents(void **state)
{
	static struct tree r;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		make_tree(&r, seed);
		for (int w = 1; w <= 250; w += 1 + (int)(seed % 23)) {
			uint32_t root = r.t.n && seed % 2 ? (uint32_t)draw(&r, r.t.n) : FLAME_ALL;
			if (!weight(&r, root))
				root = FLAME_ALL;
			size_t n = flame_place(&r.t, false, root, w, r.boxes);
			assert_true(n >= 1 && n <= r.t.n + 1);
			for (size_t i = 0; i < n; i++)
				check_box(&r, n, i, root, w);
		}
	}
}

/* Children that leave nothing over fill their parent to the last cell. */
static void parts_of_a_whole_fill_it(void **state)
{
	static struct tree r;

	(void)state;
	for (uint32_t parts = 1; parts < 60; parts++) {
		for (int w = 1; w < 200; w++) {
			size_t n;
			int sum = 0;
			r = (struct tree){.t = {.nodes = r.nodes, .n = parts}};
			for (uint32_t i = 0; i < parts; i++) {
				r.nodes[i] = (struct query_node){.name = "f", .n = 1 + i % 7};
				r.t.n_waits += r.nodes[i].n;
			}
			n = flame_place(&r.t, false, FLAME_ALL, w, r.boxes);
			for (size_t i = 1; i < n; i++)
				sum += r.boxes[i].w;
			assert_int_equal(sum, w);
		}
	}
}

static void nothing_has_no_boxes(void **state)
{
	static struct tree r;

	(void)state;
	assert_int_equal(flame_place(&r.t, false, FLAME_ALL, 0, r.boxes), 0);
	assert_int_equal(flame_place(&r.t, true, FLAME_ALL, 10, r.boxes), 1);
	assert_int_equal(r.boxes[0].node, FLAME_ALL);
	r.t = (struct query_tree){.nodes = r.nodes, .n = 1};
	r.nodes[0] = (struct query_node){.name = "deep", .n = 1, .depth = FLAME_DEPTH};
	assert_int_equal(flame_place(&r.t, false, 0, 10, r.boxes), 0);
}

static void matches_count_once(void **state)
{
	static struct query_node nodes[] = {
		{.name = "app", .n = 10, .depth = 0},
		{.name = "lock_slow", .n = 6, .depth = 1},
		{.name = "spin_lock", .n = 5, .depth = 2},
		{.name = "work", .n = 4, .depth = 1},
		{.name = "Lock", .n = 1, .depth = 2},
	};
	const struct query_tree t = {.nodes = nodes, .n = 5, .n_waits = 10};

	(void)state;
	assert_int_equal(flame_matched(&t, false, FLAME_ALL, "lock"), 7);
	assert_int_equal(flame_matched(&t, false, 1, "spin"), 5);
	assert_int_equal(flame_matched(&t, false, 3, "spin"), 0);
	assert_int_equal(flame_matched(&t, true, FLAME_ALL, "lock"), 0);
	assert_int_equal(flame_last(&t, 1), 2);
	assert_int_equal(flame_last(&t, FLAME_ALL), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_stay_within_their_parents),
		cmocka_unit_test(parts_of_a_whole_fill_it),
		cmocka_unit_test(nothing_has_no_boxes),
		cmocka_unit_test(matches_count_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
