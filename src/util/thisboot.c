// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identifies a boot by the kernel release and its start time, the difference between the clocks. It
 * is unlikely that two machines with a common recording booted within the same seconds.
 */
#include "kontend/thisboot.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Clocks are adjusted while a machine runs. */
static const uint64_t DRIFT_NS = 5000000000;

bool thisboot_saw(const char *release, uint64_t wall_ns, uint64_t clock_then_ns)
{
	/* Times in a file may be any number: differences wrap around both ways. */
	uint64_t then = wall_ns - clock_then_ns;
	uint64_t now = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	struct utsname u;

	return wall_ns && uname(&u) == 0 && !strcmp(u.release, release) &&
	       then - now + DRIFT_NS < 2 * DRIFT_NS;
}

int thisboot_id(char ret[THISBOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(ret, 0, THISBOOT_ID);
	if (fd < 0)
		return -errno;
	ssize_t n = fdio_read(fd, ret, THISBOOT_ID - 1);
	int r = n < 0 ? -errno : n ? 0 : -ENODATA;
	close(fd);
	if (n > 0 && ret[n - 1] == '\n')
		ret[n - 1] = '\0';
	return r;
}
