// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend record` into a file takes a snapshot of slots and perf events at every tick: wherever
 * the recording has a tick, a snapshot of the same time precedes it. Ticks that were due at once,
 * because we had no CPU for so long, have one in common.
 *
 *     test-record-looks KONTEND
 */
#include "kontend/live.h"
#include "kontend/reader.h"
#include "kontend/snapshot.h"
#include "live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256 };

struct looks {
	uint64_t looked[MOST],
		groups[MOST]; /* times of snapshots; of the first tick of each group */
	size_t n_looked, n_groups;
	bool after_tick;
};

static void take_record(struct looks *l, const struct record *r)
{
	struct record_snapshot head;
	uint64_t time;

	if (r->kind == RECORD_SNAPSHOT && l->n_looked < MOST &&
	    snapshot_parse(r->data, r->len, &head)) {
		l->looked[l->n_looked++] = head.time_ns;
	} else if (r->kind == RECORD_TICK && !l->after_tick && l->n_groups < MOST) {
		memcpy(&time, r->data, sizeof(time));
		l->groups[l->n_groups++] = time;
	}
	/* On an idle machine there are only snapshots between ticks. */
	if (r->kind == RECORD_TICK || r->kind == RECORD_PERF || r->kind == RECORD_ROUND ||
	    r->kind == RECORD_SNAPSHOT)
		l->after_tick = r->kind == RECORD_TICK;
}

static bool is_looked_at(const struct looks *l, uint64_t time)
{
	for (size_t i = 0; i < l->n_looked; i++)
		if (l->looked[i] == time)
			return true;
	return false;
}

static bool read_all(const char *path, struct looks *l)
{
	struct reader_options o = {.path = path, .no_symbols = true};
	struct error err = {0};
	struct source *s;
	struct record r;
	int e = reader_new(&s, &o, &err);

	while (e == 0 && (e = source_next(s, 0, &r, &err)) == 0) {
		take_record(l, &r);
		source_release(s, &r);
	}
	if (e != SOURCE_END)
		printf("FAIL %s: %s\n", path, err.text);
	return e == SOURCE_END;
}

/* The last tick is the end of measuring, whenever that is. */
static int check(const char *kontend, const char *option)
{
	char path[] = "/tmp/kontend-looks-XXXXXX";
	int failures = 0, fd = mkstemp(path); /* for its name */
	const char *const argv[] = {kontend, "record", "-q",   "--duration", "6",
				    "-o",    path,     option, NULL};
	struct looks l = {0};
	struct live_run run;
	size_t missing = 0;

	live_check(&failures, fd >= 0 && close(fd) == 0 && unlink(path) == 0, "no name");
	live_run_start(&run, argv);
	live_run_end(&run);
	int status = live_run_code(&run);
	live_check(&failures, status == 0, "%s: status %d", option ? option : "by BPF", status);
	live_run_deinit(&run);
	if (!read_all(path, &l))
		failures++;
	for (size_t i = 0; i + 1 < l.n_groups; i++)
		missing += !is_looked_at(&l, l.groups[i]);
	printf("%s: %zu snapshots, %zu ticks, %zu of them without\n", option ? option : "by BPF",
	       l.n_looked, l.n_groups, missing);
	live_check(&failures, l.n_groups > 1 && l.n_looked > 1, "too few snapshots to judge");
	/* The kernel may refuse a look, and a stall of many ticks leaves some out. */
	live_check(&failures, missing * 3 <= l.n_groups, "%zu of %zu ticks without a snapshot",
		   missing, l.n_groups);
	unlink(path);
	return failures;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	live_need_root();
	return check(argv[1], NULL) + check(argv[1], "--no-bpf") != 0;
}
