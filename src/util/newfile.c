// SPDX-License-Identifier: GPL-2.0-only
/*
 * An O_TMPFILE is linked under a temporary name, as linkat() replaces nothing, and then renamed.
 * The link uses /proc/self/fd. Without /proc, and on file systems without O_TMPFILE, a file with a
 * temporary name is used, which remains if the program is killed.
 */
#include "kontend/newfile.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LETTERS = 6, TRIES = 100 };

static const char suffix[] = ".XXXXXX";

bool newfile_is_plain(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int newfile_folder(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char folder[PATH_MAX];

	*ret_name = name;
	if (!newfile_is_plain(name))
		return *name ? -EISDIR : -ENOENT;
	if (slash && (size_t)(slash - path) + 2 > sizeof(folder))
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Chooses another temporary name. */
static int choose(struct newfile *f)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char *to = f->temp + strlen(f->temp) - LETTERS;
	uint8_t random[LETTERS];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < LETTERS; i++)
		to[i] = letters[random[i] % (sizeof(letters) - 1)];
	return 0;
}

static int make_named(struct newfile *f)
{
	for (int i = 0; i < TRIES; i++) {
		int r = choose(f);
		if (r < 0)
			return r;
		int fd = openat(f->dir, f->temp_name,
				O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		f->has_name = fd >= 0;
		return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static int make_file(struct newfile *f)
{
	if (access("/proc/self/fd", X_OK) == 0) {
		int fd = openat(f->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	return make_named(f);
}

static int begin(struct newfile *f, const char *path, const char *name)
{
	if (f->dir < 0)
		return f->dir;
	f->name = mem_strdup(name);
	f->temp = mem_join(path, suffix);
	if (!f->name || !f->temp)
		return -ENOMEM;
	f->temp_name = f->temp + (name - path);
	f->fd = make_file(f);
	return f->fd < 0 ? f->fd : 0;
}

int newfile_open(struct newfile *f, const char *path)
{
	const char *name;

	*f = (struct newfile){.fd = -1};
	f->dir = newfile_folder(path, &name);
	int r = begin(f, path, name);

	if (r < 0)
		newfile_deinit(f);
	return r;
}

int newfile_open_in(struct newfile *f, int dir, const char *name)
{
	*f = (struct newfile){.fd = -1};
	f->dir = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	if (f->dir < 0)
		f->dir = -errno;
	int r = begin(f, name, name);

	if (r < 0)
		newfile_deinit(f);
	return r;
}

bool newfile_is_taken(const struct newfile *f)
{
	return faccessat(f->dir, f->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int newfile_name(struct newfile *f)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	for (int i = 0; i < TRIES && !f->has_name; i++) {
		int r = choose(f);
		if (r < 0)
			return r;
		f->has_name = linkat(AT_FDCWD, link, f->dir, f->temp_name, AT_SYMLINK_FOLLOW) == 0;
		if (!f->has_name && errno != EEXIST)
			return -errno;
	}
	return f->has_name ? 0 : -EEXIST;
}

int newfile_put(struct newfile *f)
{
	int r = newfile_name(f);

	if (r == 0 && renameat(f->dir, f->temp_name, f->dir, f->name) < 0) {
		r = -errno;
		newfile_drop(f);
	}
	f->has_name = false;
	return r;
}

/* Some file systems lack renameat2() with flags, others lack links. */
static int rename_new(struct newfile *f)
{
	/* Older C libraries lack the function. */
	if (syscall(SYS_renameat2, f->dir, f->temp_name, f->dir, f->name, RENAME_NOREPLACE) == 0) {
		f->has_name = false;
		return 0;
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return linkat(f->dir, f->temp_name, f->dir, f->name, 0) < 0 ? -errno : 0;
}

int newfile_put_new(struct newfile *f)
{
	char link[40];
	int r;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	if (f->has_name)
		r = rename_new(f);
	else
		r = linkat(AT_FDCWD, link, f->dir, f->name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
	newfile_drop(f);
	return r;
}

int newfile_drop(struct newfile *f)
{
	bool had = f->has_name;

	f->has_name = false;
	return had && unlinkat(f->dir, f->temp_name, 0) < 0 ? -errno : 0;
}

void newfile_deinit(struct newfile *f)
{
	if (f->dir > 0)
		close(f->dir);
	mem_free(f->temp);
	mem_free(f->name);
	*f = (struct newfile){.dir = -1, .fd = -1};
}
