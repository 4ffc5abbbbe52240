// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording for users without one: a file that is installed, or in a program of one file a part
 * of it, which readers get as a file in memory.
 */
#include "sample.h"
#include "kontend/fdio.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef KONTEND_PORTABLE

extern const char sample_object[], sample_object_end[]; /* src/inspect/bpf-object.S */

int sample_path(char ret[SAMPLE_PATH], struct error *err)
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

int sample_path(char ret[SAMPLE_PATH], struct error *err)
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
