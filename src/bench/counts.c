// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of threads to run a benchmark with: "8", "1,4,all". */
#include "kontend/number.h"
#include "run.h"

#include <errno.h>
#include <string.h>

enum { MOST = 65536 };

static int refuse(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--threads '%s': give a number from 1 to %d, 'all' for one for each CPU, "
			 "or several of these with commas between them, %d at most",
			 text, MOST, BENCH_COUNTS);
}

static int parse_one(const char *text, size_t len, uint32_t *ret)
{
	uint64_t n;

	*ret = 0;
	if (len == 3 && memcmp(text, "all", len) == 0)
		return 0;
	if (number_parse_n(text, len, 1, MOST, &n) < 0)
		return -EINVAL;
	*ret = (uint32_t)n;
	return 0;
}

int bench_counts(const struct opts *o, struct bench_counts *ret, struct error *err)
{
	const char *text = o->counts;

	*ret = (struct bench_counts){.n = text ? 0 : 1, .is_list = text && strchr(text, ',')};
	for (const char *at = text; at; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ",");
		if (ret->n == BENCH_COUNTS || parse_one(at, len, &ret->v[ret->n++]) < 0)
			return refuse(text, err);
		at += len;
	}
	return 0;
}
