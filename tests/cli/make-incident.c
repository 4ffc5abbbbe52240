// SPDX-License-Identifier: GPL-2.0-only
/* Writes two files of incidents out of a canned stream. Called as: make-incident FOLDER. */
#include "../../src/incidents/incident-file.h"
#include "canned.h"
#include "kontend/mem.h"
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

static void pass(struct source *b)
{
	struct error err = {0};
	struct record r;

	while (source_next(b, 0, &r, &err) == 0)
		source_release(b, &r);
}

static void write_one(const char *folder, struct source *b, const struct incident *in,
		      uint64_t wall_ns)
{
	static const char *const argv[] = {"kontend", "record", NULL};
	const struct incident_options o = {.dir = folder, .argv = argv, .zstd_level = 3};
	struct incident_job *j = mem_calloc(1, sizeof(*j));
	struct error err = {0};

	if (!j || backlog_take(b, in->from_ns, wall_ns - (in->fired_ns - in->from_ns), &j->taken,
			       &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	j->incident = *in;
	j->wall_ns = wall_ns;
	if (incident_file_write(&o, j) < 0) {
		fprintf(stderr, "%s\n", j->err.text);
		exit(1);
	}
	incident_job_free(j);
}

int main(int argc, char **argv)
{
	const uint64_t wall = 1795230847 * SECOND; /* 21 Nov 2026 03:14:07 UTC */
	struct rig rig;
	struct incident in = {
		.fired_ns = CANNED_START + 300 * CANNED_MS,
		.begin_ns = CANNED_START + 200 * CANNED_MS,
		.end_ns = CANNED_START + 2000 * CANNED_MS,
		.from_ns = CANNED_START,
		.to_ns = CANNED_START + 3000 * CANNED_MS,
		.worst_ns = 1800 * CANNED_MS,
		.lock = 0xffff8881deadbe00,
		.pid = 800,
		.tid = 871,
		.holder_pid = 800,
		.holder_tid = 812,
		.more = 3,
		.expr = "wait>300ms",
		.fired = "wait 312ms",
		.lock_name = "mmap_lock mysqld/800",
		.task = "mysqld",
		.because = "mysqld/812 runs",
	};
	struct incident hand = {
		.fired_ns = CANNED_START + 400 * CANNED_MS,
		.begin_ns = CANNED_START + 400 * CANNED_MS,
		.end_ns = CANNED_START + 400 * CANNED_MS,
		.from_ns = CANNED_START + 100 * CANNED_MS,
		.to_ns = CANNED_START + 3000 * CANNED_MS,
		.flags = INCIDENT_BY_HAND | INCIDENT_SHORT,
		.expr = "by hand",
		.fired = "by hand",
	};
	struct error err = {0};
	struct source *b;

	canned_init(&rig);
	if (argc != 2 || backlog_new(&b, synth_source(rig.synth), NULL, &err) < 0)
		return 2;
	pass(b);
	write_one(argv[1], b, &in, wall);
	write_one(argv[1], b, &hand, wall + 384 * SECOND);
	/* Clocks are set: the same name. */
	write_one(argv[1], b, &hand, wall + 384 * SECOND);
	source_free(b);
	synth_free(rig.synth);
	return 0;
}
