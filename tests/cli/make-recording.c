// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes recordings for the tests of the command line: the canned stream as a file and as it goes
 * through a pipe, another one (shorter, on another machine as far as addresses go), and three as
 * perf writes them, of which one goes through a pipe and one has the head of another. Called as:
 * make-recording FOLDER.
 */
#include "canned.h"
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
	return 0;
}
