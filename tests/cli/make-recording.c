// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes recordings for the tests of the command line: the canned stream as a file and as it goes
 * through a pipe, another one (shorter, on another machine as far as addresses go), one whose names
 * become known at its end, and three as perf writes them, of which one goes through a pipe and one
 * has the head of another. Called as: make-recording FOLDER.
 */
#include "canned.h"
#include "lock-snaps.h"
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>

static void save(const char *folder, const char *name, struct recording r)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (!f || fwrite(r.data, 1, r.len, f) != r.len || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
	recording_free(&r);
}

static struct synth *other_stream(void)
{
	struct synth *s = synth_new(1);
	uint64_t frames[] = {synth_addr(SYNTH_MUTEX_LOCK), synth_addr(SYNTH_PIPE_WRITE),
			     synth_addr(SYNTH_VFS_WRITE)};
	uint64_t t = CANNED_START;

	synth_prologue(s, synth_kallsyms);
	synth_comm(s, 0, 0, 7, 7, "writer");
	synth_round(s, t);
	for (unsigned i = 0; i < 10; i++) {
		synth_begin(s, 0, t + i * CANNED_MS, 7, 7, 0xffff8881deadbe00, LCB_F_MUTEX, frames,
			    3);
		synth_end(s, 0, t + i * CANNED_MS + 500000, 7, 7, 0xffff8881deadbe00, 0);
	}
	synth_tick(s, t + 1000 * CANNED_MS);
	return s;
}

enum { LATE_TASKS = 4, LATE_WAITS = 200, LATE_LOCKS = 5, LATE_CGROUP = 99 };

static const uint32_t late_flags[LATE_LOCKS] = {LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX, LCB_F_MUTEX,
						LCB_F_SPIN};

/* Readers and writers of one lock, two mutexes, of which one is never named, and a spinlock. */
static uint64_t late_lock(unsigned which)
{
	return 0xffff888000001000 + (which ? which - 1 : 0) * 256;
}

/* Each task waits on a CPU of its own; the task with most waits for the nameless mutex changes. */
static void late_wait(struct synth *s, unsigned i, uint64_t t)
{
	uint32_t cpu = i % LATE_TASKS;
	unsigned which = i / LATE_TASKS % LATE_LOCKS;
	bool later = i > LATE_WAITS / 2;
	const uint64_t frames[] = {synth_addr(SYNTH_MUTEX_LOCK),
				   synth_addr(later ? SYNTH_PIPE_WRITE : SYNTH_PIPE_READ),
				   synth_addr(later ? SYNTH_VFS_WRITE : SYNTH_VFS_READ)};
	uint64_t ns = (i % 7 + 1) * (later ? 90000 : 10000) + i;
	int tid = 70 + (int)cpu;

	synth_begin(s, cpu, t, 70, tid, late_lock(which), late_flags[which], frames, 3);
	synth_end(s, cpu, t + ns, 70, tid, late_lock(which), 0);
}

static struct synth *late_names_stream(void)
{
	struct synth *s = synth_new(LATE_TASKS);
	struct locksnap snap = {0};
	uint64_t t = CANNED_START;

	synth_prologue(s, synth_kallsyms);
	synth_set_cgroup(s, LATE_CGROUP);
	for (int i = 0; i < LATE_TASKS; i++)
		synth_comm(s, (uint32_t)i, t, 70, 70 + i, "young");
	synth_round(s, t);
	for (unsigned i = 0; i < LATE_WAITS; i++) {
		t += CANNED_MS;
		late_wait(s, i, t);
		if (i % 50 == 49)
			synth_tick(s, t + CANNED_MS / 2 + CANNED_MS / 4);
	}
	lock_snap_name(&snap, late_lock(0), LOCKSNAP_INODE, -1, 70, "young", "/srv/late", 0);
	lock_snap_name(&snap, late_lock(2), LOCKSNAP_PIPE, -1, 70, "young", "", 0);
	lock_snap_emit(s, &snap, t + CANNED_MS);
	synth_comm(s, 1, t + CANNED_MS, 70, 71, "old");
	synth_cgroup(s, 0, t + CANNED_MS, LATE_CGROUP, "/late.slice");
	synth_tick(s, t + 2 * CANNED_MS);
	return s;
}

int main(int argc, char **argv)
{
	struct recording headed;
	struct rig canned;
	struct synth *other;

	if (argc != 2)
		return 1;
	canned_init(&canned);
	save(argv[1], "canned.data", recording_written(synth_source(canned.synth), 0));
	rig_deinit(&canned);
	canned_init(&canned);
	save(argv[1], "pipe.data", recording_written(synth_source(canned.synth), RECORDING_PIPE));
	rig_deinit(&canned);
	canned_init(&canned);
	save(argv[1], "perf.data", recording_perf(canned.synth, RECORDING_PIPE));
	rig_deinit(&canned);
	canned_init(&canned);
	save(argv[1], "file.data", recording_perf(canned.synth, 0));
	rig_deinit(&canned);
	canned_init(&canned);
	headed = recording_perf(canned.synth, 0);
	recording_tell_span(&headed, CANNED_START, 1000 * CANNED_START);
	save(argv[1], "head.data", headed);
	rig_deinit(&canned);
	other = other_stream();
	save(argv[1], "other.data", recording_written(synth_source(other), 0));
	synth_free(other);
	other = late_names_stream();
	save(argv[1], "late.data", recording_written(synth_source(other), 0));
	synth_free(other);
	return 0;
}
