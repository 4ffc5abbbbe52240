// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of processes from /proc/PID/maps, as the records that the kernel would have written at
 * the time of the mapping, with its names. Lines are "start-end perms offset major:minor inode
 * path". Mappings that are not executable are left out unless the caller requests them.
 *
 * A reader of this file waits for the mmap_lock. Where that hangs, kontend is to show it, and not
 * to hang as well: the processes are read one after the other in a thread, and one that makes it
 * wait is left out, with that thread. The next thread continues with the next process. `mutex`
 * guards the records that have been read.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/notes.h"
#include "kontend/patience.h"
#include "kontend/procfs.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LEFT_MOST = 32 }; /* threads; each costs a tenth of a second */

struct scan {
	pthread_mutex_t mutex;
	int users;
	char *root;
	pid_t *pids;
	size_t n, at;
	struct sideband read;
	int code;
	bool is_left;
};

/* The kernel's name, where the table has none or another one. */
static const char *mapping_name(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(deleted) - 1;

	if (!*path)
		return "//anon";
	if (strncmp(path, "/memfd:", 7) != 0 && n > tail && !strcmp(path + n - tail, deleted))
		path[n - tail] = '\0';
	return path;
}

static int add_mapping(char *line, pid_t pid, struct sideband *s)
{
	struct sideband_mmap m = {.pid = pid};
	uint64_t end;
	char perms[8];
	int at = 0;

	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &m.start, &end, perms, &m.pgoff, &m.maj, &m.min, &m.ino, &at) < 7 ||
	    !at || end <= m.start || (perms[2] != 'x' && !s->data_maps))
		return 0;
	if (!strcmp(line + at, "[vsyscall]"))
		return 0;
	m.len = end - m.start;
	m.readable = perms[0] == 'r';
	m.code = perms[2] == 'x';
	m.shared = perms[3] == 's';
	m.writable = perms[1] == 'w';
	m.path = mapping_name(line + at);
	return sideband_mmap(s, &m);
}

static int add_text(char *text, pid_t pid, struct sideband *s)
{
	char *save, *line = strtok_r(text, "\n", &save);
	int r = 0;

	for (; r >= 0 && line; line = strtok_r(NULL, "\n", &save))
		r = add_mapping(line, pid, s);
	return r < 0 ? r : 0;
}

/* A process that is gone, or that may not be read, has no mappings. */
static int read_text(const char *root, pid_t pid, char **ret)
{
	char path[PATH_MAX];
	size_t len;

	snprintf(path, sizeof(path), "%s/%d/maps", root, pid);
	int r = fdio_read_file(path, ret, &len);
	if (r < 0)
		*ret = NULL;
	return r == -ENOMEM ? r : 0;
}

static void drop(void *arg)
{
	struct scan *s = arg;

	pthread_mutex_lock(&s->mutex);
	bool is_last = --s->users == 0;
	pthread_mutex_unlock(&s->mutex);
	if (!is_last)
		return;
	pthread_mutex_destroy(&s->mutex);
	sideband_deinit(&s->read);
	mem_free(s->root);
	mem_free(s->pids);
	mem_free(s);
}

static void work(void *arg)
{
	struct scan *s = arg;
	char *text;

	pthread_mutex_lock(&s->mutex);
	while (!s->is_left && s->code == 0 && s->at < s->n) {
		pid_t pid = s->pids[s->at];
		pthread_mutex_unlock(&s->mutex);
		int code = read_text(s->root, pid, &text);
		pthread_mutex_lock(&s->mutex);
		if (!s->is_left) {
			s->code = code == 0 && text ? add_text(text, pid, &s->read) : code;
			s->at++;
		}
		mem_free(text);
	}
	pthread_mutex_unlock(&s->mutex);
}

static struct scan *begin(const char *root, const pid_t *pids, size_t n, const struct sideband *to)
{
	struct scan *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->mutex, NULL);
	s->users = 1;
	s->root = mem_strdup(root);
	s->pids = mem_dup(pids, n, sizeof(*pids));
	s->n = n;
	s->read.id = to->id;
	s->read.data_maps = to->data_maps;
	if (s->root && s->pids)
		return s;
	drop(s);
	return NULL;
}

/* Hands over what has been read, and how many processes that was. */
static int take(struct scan *s, struct sideband *to, size_t *ret_n)
{
	pthread_mutex_lock(&s->mutex);
	s->is_left = true;
	int r = s->code < 0 ? s->code : sideband_append(to, &s->read);
	*ret_n = s->at;
	pthread_mutex_unlock(&s->mutex);
	return r;
}

/* As far as one thread comes: @ret_n of the processes, without the one that makes it wait. */
static int scan_some(const char *root, const pid_t *pids, size_t n, struct sideband *to,
		     size_t *ret_n)
{
	struct scan *s = begin(root, pids, n, to);

	if (!s)
		return -ENOMEM;
	s->users++;
	int r = patience_run(work, drop, s);
	if (r < 0 && r != -ETIMEDOUT)
		work(s); /* without a thread: with the risk to wait */
	if (r != -ETIMEDOUT)
		s->users--;
	r = take(s, to, ret_n);
	drop(s);
	return r;
}

int procfs_maps(const char *root, const pid_t *pids, size_t n, struct sideband *s, size_t *ret_left)
{
	size_t at = 0, done = 0, left = 0;
	int r = 0;

	while (r == 0 && at < n && left < LEFT_MOST) {
		r = scan_some(root, pids + at, n - at, s, &done);
		at += done;
		left += r == 0 && at < n;
		at += r == 0 && at < n;
	}
	*ret_left = left + (n - at);
	return r;
}

int procfs_maps_all(const char *root, struct sideband *s, size_t *ret_left)
{
	pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	int r = procfs_pids(root, &pids, &n, &cap);

	*ret_left = 0;
	if (r == 0 && n)
		r = procfs_maps(root, pids, n, s, ret_left);
	mem_free(pids);
	return r;
}

size_t procfs_maps_note(size_t left, char ret[PROCFS_NOTE])
{
	const struct record_note is = {.kind = NOTE_OTHER, .offset = NOTE_NOWHERE};
	int n = snprintf(ret, PROCFS_NOTE - sizeof(is),
			 "%zu process%s left out when mappings were read, as /proc/PID/maps waits "
			 "for the mmap_lock: functions of such programs have no names",
			 left, left == 1 ? " was" : "es were");

	memcpy(ret + n + 1, &is, sizeof(is));
	return (size_t)n + 1 + sizeof(is);
}
