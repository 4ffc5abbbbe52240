// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads tasks from /proc. Every file may vanish between readdir() and open(), so tasks that cannot
 * be opened are left out. The identity of a task is (id, start time). The start time is field 22 of
 * its stat file, after the comm, which may contain blanks and parentheses: so fields are counted
 * from the last ')'.
 */
#include "kontend/procfs.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/sysinfo.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMM_SIZE = 128, COMM_KEPT = 15 };

/* A positive decimal number and nothing else; 0 otherwise. */
static pid_t parse_id(const char *s)
{
	uint64_t v;

	return number_parse(s, 1, INT_MAX, &v) < 0 ? 0 : (pid_t)v;
}

/* The next numeric entry of @d; 0: no more. */
static pid_t next_id(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)) != NULL) {
		pid_t id = parse_id(e->d_name);
		if (id)
			return id;
	}
	return 0;
}

static DIR *open_tasks(const char *root, pid_t pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/task", root, pid);
	return opendir(path);
}

int procfs_tids(const char *root, pid_t pid, pid_t **tids, size_t *n, size_t *cap)
{
	DIR *d = open_tasks(root, pid);
	int r = 0;
	pid_t tid;

	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r == 0 && (tid = next_id(d)) != 0) {
		r = mem_grow(tids, cap, *n, sizeof(**tids));
		if (r == 0)
			(*tids)[(*n)++] = tid;
	}
	closedir(d);
	return r;
}

/*
 * The kernel shows the current work of a worker after its name ("kworker/0:1-events"): it changes
 * with each work item and is not the name that the task's records carry.
 */
static void cut_worker(char *comm)
{
	if (strncmp(comm, "kworker/", 8) == 0)
		comm[strcspn(comm, "-+")] = '\0';
}

static int comm_record(const char *path, pid_t pid, pid_t tid, struct sideband *s)
{
	char comm[COMM_SIZE];

	if (sysinfo_read(path, comm, sizeof(comm)) < 0)
		return 0;
	cut_worker(comm);
	return sideband_comm(s, pid, tid, comm);
}

int procfs_comms(const char *root, pid_t pid, struct sideband *s)
{
	DIR *d = open_tasks(root, pid);
	char path[PATH_MAX];
	int r = 0;
	pid_t tid;

	if (!d)
		return 0;
	while (r == 0 && (tid = next_id(d)) != 0) {
		snprintf(path, sizeof(path), "%s/%d/task/%d/comm", root, pid, tid);
		r = comm_record(path, pid, tid, s);
	}
	closedir(d);
	return r;
}

int procfs_comm_of(const char *root, pid_t tid, struct sideband *s)
{
	struct procfs_task task;
	char path[PATH_MAX];

	if (procfs_identify(root, tid, &task) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%d/comm", root, tid);
	return comm_record(path, task.tgid, tid, s);
}

int procfs_pids(const char *root, pid_t **pids, size_t *n, size_t *cap)
{
	DIR *d = opendir(root);
	int r = 0;
	pid_t pid;

	if (!d)
		return -errno;
	while (r == 0 && (pid = next_id(d)) != 0) {
		r = mem_grow(pids, cap, *n, sizeof(**pids));
		if (r == 0)
			(*pids)[(*n)++] = pid;
	}
	closedir(d);
	return r;
}

int procfs_comms_all(const char *root, struct sideband *s)
{
	pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	int r = procfs_pids(root, &pids, &n, &cap);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = procfs_comms(root, pids[i], s);
	mem_free(pids);
	return r;
}

static pid_t read_tgid(const char *root, pid_t id)
{
	char path[PATH_MAX], text[1024];

	snprintf(path, sizeof(path), "%s/%d/status", root, id);
	if (sysinfo_read(path, text, sizeof(text)) < 0)
		return 0;
	const char *line = strstr(text, "\nTgid:");
	return line ? (pid_t)strtol(line + 6, NULL, 10) : 0;
}

static bool parse_stat(const char *text, struct procfs_task *ret)
{
	const char *p = strrchr(text, ')');
	char state;
	unsigned long long start;
	int parent;

	if (!p)
		return false;
	/* state, parent, 17 fields between, then the start time */
	if (sscanf(p + 1,
		   " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%llu",
		   &state, &parent, &start) != 3)
		return false;
	ret->parent = parent;
	ret->start = start;
	ret->ended = state == 'Z' || state == 'X';
	return true;
}

static int read_stat(const char *root, pid_t id, struct procfs_task *ret)
{
	char path[PATH_MAX], text[1024];

	snprintf(path, sizeof(path), "%s/%d/stat", root, id);
	if (sysinfo_read(path, text, sizeof(text)) < 0 || !parse_stat(text, ret))
		return -ESRCH;
	ret->id = id;
	return 0;
}

int procfs_identify(const char *root, pid_t id, struct procfs_task *ret)
{
	struct procfs_task task = {0};

	if (read_stat(root, id, &task) < 0)
		return -ESRCH;
	task.tgid = read_tgid(root, id);
	if (!task.tgid)
		return -ESRCH;
	*ret = task;
	return 0;
}

bool procfs_alive(const char *root, const struct procfs_task *task)
{
	struct procfs_task now = {0};

	return read_stat(root, task->id, &now) == 0 && now.start == task->start && !now.ended;
}

static bool is_called(const char *root, pid_t pid, const char *name, size_t len)
{
	char path[PATH_MAX], comm[COMM_SIZE];
	struct procfs_task task;

	snprintf(path, sizeof(path), "%s/%d/comm", root, pid);
	if (sysinfo_read(path, comm, sizeof(comm)) < 0)
		return false;
	size_t n = strlen(comm);
	if (n && comm[n - 1] == '\n')
		n--;
	len = len < COMM_KEPT ? len : COMM_KEPT;
	/* The name of a kernel thread may be longer. */
	n = n < COMM_KEPT ? n : COMM_KEPT;
	return n == len && memcmp(comm, name, len) == 0 && procfs_identify(root, pid, &task) == 0 &&
	       task.tgid == pid && !task.ended;
}

int procfs_named(const char *root, const char *name, size_t len, pid_t **pids, size_t *n,
		 size_t *cap)
{
	DIR *d = opendir(root);
	int r = 0;
	pid_t pid;

	if (!d)
		return -errno;
	while (r == 0 && (pid = next_id(d)) != 0) {
		if (pid == getpid() || !is_called(root, pid, name, len))
			continue;
		r = mem_grow(pids, cap, *n, sizeof(**pids));
		if (r == 0)
			(*pids)[(*n)++] = pid;
	}
	closedir(d);
	return r;
}
