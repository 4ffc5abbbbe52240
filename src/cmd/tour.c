// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend tour`: the screen with callouts. It shows the demo, or a recording: one that is named,
 * or, for users who may not measure, the sample: a file that is installed, or in a program of one
 * file a part of it, which readers get as a file in memory.
 */
#include "kontend/fdio.h"
#include "kontend/privs.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLE_PATH = 4096 };

/* A name by which the sample recording can be read while this process lives. */
#ifdef KONTEND_PORTABLE

extern const char sample_object[], sample_object_end[]; /* src/inspect/bpf-object.S */

static int sample_path(char ret[SAMPLE_PATH], struct error *err)
{
	int fd = memfd_create("storm.data", MFD_CLOEXEC);
	int r = fd < 0 ? -errno
		       : fdio_write_all(fd, sample_object,
					(size_t)(sample_object_end - sample_object));

	snprintf(ret, SAMPLE_PATH, "/proc/self/fd/%d", fd);
	if (r >= 0 && access(ret, R_OK) == 0)
		return 0;
	r = r < 0 ? r : -errno;
	if (fd >= 0)
		close(fd);
	return error_errno(
		err, r,
		"You may not measure here, and the recording for the tour needs a file in "
		"memory and /proc; give one, as in 'kontend tour kontend.data'");
}

#else

static int sample_path(char ret[SAMPLE_PATH], struct error *err)
{
	snprintf(ret, SAMPLE_PATH, "%s", KONTEND_SAMPLE);
	if (access(ret, R_OK) == 0)
		return 0;
	return error_errno(
		err, -errno,
		"You may not measure here, and the recording for the tour, %s, cannot be read; "
		"give one, as in 'kontend tour kontend.data'",
		ret);
}

#endif

/* The incident of the tour: the demo holds locks for so long, now and then. */
static const char caught[] = "wait>300ms";

static bool may_measure(void)
{
	uint64_t have = privs_now();

	return have & (1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN);
}

int cmd_tour(const struct opts *o)
{
	struct opts screen = *o;
	char sample[SAMPLE_PATH];
	struct error err = {0};

	screen.tour = true;
	screen.triggers[0] = caught;
	if (o->topic || !may_measure()) {
		screen.verb = VERB_REPLAY;
		if (!o->topic && sample_path(sample, &err) < 0)
			return cmd_fail(CMD_EXIT_FAILURE, &err);
		screen.topic = o->topic ? o->topic : sample;
		return cmd_replay(&screen);
	}
	screen.verb = VERB_LIVE;
	screen.demo = true;
	return cmd_live(&screen);
}
