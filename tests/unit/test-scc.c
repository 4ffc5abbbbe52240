// SPDX-License-Identifier: GPL-2.0-only
/* Components of graphs: known ones, and random ones against who can reach whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/scc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, LONG = 200000 };

static void a_graph_without_edges_is_all_apart(void **state)
{
	uint32_t of[3];

	(void)state;
	assert_int_equal(scc_find(0, NULL, 0, of), 0);
	assert_int_equal(scc_find(3, NULL, 0, of), 3);
	assert_true(of[0] != of[1] && of[1] != of[2] && of[0] != of[2]);
}

static void a_chain_leads_to_smaller_numbers(void **state)
{
	const struct scc_edge edges[] = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
	uint32_t of[3];

	(void)state;
	assert_int_equal(scc_find(3, edges, 2, of), 3);
	assert_int_equal(of[2], 0);
	assert_int_equal(of[1], 1);
	assert_int_equal(of[0], 2);
}

static void edges_to_nowhere_are_left_out(void **state)
{
	const struct scc_edge edges[] = {
		{.from = 0, .to = 1}, {.from = 0, .to = 7}, {.from = 1, .to = 0}};
	uint32_t of[2];

	(void)state;
	assert_int_equal(scc_find(2, edges, 3, of), 1);
	assert_int_equal(of[0], of[1]);
}

/* A ring of them, and a chain: neither takes the program's stack. */
static void long_ones_take_no_stack(void **state)
{
	struct scc_edge *edges = calloc(LONG, sizeof(*edges));
	uint32_t *of = calloc(LONG, sizeof(*of));

	(void)state;
	assert_true(edges && of);
	for (uint32_t i = 0; i < LONG; i++)
		edges[i] = (struct scc_edge){.from = i, .to = (i + 1) % LONG};
	assert_int_equal(scc_find(LONG, edges, LONG, of), 1);
	assert_int_equal(scc_find(LONG, edges, LONG - 1, of), LONG);
	assert_int_equal(of[LONG - 1], 0);
	free(edges);
	free(of);
}

static void reach_all(uint32_t n, bool reach[MOST][MOST])
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
}

static void check(uint32_t n, const struct scc_edge *edges, size_t n_edges)
{
	static bool reach[MOST][MOST];
	uint32_t of[MOST];
	bool seen[MOST] = {false};
	int64_t found = scc_find(n, edges, n_edges, of);

	memset(reach, 0, sizeof(reach));
	for (uint32_t i = 0; i < n; i++)
		reach[i][i] = true;
	for (size_t i = 0; i < n_edges; i++)
		reach[edges[i].from][edges[i].to] = true;
	reach_all(n, reach);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(of[i] < (uint64_t)found);
		seen[of[i]] = true;
		for (uint32_t j = 0; j < n; j++)
			assert_int_equal(of[i] == of[j], reach[i][j] && reach[j][i]);
	}
	for (int64_t i = 0; i < found; i++)
		assert_true(seen[i]);
	for (size_t i = 0; i < n_edges; i++)
		assert_true(of[edges[i].from] >= of[edges[i].to]);
}

static void random_ones_agree_with_who_reaches_whom(void **state)
{
	unsigned seed = 8;
	size_t several = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct scc_edge edges[MOST * MOST];
		uint32_t n = 1 + (uint32_t)rand_r(&seed) % MOST;
		int one_in = 1 + rand_r(&seed) % (int)(2 * n);
		size_t n_edges = 0;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				if (rand_r(&seed) % one_in == 0)
					edges[n_edges++] = (struct scc_edge){.from = i, .to = j};
		check(n, edges, n_edges);
		several += n_edges > n;
	}
	assert_true(several > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_without_edges_is_all_apart),
		cmocka_unit_test(a_chain_leads_to_smaller_numbers),
		cmocka_unit_test(edges_to_nowhere_are_left_out),
		cmocka_unit_test(long_ones_take_no_stack),
		cmocka_unit_test(random_ones_agree_with_who_reaches_whom),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
