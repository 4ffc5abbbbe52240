// SPDX-License-Identifier: GPL-2.0-only
/*
 * story-fork SIZE_MB THREADS ROUNDS: the workload of `kontend story fork`, which prints what it
 * did: "memory": what it uses; a "fork" line a round, with how long the call took and how long of
 * that its thread ran and was kept off the CPU; a "stall" line for each fault that took more than 1
 * ms and was on while fork() was.
 */
#include "kontend/story-fork.h"
#include "tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { APART_NS = 20000000 };

static void tell_round(const struct story_fork_call *c, const struct story_fork *f)
{
	printf("fork tid=%d from=%" PRIu64 " to=%" PRIu64 " ran=%" PRIu64 " runnable=%" PRIu64 "\n",
	       (int)tell_tid(), c->from_ns, c->to_ns, c->ran_ns, c->runnable_ns);
	for (size_t i = 0; i < f->n_stalls; i++) {
		const struct story_fork_stall *s = &f->stalls[i];
		if (s->from_ns < c->to_ns && s->to_ns > c->from_ns)
			printf("stall tid=%d from=%" PRIu64 " to=%" PRIu64 "\n", (int)s->tid,
			       s->from_ns, s->to_ns);
	}
}

int main(int argc, char **argv)
{
	size_t mb = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	struct error err = {0};
	struct story_fork f;

	if (mb < 1)
		return 2;
	const struct story_fork_options o = {.bytes = mb << 20,
					     .threads = (uint32_t)atoi(argv[2]),
					     .rounds = (uint32_t)atoi(argv[3]),
					     .apart_ns = APART_NS};
	alarm(120);
	int code = story_fork_run(&o, &f, &err);
	if (code == -ENOMEM || code == -EOPNOTSUPP)
		tell_skip(err.text);
	if (code < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("memory mb=%zu threads=%u\n", mb, o.threads);
	for (size_t i = 0; i < f.n_calls; i++)
		tell_round(&f.calls[i], &f);
	story_fork_deinit(&f);
	return 0;
}
