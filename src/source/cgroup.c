// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control groups by path. The id in samples is the inode number of the group's directory (on 64-bit
 * kernels), so a walk over the mounted tree names all cgroups that exist; the kernel's
 * PERF_RECORD_CGROUP names later ones. The walk keeps one path buffer that grows and shrinks with
 * the depth; directories that vanish meanwhile are left out.
 *
 * struct cgroup_names is a cache of paths by id. A walk adds all cgroups, since a lookup of one is
 * mostly followed by lookups of others. A system that creates cgroups all the time would fill the
 * memory: so a full cache is cleared, and later lookups walk again.
 */
#include "kontend/cgroup.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, NAMES_MAX = 1 << 16 };

struct walk {
	int (*put)(void *arg, uint64_t id, const char *path);
	void *arg;
	char path[CGROUP_PATH];
	size_t root_len; /* of the mount's own path */
	int depth;
};

/* Does a line of mounts ("dev dir type options ...") name perf's hierarchy, @v2 or not? */
static bool line_matches(char *line, bool v2, const char **ret_dir)
{
	char *save = NULL;
	char *dev = strtok_r(line, " ", &save), *dir = strtok_r(NULL, " ", &save);
	char *type = strtok_r(NULL, " ", &save), *options = strtok_r(NULL, " ", &save);

	if (!dev || !options)
		return false;
	*ret_dir = dir;
	if (v2)
		return !strcmp(type, "cgroup2");
	return !strcmp(type, "cgroup") && strstr(options, "perf_event");
}

static int search(char *text, bool v2, char *ret_path, size_t size)
{
	char *next = NULL;
	const char *dir;

	for (char *line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (line_matches(line, v2, &dir) && strlen(dir) < size) {
			strcpy(ret_path, dir);
			return 0;
		}
	}
	return -ENOENT;
}

int cgroup_search(const char *mounts, char *ret_path, size_t size)
{
	int r = -ENOENT;

	for (int v2 = 0; v2 <= 1 && r == -ENOENT; v2++) {
		char *text;
		size_t len;
		r = fdio_read_file(mounts, &text, &len);
		if (r < 0)
			return r;
		r = search(text, v2, ret_path, size);
		mem_free(text);
	}
	return r;
}

static bool is_cgroup_dir(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC);
}

int cgroup_open(const char *name, struct error *err)
{
	char mount[CGROUP_PATH], path[CGROUP_PATH * 2 + 2];
	int fd = -1;

	if (cgroup_search("/proc/self/mounts", mount, sizeof(mount)) < 0)
		return error_set(err, -ENOENT,
				 "No cgroup2 file system is mounted, so cgroup %s cannot be found: "
				 "run 'mount -t cgroup2 none /sys/fs/cgroup'",
				 name);
	if (name[0] == '/')
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_cgroup_dir(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "%s/%s", mount, name + strspn(name, "/"));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	int code = -errno;
	return error_set(err, code, "No such cgroup: %s (%s: %s): see 'systemd-cgls' or 'ls %s'",
			 name, path, strerror(-code), mount);
}

int cgroup_id(const char *name, unsigned long long *ret, struct error *err)
{
	int fd = cgroup_open(name, err), code = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		code = error_errno(err, -errno, "Cannot read cgroup '%s'", name);
	else
		*ret = st.st_ino;
	close(fd);
	return code;
}

static int walk_dir(struct walk *w, int parent, const char *name);

/* The subdirectories of @d, which is w->path. */
static int walk_children(struct walk *w, DIR *d)
{
	struct dirent *e;
	int r = 0;

	while (r == 0 && (e = readdir(d)) != NULL) {
		size_t len = strlen(w->path);
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if (len + strlen(e->d_name) + 2 > sizeof(w->path))
			continue;
		sprintf(w->path + len, "/%s", e->d_name);
		r = walk_dir(w, dirfd(d), e->d_name);
		w->path[len] = '\0';
	}
	return r;
}

static int walk_dir(struct walk *w, int parent, const char *name)
{
	struct stat st;
	int r = 0;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	const char *below = w->path + w->root_len;
	if (fstat(fd, &st) == 0)
		r = w->put(w->arg, st.st_ino, *below ? below : "/");
	if (r == 0 && w->depth < DEPTH_MAX) {
		w->depth++;
		r = walk_children(w, d);
		w->depth--;
	}
	closedir(d);
	return r;
}

int cgroup_each(const char *mount, int (*put)(void *arg, uint64_t id, const char *path), void *arg)
{
	struct walk w = {.put = put, .arg = arg};

	snprintf(w.path, sizeof(w.path), "%s", mount);
	w.root_len = strlen(w.path);
	return walk_dir(&w, AT_FDCWD, mount);
}

static int put_sideband(void *arg, uint64_t id, const char *path)
{
	return sideband_cgroup(arg, id, path);
}

int cgroup_walk(const char *mount, struct sideband *s)
{
	return cgroup_each(mount, put_sideband, s);
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, len) && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

/* "ID:CONTROLLERS:PATH" a line; what no line has is in the unified hierarchy, which has ID 0. */
bool cgroup_is_memcg(char *text)
{
	char *save = NULL, *rest;
	bool unified = false, alone = false;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':');
		if (!list || !(rest = strchr(++list, ':')))
			continue;
		*rest = '\0';
		bool memory = has_word(list, "memory"), perf = has_word(list, "perf_event");
		if (memory && perf)
			return true;
		alone |= memory || perf;
		unified |= !strncmp(line, "0:", 2);
	}
	return unified && !alone;
}

bool cgroup_is_memcg_here(void)
{
	char text[4096];
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 && cgroup_is_memcg(text);
}

/* Two cgroups with one id do not occur in one hierarchy; the first would stay. */
static int add_cgroup_name(void *arg, uint64_t id, const char *path)
{
	struct cgroup_names *c = arg;

	if (map64_get(&c->at, id))
		return 0;
	const char *copy = path ? strpool_intern(&c->pool, path) : NULL;
	if ((path && !copy) || mem_grow(&c->paths, &c->cap, c->n, sizeof(*c->paths)) < 0 ||
	    map64_put(&c->at, id, (uint32_t)c->n) < 0)
		return -ENOMEM;
	c->paths[c->n++] = copy;
	return 0;
}

const char *cgroup_names_get(struct cgroup_names *c, const char *mounts, uint64_t id)
{
	const uint32_t *at = map64_get(&c->at, id);
	char mount[CGROUP_PATH];

	if (at)
		return c->paths[*at];
	if (c->n >= NAMES_MAX)
		cgroup_names_deinit(c);
	/* Out of memory: the next call searches again. */
	if (cgroup_search(mounts, mount, sizeof(mount)) == 0 &&
	    cgroup_each(mount, add_cgroup_name, c) < 0)
		return NULL;
	at = map64_get(&c->at, id);
	if (at)
		return c->paths[*at];
	(void)add_cgroup_name(c, id, NULL);
	return NULL;
}

void cgroup_names_deinit(struct cgroup_names *c)
{
	map64_deinit(&c->at);
	strpool_deinit(&c->pool);
	mem_free(c->paths);
	*c = (struct cgroup_names){0};
}
