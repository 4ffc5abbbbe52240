// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds perf descriptors by the names in /proc/PID/fd. Processes start and end meanwhile: those
 * that have vanished are left out, as are those of other users without the right to read them.
 */
#include "internal.h"
#include "kontend/number.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A name as a number; -1: it is none. */
static int32_t number_of(const char *name)
{
	uint64_t n;

	return number_parse(name, 0, INT32_MAX, &n) < 0 ? -1 : (int32_t)n;
}

static int is_perf(int dir, const char *name)
{
	static const char perf[] = "anon_inode:[perf_event]";
	char target[sizeof(perf)];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	return n == (ssize_t)sizeof(perf) - 1 && memcmp(target, perf, (size_t)n) == 0;
}

static void read_comm(const char *root, int32_t pid, char *comm, size_t size)
{
	char path[300], raw[64];

	snprintf(path, sizeof(path), "%s/%d/comm", root, pid);
	if (sysinfo_read(path, raw, sizeof(raw)) < 0)
		raw[0] = '\0';
	text_clean(comm, size, raw);
}

int fdscan(const char *root, int (*found)(void *arg, int32_t pid, int32_t fd, const char *comm),
	   void *arg)
{
	DIR *all = opendir(root);
	struct dirent *p, *f;
	int code = 0;

	if (!all)
		return -errno;
	while (!code && (p = readdir(all))) {
		char path[600], comm[64] = "";
		int32_t pid = number_of(p->d_name);
		snprintf(path, sizeof(path), "%s/%s/fd", root, p->d_name);
		DIR *fds = pid > 0 ? opendir(path) : NULL;
		while (fds && !code && (f = readdir(fds))) {
			if (number_of(f->d_name) < 0 || !is_perf(dirfd(fds), f->d_name))
				continue;
			if (!comm[0])
				read_comm(root, pid, comm, sizeof(comm));
			code = found(arg, pid, number_of(f->d_name), comm);
		}
		if (fds)
			closedir(fds);
	}
	closedir(all);
	return code;
}
