// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each folder of kontend's own is opened without following links and checked by its descriptor, so
 * that the checked folder is the one that is used.
 * Several kontend processes may free space at once: a file that is already gone is no error, and a
 * mapped file stays until it is unmapped.
 */
#include "cachedir.h"
#include "kontend/cachefile.h"
#include "kontend/mem.h"
#include "kontend/statefolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MOST = 1 << 16, FORGOTTEN_S = 3600 };

/* Another user who can write there could supply false names, or redirect kontend's writes. */
bool cachedir_is_ours(int fd, mode_t type, bool or_of_root)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type &&
	       (st.st_uid == geteuid() || (or_of_root && st.st_uid == 0)) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Opens @name in folder @in, which is closed. A descriptor or a negative errno, which @in may be.
 */
static int enter_for(bool for_all, int in, const char *name, bool create)
{
	int fd = in;

	if (in < 0 && in != AT_FDCWD)
		return in;
	if (create && mkdirat(in, name, for_all ? 0755 : 0700) && errno != EEXIST)
		fd = -errno;
	/* Without permission to read the folder, it may still be searched. */
	else if ((fd = openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		fd = -errno;
	if (in >= 0)
		close(in);
	if (fd < 0 || cachedir_is_ours(fd, S_IFDIR, for_all))
		return fd;
	close(fd);
	return -EPERM;
}

int cachedir_enter(int in, const char *name, bool create)
{
	return enter_for(false, in, name, create);
}

const char *cachedir_from(const char *variable)
{
	const char *path = getenv(variable);

	return path && path[0] == '/' ? path : NULL;
}

static int open_top(bool create)
{
	const char *own = getenv("KONTEND_CACHE"), *base = cachedir_from("XDG_CACHE_HOME"),
		   *home = cachedir_from("HOME");

	if (own)
		return own[0] == '/' ? cachedir_enter(AT_FDCWD, own, create) : -ENOENT;
	if (base)
		return cachedir_enter(cachedir_enter(AT_FDCWD, base, false), "kontend", create);
	if (!home)
		return -ENOENT;
	return cachedir_enter(
		cachedir_enter(cachedir_enter(AT_FDCWD, home, false), ".cache", create), "kontend",
		create);
}

int cachedir_open(const char *sub, bool create)
{
	if (cachedir_is_for_all(sub))
		return enter_for(true, AT_FDCWD, sub, create);
	int top = open_top(create);
	return sub ? cachedir_enter(top, sub, create) : top;
}

bool cachefile_path(const char *name, char *ret, size_t size)
{
	const char *own = getenv("KONTEND_CACHE"), *base = cachedir_from("XDG_CACHE_HOME"),
		   *home = cachedir_from("HOME");
	int n = -1;

	if (own)
		n = own[0] == '/' ? snprintf(ret, size, "%s/%s", own, name) : -1;
	else if (base)
		n = snprintf(ret, size, "%s/kontend/%s", base, name);
	else if (home)
		n = snprintf(ret, size, "%s/.cache/kontend/%s", home, name);
	return n > 0 && (size_t)n < size;
}

struct file {
	struct timespec used;
	uint64_t size;
	char name[CACHEFILE_NAME];
};

struct files {
	struct file *files;
	size_t n, cap;
	uint64_t size;
};

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static int look_at(struct files *f, int fd, const char *name)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	/* A process that is still writing one has begun it recently. */
	if (ends_in(name, ".new") && st.st_mtim.tv_sec + FORGOTTEN_S < time(NULL))
		unlinkat(fd, name, 0);
	if (!ends_in(name, ".syms") || strlen(name) >= CACHEFILE_NAME || f->n >= FILES_MOST)
		return 0;
	if (mem_grow(&f->files, &f->cap, f->n, sizeof(*f->files)) < 0)
		return -ENOMEM;
	struct file *k = &f->files[f->n++];
	*k = (struct file){.used = st.st_mtim, .size = (uint64_t)st.st_size};
	strcpy(k->name, name);
	f->size += k->size;
	return 0;
}

static int list(struct files *f, int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = again < 0 ? NULL : fdopendir(again);

	if (!d) {
		r = -errno;
		if (again >= 0)
			close(again);
		return r;
	}
	for (struct dirent *e; r == 0 && (e = readdir(d));)
		r = look_at(f, fd, e->d_name);
	closedir(d);
	return r;
}

static bool is_older(const struct file *a, const struct file *b)
{
	return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec
						: a->used.tv_nsec < b->used.tv_nsec;
}

static void remove_oldest(struct files *f, int fd)
{
	struct file *oldest = f->files;

	for (size_t i = 1; i < f->n; i++)
		if (is_older(&f->files[i], oldest))
			oldest = &f->files[i];
	unlinkat(fd, oldest->name, 0);
	f->size -= oldest->size;
	*oldest = f->files[--f->n];
}

int cachedir_make_room(int folder, uint64_t need, uint64_t most)
{
	struct files f = {0};
	int r = need > most ? -EFBIG : list(&f, folder);

	while (r == 0 && f.n && f.size + need > most)
		remove_oldest(&f, folder);
	mem_free(f.files);
	return r;
}

int cachefile_usage(const char *folder, size_t *ret_n, uint64_t *ret_size)
{
	int fd = cachedir_open(folder, false);
	struct files f = {0};

	if (fd < 0)
		return fd;
	int r = list(&f, fd);
	close(fd);
	mem_free(f.files);
	*ret_n = f.n;
	*ret_size = f.size;
	return r;
}

/* Opens folder by folder, each from the descriptor of its parent, as cache files do. */

static int failed(int code, const char *path, struct error *err)
{
	if (code == -EPERM)
		return error_set(
			err, code,
			"the folder '%s' belongs to another user, or other users may write to it",
			path);
	return error_errno(err, code, "cannot use the folder '%s'", path);
}

/* Appends "/@name". False: no room. */
static bool append(char *path, size_t size, const char *name)
{
	size_t len = strlen(path);
	int n = snprintf(path + len, size - len, "/%s", name);

	return n > 0 && (size_t)n < size - len;
}

int statefolder_open(char *ret_path, size_t size, struct error *err)
{
	static const char *const below[] = {".local", "state", "kontend"};
	const char *base = cachedir_from("XDG_STATE_HOME"), *home = cachedir_from("HOME");
	size_t at = base ? 2 : 0;
	int fd;

	if (!base && !home)
		return error_set(err, -ENOENT,
				 "no folder for saved files: set XDG_STATE_HOME or HOME");
	if ((size_t)snprintf(ret_path, size, "%s", base ? base : home) >= size)
		return error_errno(err, -ENAMETOOLONG, "%.40s", base ? base : home);
	fd = cachedir_enter(AT_FDCWD, ret_path, base != NULL);
	for (; fd >= 0 && at < sizeof(below) / sizeof(*below); at++) {
		if (!append(ret_path, size, below[at])) {
			close(fd);
			return failed(-ENAMETOOLONG, ret_path, err);
		}
		fd = cachedir_enter(fd, below[at], true);
	}
	return fd < 0 ? failed(fd, ret_path, err) : fd;
}
