// SPDX-License-Identifier: GPL-2.0-only
/*
 * Room in the folder of tables. Several of us may do this at once: a file that is gone meanwhile is
 * no error, and one that is mapped stays until it is not.
 */
#include "kontend/cachefolder.h"
#include "kontend/mem.h"
#include "symcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MOST = 1 << 16, FORGOTTEN_S = 3600 };

struct kept {
	struct symcache_file file;
	char name[2 * SYMCACHE_ID_MOST + 8];
};

struct folder {
	struct kept *files;
	size_t n, cap;
	uint64_t size;
};

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static int look_at(struct folder *f, int fd, const char *name)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	/* Who writes one now has begun it lately. */
	if (ends_in(name, ".new") && st.st_mtim.tv_sec + FORGOTTEN_S < time(NULL))
		unlinkat(fd, name, 0);
	if (!ends_in(name, ".syms") || strlen(name) >= sizeof(f->files->name) || f->n >= FILES_MOST)
		return 0;
	if (mem_grow(&f->files, &f->cap, f->n, sizeof(*f->files)) < 0)
		return -ENOMEM;
	struct kept *k = &f->files[f->n++];
	k->file = symcache_file_of(&st);
	strcpy(k->name, name);
	f->size += k->file.size;
	return 0;
}

static int list(struct folder *f, int fd)
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

static void remove_oldest(struct folder *f, int fd)
{
	size_t oldest = 0;

	for (size_t i = 1; i < f->n; i++)
		if (f->files[i].file.mtime_ns < f->files[oldest].file.mtime_ns)
			oldest = i;
	unlinkat(fd, f->files[oldest].name, 0);
	f->size -= f->files[oldest].file.size;
	f->files[oldest] = f->files[--f->n];
}

int symcache_evict(int folder, uint64_t need, uint64_t most)
{
	struct folder f = {0};
	int r = need > most ? -EFBIG : list(&f, folder);

	while (r == 0 && f.n && f.size + need > most)
		remove_oldest(&f, folder);
	mem_free(f.files);
	return r;
}

int symcache_usage(size_t *ret_n, uint64_t *ret_size)
{
	int folder = cachefolder_open_sub("symbols", false);
	struct folder f = {0};

	if (folder < 0)
		return folder;
	int r = list(&f, folder);
	close(folder);
	mem_free(f.files);
	*ret_n = f.n;
	*ret_size = f.size;
	return r;
}
