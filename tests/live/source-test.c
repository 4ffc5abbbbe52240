// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening, reading and checking, as each test of the live source does it.
 */
#include "source-test.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct source *open_source(const struct live_options *o, struct live_info *ret_info)
{
	struct source *s = NULL;
	struct error err = {0};

	if (live_new(&s, o, ret_info, &err) < 0)
		fail_msg("live_new: %s", err.text);
	return s;
}

void start_source(struct source *s)
{
	struct error err = {0};

	if (live_start(s, &err) < 0)
		fail_msg("live_start: %s", err.text);
}

void ride_out(struct storm *storm, struct stream *st, struct source *s)
{
	storm_go(storm);
	while (!storm_finished(storm))
		stream_take(st, s, 50);
}

void see_storm(struct source *s, struct storm *storm, struct stream *st)
{
	start_source(s);
	stream_init(st, storm->pid);
	ride_out(storm, st, s);
	live_stop(s);
	stream_take_all(st, s);
	storm_end(storm);
}

void assert_about(uint64_t got, uint64_t want, uint64_t extra)
{
	if (!want || got + want / 100 < want || got > want + want / 100 + extra)
		fail_msg("got %llu of %llu", (unsigned long long)got, (unsigned long long)want);
}

static long count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

int count_before(void **state)
{
	static long before;

	before = count_fds();
	*state = &before;
	return 0;
}

int count_after(void **state)
{
	const long *before = *state;

	if (count_fds() != *before || waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) {
		fprintf(stderr, "not cleaned up: %ld descriptors, or a child\n",
			count_fds() - *before);
		return -1;
	}
	return 0;
}
