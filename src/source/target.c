// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured tasks and CPUs, from the words of the command line, checked against the system at
 * once: "no such pid" before anything is opened is a better message than the kernel's ESRCH later.
 * Lists are ascending and without repeats, since an event that is opened twice would count twice.
 */
#include "kontend/target.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_cpu(uint32_t cpu, const uint32_t *online, size_t n, struct error *err)
{
	char list[128];

	return error_set(err, -ENODEV,
			 "CPU %u is not online: choose from %s (/sys/devices/system/cpu/online)",
			 cpu, cpulist_format(online, n, list, sizeof(list)));
}

/* Are all of @cpus online? If that cannot be read, opening the events will fail. */
static int check_online(const uint32_t *cpus, size_t n, struct error *err)
{
	uint32_t *online;
	size_t n_online;
	int r = 0;

	if (cpulist_read("online", &online, &n_online) < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!cpulist_has(online, n_online, cpus[i]))
			r = no_cpu(cpus[i], online, n_online, err);
	}
	mem_free(online);
	return r;
}

int target_parse_cpus(struct target *t, const char *list, struct error *err)
{
	uint32_t *cpus;
	size_t n;
	int r = cpulist_parse(list, &cpus, &n);

	if (r == -ENOMEM)
		return error_enomem(err, "the CPU list");
	if (r < 0)
		return error_set(err, r, "'%s' is no CPU list: write it like 0,2-5", list);
	r = check_online(cpus, n, err);
	if (r < 0) {
		mem_free(cpus);
		return r;
	}
	mem_free(t->cpus);
	t->cpus = cpus;
	t->n_cpus = n;
	return 0;
}

static int check_id(enum target_kind kind, pid_t id, struct error *err)
{
	const char *what = kind == TARGET_TIDS ? "thread" : "process";
	struct procfs_task task;

	if (procfs_identify("/proc", id, &task) < 0)
		return error_set(
			err, -ESRCH,
			"There is no %s %d (it may have ended): see 'ps -eLo pid,tid,comm'", what,
			id);
	if (task.ended)
		return error_set(err, -ESRCH,
				 "The %s %d has ended and only waits to be reaped: nothing can be "
				 "measured on it",
				 what, id);
	if (kind == TARGET_PIDS && task.tgid != id)
		return error_set(
			err, -ESRCH,
			"%d is a thread of process %d, not a process: use --tid %d or -p %d", id,
			task.tgid, id, task.tgid);
	return 0;
}

static int bad_ids(enum target_kind kind, const char *list, struct error *err)
{
	if (kind == TARGET_PIDS)
		return error_set(
			err, -EINVAL,
			"'%s' is no list of pids or names of processes: write it like 812,postgres",
			list);
	return error_set(err, -EINVAL, "'%s' is no list of thread ids: write it like 812,900",
			 list);
}

struct ids {
	struct target *t;
	size_t cap;
};

static bool has_id(const struct target *t, pid_t id)
{
	for (size_t i = 0; i < t->n_ids; i++) {
		if (t->ids[i] == id)
			return true;
	}
	return false;
}

static int add_id(struct ids *s, pid_t id, struct error *err)
{
	struct target *t = s->t;

	if (has_id(t, id))
		return 0;
	if (mem_grow(&t->ids, &s->cap, t->n_ids, sizeof(*t->ids)) < 0)
		return error_enomem(err, "the list of pids");
	t->ids[t->n_ids++] = id;
	return 0;
}

/* All processes of that name: a server may have one for each connection. */
static int add_named(struct ids *s, const char *name, size_t len, struct error *err)
{
	pid_t *pids = NULL;
	size_t n = 0, cap = 0;
	int r = procfs_named("/proc", name, len, &pids, &n, &cap);

	if (r < 0)
		r = error_errno(err, r, "Cannot look for processes called '%.*s' in /proc",
				(int)len, name);
	else if (!n)
		r = error_set(err, -ESRCH,
			      "There is no process called '%.*s': give pids like 812,900, or names "
			      "as 'ps -eo comm' prints them",
			      (int)len, name);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_id(s, pids[i], err);
	mem_free(pids);
	return r;
}

/* A word of digits, with a sign or without, is meant as a number. */
static bool is_number(const char *word, size_t len)
{
	size_t sign = *word == '-' || *word == '+';

	return strspn(word + sign, "0123456789") == len - sign && len > sign;
}

static int add_word(struct ids *s, enum target_kind kind, const char *word, size_t len,
		    const char *list, struct error *err)
{
	if (kind == TARGET_PIDS && len && !is_number(word, len))
		return add_named(s, word, len, err);
	errno = 0;
	long id = is_number(word, len) ? strtol(word, NULL, 10) : 0;
	if (id <= 0 || id > INT_MAX || errno)
		return bad_ids(kind, list, err);
	int r = check_id(kind, (pid_t)id, err);
	return r < 0 ? r : add_id(s, (pid_t)id, err);
}

static int add_ids(struct target *t, enum target_kind kind, const char *list, struct error *err)
{
	struct ids s = {.t = t};

	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		int r = add_word(&s, kind, p, len, list, err);
		p += len;
		if (r < 0 || !*p)
			return r;
	}
}

int target_parse_ids(struct target *t, enum target_kind kind, const char *list, struct error *err)
{
	struct target fresh = {0};
	int r = add_ids(&fresh, kind, list, err);

	if (r < 0) {
		mem_free(fresh.ids);
		return r;
	}
	mem_free(t->ids);
	t->ids = fresh.ids;
	t->n_ids = fresh.n_ids;
	t->kind = kind;
	return 0;
}

int target_set_cgroup(struct target *t, const char *path, struct error *err)
{
	if (!*path)
		return error_set(err, -EINVAL,
				 "The cgroup's name is empty: give a path below the cgroup mount, "
				 "like /system.slice");
	char *copy = mem_strdup(path);
	if (!copy)
		return error_enomem(err, "the cgroup's name");
	mem_free(t->cgroup);
	t->cgroup = copy;
	t->kind = TARGET_CGROUP;
	return 0;
}

/* snprintf() at *used, within the buffer. */
static __attribute__((format(printf, 4, 5))) void add(char *buf, size_t size, size_t *used,
						      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf + *used, size - *used, fmt, ap);
	va_end(ap);
	*used = n < 0 || (size_t)n >= size - *used ? size - 1 : *used + (size_t)n;
}

static void describe_kind(const struct target *t, char *buf, size_t size, size_t *used)
{
	switch (t->kind) {
	case TARGET_PIDS:
	case TARGET_TIDS:
		for (size_t i = 0; i < t->n_ids; i++)
			add(buf, size, used, "%s%d",
			    i			     ? ","
			    : t->kind == TARGET_PIDS ? "pid "
						     : "tid ",
			    t->ids[i]);
		break;
	case TARGET_CGROUP:
		add(buf, size, used, "cgroup %s", t->cgroup);
		break;
	case TARGET_COMMAND:
		for (char **arg = t->command; arg && *arg; arg++)
			add(buf, size, used, "%s%s", arg == t->command ? "" : " ", *arg);
		break;
	case TARGET_SYSTEM:
		add(buf, size, used, "%s", t->n_cpus ? "" : "all CPUs");
		break;
	}
}

const char *target_describe(const struct target *t, char *buf, size_t size)
{
	char list[64];
	size_t used = 0;

	buf[0] = '\0';
	describe_kind(t, buf, size, &used);
	if (t->n_cpus)
		add(buf, size, &used, "%scpu %s", used ? " on " : "",
		    cpulist_format(t->cpus, t->n_cpus, list, sizeof(list)));
	return buf;
}

enum { ANCESTORS_MOST = 64 };

static bool descends(pid_t pid, pid_t from)
{
	struct procfs_task task = {.parent = pid};

	for (int i = 0; i < ANCESTORS_MOST && task.parent > 1; i++) {
		if (task.parent == from)
			return true;
		if (procfs_identify("/proc", task.parent, &task) < 0)
			return false;
	}
	return false;
}

/* Many tasks of a process are asked for one after another. */
static bool is_of_command(const struct target *t, pid_t pid)
{
	static _Thread_local struct {
		pid_t pid, child;
		bool is;
	} last;
	pid_t child = t->child;

	if (!child || pid <= 0)
		return false;
	if (last.pid != pid || last.child != child) {
		last.is = descends(pid, child);
		last.pid = pid;
		last.child = child;
	}
	return last.is;
}

bool target_has(const struct target *t, pid_t pid, pid_t tid, bool in_cgroup, int cpu)
{
	pid_t id = t->kind == TARGET_PIDS ? pid : tid;
	bool is_listed = t->kind == TARGET_SYSTEM || (t->kind == TARGET_CGROUP && in_cgroup) ||
			 (t->kind == TARGET_COMMAND && is_of_command(t, pid));

	if (t->kind == TARGET_PIDS || t->kind == TARGET_TIDS)
		for (size_t i = 0; i < t->n_ids; i++)
			is_listed |= t->ids[i] == id;
	return is_listed &&
	       (!t->n_cpus || (cpu >= 0 && cpulist_has(t->cpus, t->n_cpus, (uint32_t)cpu)));
}

void target_deinit(struct target *t)
{
	mem_free(t->cpus);
	mem_free(t->ids);
	mem_free(t->cgroup);
	*t = (struct target){0};
}
