// SPDX-License-Identifier: GPL-2.0-only
/* `kontend bench`: which of them, and that the options are for it. */
#include "bench.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

enum { DURATION = 1, THREADS = 2, SIZE = 4, ROUNDS = 8, SHOW = 16, EVENTS = 32 };
#define MM (THREADS | SIZE | ROUNDS | SHOW)

static const struct {
	const char *name;
	int (*run)(const struct opts *o);
	unsigned takes; /* options */
} benches[] = {
	{"uprobe", cmd_bench_uprobe, DURATION},
	{"rotation", cmd_bench_rotation, DURATION | SIZE | EVENTS},
	{"page-fault", cmd_bench_page_fault, MM},
	{"mmap", cmd_bench_mmap, MM},
};

static int refuse(const char *option, const char *bench)
{
	struct error err = {0};

	error_set(&err, -EINVAL,
		  "'kontend bench %s' has no use for --%s: see 'kontend bench --help'", bench,
		  option);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

/* The first option that is given and not in @takes; NULL: none. */
static const char *without_use(const struct opts *o, unsigned takes)
{
	const struct {
		const char *name;
		unsigned bit;
		bool given;
	} all[] = {
		{"duration", DURATION, o->duration_ns != 0},
		{"threads", THREADS, o->threads != 0},
		{"size", SIZE, o->size != 0},
		{"rounds", ROUNDS, o->rounds != 0},
		{"measure", SHOW, o->measure},
		{"events", EVENTS, o->events != 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given && !(takes & all[i].bit))
			return all[i].name;
	return NULL;
}

int cmd_bench(const struct opts *o)
{
	struct error err = {0};

	for (size_t i = 0; o->topic && i < sizeof(benches) / sizeof(*benches); i++) {
		if (strcmp(o->topic, benches[i].name) != 0)
			continue;
		const char *option = without_use(o, benches[i].takes);
		return option ? refuse(option, o->topic) : benches[i].run(o);
	}
	error_set(&err, -EINVAL,
		  "What is to be measured? 'kontend bench uprobe', 'rotation', 'page-fault' or "
		  "'mmap'");
	return cmd_fail(CMD_EXIT_USAGE, &err);
}
