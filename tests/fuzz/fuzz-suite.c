// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as an earlier suite: a refusal names the file; an accepted one is within its bounds,
 * can be compared with itself, and has not changed.
 */
#include "fuzz.h"
#include "kontend/bench-suite.h"

#include <string.h>

static void check_figure(const struct bench_suite *s, const struct bench_suite_figure *f)
{
	struct bench_stats_ratio r;

	fuzz_require(f->n <= BENCH_STATS_MOST && f->better <= BENCH_LOWER);
	fuzz_require(memchr(f->of, 0, sizeof(f->of)) && memchr(f->unit, 0, sizeof(f->unit)));
	fuzz_require(!strchr(f->of, '\033'));
	fuzz_require(bench_suite_find(s, f) == f);
	enum bench_suite_verdict v = bench_suite_judge(f, f, &r);
	fuzz_require(v != BENCH_SUITE_BETTER && v != BENCH_SUITE_WORSE);
	fuzz_require(!f->n || bench_stats_mad(f->v, f->n) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bench_suite s;
	struct error err = {0};

	if (bench_suite_read(&s, (const char *)data, size, "file", &err) < 0) {
		fuzz_require(strncmp(err.text, "file:", 5) == 0);
		fuzz_require(!s.figures && !s.skipped);
		return 0;
	}
	for (size_t i = 0; i < s.n; i++)
		check_figure(&s, &s.figures[i]);
	bench_suite_deinit(&s);
	return 0;
}
