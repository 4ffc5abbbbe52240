// SPDX-License-Identifier: GPL-2.0-only
/* `kontend bench`: which of them, and that the options are for it. */
#include "cmd-bench.h"
#include "cmd.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(const struct opts *o);
	bool is_mm; /* with threads, a size and rounds, instead of a duration */
} benches[] = {
	{"uprobe", cmd_bench_uprobe, false},
	{"page-fault", cmd_bench_page_fault, true},
	{"mmap", cmd_bench_mmap, true},
};

static int refuse(const char *option, const char *bench)
{
	struct error err = {0};

	error_set(&err, -EINVAL,
		  "'kontend bench %s' has no use for --%s: see 'kontend bench --help'", bench,
		  option);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

int cmd_bench(const struct opts *o)
{
	struct error err = {0};

	for (size_t i = 0; o->topic && i < sizeof(benches) / sizeof(*benches); i++) {
		const bool is_mm = benches[i].is_mm;
		if (strcmp(o->topic, benches[i].name) != 0)
			continue;
		if (is_mm && o->duration_ns)
			return refuse("duration", o->topic);
		if (!is_mm && (o->threads || o->size || o->rounds || o->measure))
			return refuse(o->threads  ? "threads"
				      : o->size	  ? "size"
				      : o->rounds ? "rounds"
						  : "measure",
				      o->topic);
		return benches[i].run(o);
	}
	error_set(&err, -EINVAL,
		  "What is to be measured? 'kontend bench uprobe', 'page-fault' or 'mmap'");
	return cmd_fail(CMD_EXIT_USAGE, &err);
}
