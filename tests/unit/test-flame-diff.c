// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two flame graphs as one: each side has what its own graph has, scaled to the same time; whatever
 * is added, no box is wider than the one below it on either side; the picture and folded stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "golden.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "kontend/mem.h"
#include "kontend/query-flame-diff.h"
#include "xml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 200 };

/* A random tree, depth first, whose parts are not more than the whole. */
struct made {
	struct query_node nodes[NODES];
	char names[NODES][8];
	struct query_tree tree;
};

static void grow(struct made *m, uint16_t depth, uint64_t weight, unsigned *seed)
{
	uint64_t left = weight;

	for (int i = rand_r(seed) % 4; i > 0 && left && m->tree.n < NODES; i--) {
		const size_t at = m->tree.n++;
		const uint64_t own = (uint64_t)rand_r(seed) % left + 1;
		left -= own;
		snprintf(m->names[at], sizeof(m->names[at]), "f%d", rand_r(seed) % 6);
		m->nodes[at] = (struct query_node){
			.name = m->names[at], .n = own, .total_ns = own, .depth = depth};
		if (depth < 20)
			grow(m, (uint16_t)(depth + 1), own, seed);
	}
}

static void make(struct made *m, uint64_t weight, unsigned *seed)
{
	*m = (struct made){.tree = {.n_waits = weight, .total_ns = weight}};
	m->tree.nodes = m->nodes;
	grow(m, 0, weight, seed);
}

static void check_boxes(const struct query_flame_diff *d)
{
	const struct query_tree *t = &d->tree;

	for (int side = 0; side < FLAME_SIDES; side++) {
		uint64_t left[32] = {d->all[side]};
		for (size_t i = 0; i < t->n; i++) {
			const struct query_node *n = &t->nodes[i];
			assert_true(d->of[side][i] <= left[n->depth]);
			left[n->depth] -= d->of[side][i];
			left[n->depth + 1] = d->of[side][i];
			assert_int_equal(d->by_wait ? n->total_ns : n->n,
					 d->of[FLAME_A][i] + d->of[FLAME_B][i]);
		}
	}
	for (size_t i = 1; i < t->n; i++)
		for (size_t k = i; k-- > 0 && t->nodes[k].depth >= t->nodes[i].depth;)
			if (t->nodes[k].depth == t->nodes[i].depth)
				assert_true(strcmp(t->nodes[k].name, t->nodes[i].name) < 0);
}

static void parts_are_within_the_whole(void **state)
{
	static struct made m;
	unsigned seed = 4711;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct flame_diff *d = query_flame_diff_new(round % 2);
		struct arena a = {0};
		struct query_flame_diff r;
		assert_non_null(d);
		for (int i = 0; i < 6; i++) {
			make(&m, (uint64_t)rand_r(&seed) % 1000 + 1, &seed);
			assert_int_equal(query_flame_diff_add(d, (enum flame_side)(i % 2), &m.tree,
							      (uint64_t)rand_r(&seed) % 5000),
					 0);
		}
		assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
		check_boxes(&r);
		arena_deinit(&a);
		query_flame_diff_free(d);
	}
}

static void huge_and_empty_sides(void **state)
{
	static struct made m;
	unsigned seed = 1;

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct flame_diff *d = query_flame_diff_new(true);
		struct arena a = {0};
		struct query_flame_diff r;
		make(&m, kind ? UINT64_MAX / 2 : 0, &seed);
		assert_int_equal(query_flame_diff_add(d, FLAME_A, &m.tree, kind == 1 ? 1 : 0), 0);
		make(&m, kind == 3 ? 0 : UINT64_MAX / 2, &seed);
		assert_int_equal(query_flame_diff_add(d, FLAME_B, &m.tree, UINT64_MAX), 0);
		assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
		for (size_t i = 0; i < r.tree.n; i++)
			assert_true(r.of[FLAME_A][i] <= r.all[FLAME_A] &&
				    r.of[FLAME_B][i] <= r.all[FLAME_B]);
		arena_deinit(&a);
		query_flame_diff_free(d);
	}
	query_flame_diff_free(NULL);
}

/* The waits of the canned stream against the same, of which some are left out. */
static struct flame_diff *canned_diff(struct asked *w, const char *filter_a, uint64_t factor)
{
	struct flame_diff *d = query_flame_diff_new(true);
	const struct query_flame_spec spec = {.by_wait = true, .boxes_only = true};
	struct query_tree t;

	assert_non_null(d);
	query_begin(&w->q);
	for (int side = 0; side < FLAME_SIDES; side++) {
		struct query_zoom zoom = {0};
		struct query_flame_spec s = spec;
		if (side == FLAME_A && filter_a) {
			assert_int_equal(query_zoom_parse(filter_a, NULL, &zoom, NULL), 0);
			s.zoom = &zoom;
		}
		assert_int_equal(query_flame_named(&w->q, &s, &t), 0);
		assert_int_equal(query_flame_diff_add(d, (enum flame_side)side, &t,
						      side == FLAME_A ? factor * 3000 * CANNED_MS
								      : 3000 * CANNED_MS),
				 0);
	}
	return d;
}

static void equal_sides_do_not_differ(void **state)
{
	struct asked *w = *state;
	struct flame_diff *d = canned_diff(w, NULL, 1);
	const struct query_flame_spec spec = {.by_wait = true, .boxes_only = true};
	struct query_flame_diff r;
	struct query_tree t;
	struct arena a = {0};

	assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
	assert_int_equal(query_flame_named(&w->q, &spec, &t), 0);
	assert_int_equal(r.tree.n, t.n);
	for (size_t i = 0; i < t.n; i++) {
		assert_string_equal(r.tree.nodes[i].name, t.nodes[i].name);
		assert_int_equal(r.of[FLAME_A][i], t.nodes[i].total_ns);
		assert_int_equal(r.of[FLAME_B][i], t.nodes[i].total_ns);
		assert_int_equal(query_flame_diff_change(r.of[FLAME_A][i], r.of[FLAME_B][i]), 0);
		assert_int_equal(query_flame_frame(&r.tree.nodes[i]),
				 query_flame_frame(&t.nodes[i]));
	}
	arena_deinit(&a);
	query_flame_diff_free(d);
	/* In twice the time: half as much. */
	d = canned_diff(w, NULL, 2);
	assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
	assert_int_equal(r.all[FLAME_A], t.total_ns / 2);
	assert_int_equal(r.all[FLAME_B], t.total_ns);
	check_boxes(&r);
	arena_deinit(&a);
	query_flame_diff_free(d);
}

static char *written(const struct query_flame_diff *d, bool svg, int want)
{
	struct arena a = {0};
	struct error err = {0};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(svg ? flamegraph_write_diff(d, &a, f, &err)
			     : folded_write_diff(d, false, f, &err),
			 want);
	fclose(f);
	arena_deinit(&a);
	return text;
}

static void picture_and_stacks(void **state)
{
	struct asked *w = *state;
	struct flame_diff *d = canned_diff(w, "cpu=0", 2);
	struct arena a = {0};
	struct query_flame_diff r;
	uint64_t sums[FLAME_SIDES] = {0}, n[FLAME_SIDES];
	size_t at;

	assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
	char *text = written(&r, true, 0);
	if (xml_check(text, &at) < 0)
		fail_msg("no XML from byte %zu: %.60s", at, text + at);
	char *script = strstr(text, "<script>");
	assert_non_null(script);
	*script = '\0';
	golden_check(text, "diff-flamegraph");
	free(text);
	text = written(&r, false, 0);
	golden_check(text, "diff-folded");
	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		char *end = strchr(line, '\n'), *number = end;
		for (int blanks = 0; blanks < 2; blanks += *number == ' ')
			number--;
		assert_int_equal(sscanf(number, "%lu %lu", &n[0], &n[1]), 2);
		sums[0] += n[0];
		sums[1] += n[1];
	}
	/* Each is rounded down. */
	assert_in_range(r.all[FLAME_A] - sums[FLAME_A], 0, r.tree.n);
	assert_int_equal(sums[FLAME_B], r.all[FLAME_B]);
	free(text);
	arena_deinit(&a);
	query_flame_diff_free(d);
}

static void nothing_makes_no_picture(void **state)
{
	struct flame_diff *d = query_flame_diff_new(true);
	struct arena a = {0};
	struct query_flame_diff r;

	(void)state;
	assert_int_equal(query_flame_diff_get(d, &a, &r), 0);
	free(written(&r, true, -ENODATA));
	free(written(&r, false, 0));
	arena_deinit(&a);
	query_flame_diff_free(d);
}

static void changes_are_symmetric(void **state)
{
	(void)state;
	for (uint64_t a = 0; a < 40; a++)
		for (uint64_t b = 0; b < 40; b++)
			assert_int_equal(query_flame_diff_change(a, b),
					 -query_flame_diff_change(b, a));
	assert_int_equal(query_flame_diff_change(0, 0), 0);
	assert_int_equal(query_flame_diff_change(0, 1), FLAME_CHANGES);
	assert_int_equal(query_flame_diff_change(100, 105), 0);
	assert_int_equal(query_flame_diff_change(100, 150), 1);
	assert_int_equal(query_flame_diff_change(100, 300), 2);
	assert_int_equal(query_flame_diff_change(UINT64_MAX, 0), -FLAME_CHANGES);
}

static void memory_that_fails_is_an_error(void **state)
{
	static struct made m;
	unsigned seed = 3;
	int r = -ENOMEM;

	(void)state;
	make(&m, 100000, &seed);
	for (long k = 0; r < 0; k++) {
		struct arena a = {0};
		struct query_flame_diff got;
		mem_fail_after(k);
		struct flame_diff *d = query_flame_diff_new(true);
		r = d ? query_flame_diff_add(d, FLAME_B, &m.tree, 1) : -ENOMEM;
		r = r < 0 ? r : query_flame_diff_get(d, &a, &got);
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		assert_true(k < 3000);
		arena_deinit(&a);
		query_flame_diff_free(d);
	}
}

#define OF(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_within_the_whole),
		cmocka_unit_test(huge_and_empty_sides),
		OF(equal_sides_do_not_differ),
		OF(picture_and_stacks),
		cmocka_unit_test(nothing_makes_no_picture),
		cmocka_unit_test(changes_are_symmetric),
		cmocka_unit_test(memory_that_fails_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
