// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recordings of stories, and the figures of their workloads, are parts of the program, so that
 * each story can be seen with any build of it, by any user. Readers get a file in memory.
 */
#include "kontend/fdio.h"
#include "kontend/story-figures.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDINGS(X)                                                                              \
	X(slots) X(faults) X(rotation) X(uprobes) X(mmap) X(fork) X(java) X(flock) X(cgroup)

#define DECLARE(name) extern const char story_data_##name[], story_data_##name##_end[];
RECORDINGS(DECLARE)
extern const char story_figures[], story_figures_end[]; /* share/stories/figures */

#define ENTRY(name) {#name, story_data_##name, story_data_##name##_end},

static const struct recording {
	const char *name, *data, *end;
} recordings[] = {RECORDINGS(ENTRY)};

static int open_recording(const struct recording *r)
{
	int fd = memfd_create(r->name, MFD_CLOEXEC);
	int code = fd < 0 ? -errno : fdio_write_all(fd, r->data, (size_t)(r->end - r->data));

	if (code >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return code;
}

int story_recording(const struct story *s, char ret[STORY_PATH], struct error *err)
{
	int fd = -ENOENT;

	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++)
		if (strcmp(recordings[i].name, s->name) == 0)
			fd = open_recording(&recordings[i]);
	snprintf(ret, STORY_PATH, "/proc/self/fd/%d", fd);
	if (fd >= 0 && access(ret, R_OK) == 0)
		return 0;
	int code = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
	return error_errno(err, code,
			   "The recording of the story '%s' needs a file in memory, and /proc",
			   s->name);
}

int story_figures_recorded(const struct story *s, struct story_figures *ret, struct error *err)
{
	int code = story_figures_parse(ret, s, story_figures,
				       (size_t)(story_figures_end - story_figures));

	return code < 0 ? error_errno(err, code, "Cannot read the figures of the recordings") : 0;
}
