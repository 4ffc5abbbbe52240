/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_ASLEEP_H
#define KONTEND_TESTS_ASLEEP_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/*
 * By a child of vfork(), until process @pid sleeps: a function of the kernel in which it does so is
 * known only then. Ends the child if that cannot be read.
 */
static inline void wait_until_asleep(pid_t pid)
{
	const struct timespec settle = {.tv_nsec = 1000000};
	char path[40], text[64] = "0";

	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	while (text[0] == '0' && !text[1]) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (n < 0)
			_exit(1);
		text[n] = 0;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &settle, NULL);
	}
}

#endif
