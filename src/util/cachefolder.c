// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each folder on the way that is ours to make is opened without following links and looked at by
 * its descriptor, so that what was looked at is what is used.
 */
#include "kontend/cachefolder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whoever else could write there could tell us names, or have us write elsewhere. */
bool cachefolder_is_ours(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* @name in folder @in, which is closed. A descriptor or a negative errno, which @in may be. */
static int enter(int in, const char *name, bool create)
{
	int fd = in;

	if (in < 0 && in != AT_FDCWD)
		return in;
	if (create && mkdirat(in, name, 0700) && errno != EEXIST)
		fd = -errno;
	else if ((fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		fd = -errno;
	if (in >= 0)
		close(in);
	if (fd < 0 || cachefolder_is_ours(fd, S_IFDIR))
		return fd;
	close(fd);
	return -EPERM;
}

int cachefolder_open(bool create)
{
	const char *own = getenv("KONTEND_CACHE"), *base = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");

	if (own)
		return own[0] == '/' ? enter(AT_FDCWD, own, create) : -ENOENT;
	if (base && base[0] == '/')
		return enter(enter(AT_FDCWD, base, false), "kontend", create);
	if (!home || home[0] != '/')
		return -ENOENT;
	return enter(enter(enter(AT_FDCWD, home, false), ".cache", create), "kontend", create);
}

int cachefolder_open_sub(const char *name, bool create)
{
	return enter(cachefolder_open(create), name, create);
}

bool cachefolder_path(const char *name, char *ret, size_t size)
{
	const char *own = getenv("KONTEND_CACHE"), *base = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	int n = -1;

	if (own)
		n = own[0] == '/' ? snprintf(ret, size, "%s/%s", own, name) : -1;
	else if (base && base[0] == '/')
		n = snprintf(ret, size, "%s/kontend/%s", base, name);
	else if (home && home[0] == '/')
		n = snprintf(ret, size, "%s/.cache/kontend/%s", home, name);
	return n > 0 && (size_t)n < size;
}
