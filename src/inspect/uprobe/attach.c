// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places probes. One event is enough, of the process or of a CPU: a BPF program counts what all
 * threads of the process hit, and the kernel itself, whose count BPF reads, what all CPUs do. Each
 * further event would be one more to go through at each hit. Only where that count cannot be read
 * there is an event for each thread that the process has, or for each CPU, since an event counts no
 * other ones.
 *
 * Events are not inherited: the kernel would read the path of the binary again, in the memory of
 * the task that forks.
 */
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"
#include "kontend/uprobe-attach.h"
#include "resolve.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOT_SUPPORTED = 524 }; /* the kernel's own ENOTSUPP */

struct event {
	size_t probe;
	int fd;
};

struct uprobe_attach {
	struct uprobe_attach_probe *probes;
	struct event *events;
	size_t n_probes, cap_probes, n_events, cap_events;
	bool count;
	int type; /* of the PMU */
};

static int read_type(struct error *err)
{
	int type = (int)sysinfo_number("/sys/bus/event_source/devices/uprobe/type", -1);

	return type < 0 ? error_set(err, -ENOTSUP,
				    "This kernel has no PMU uprobe (CONFIG_UPROBE_EVENTS)")
			: type;
}

static int explain(const struct uprobe_attach_probe *p, pid_t task, int code, struct error *err)
{
	switch (-code) {
	case EACCES:
	case EPERM:
		return error_set(err, code,
				 "The kernel refuses to place a probe (%s): run as root, or with "
				 "CAP_PERFMON; kernel.perf_event_paranoid may forbid it, too",
				 strerror(-code));
	case ESRCH:
		return error_set(err, code, "There is no task %d any more", task);
	case EINVAL:
	case EIO:
	case NOT_SUPPORTED:
		return error_set(
			err, code == -NOT_SUPPORTED ? -ENOTSUP : code,
			"The kernel refuses a probe at offset 0x%llx of %s: it cannot execute the "
			"instruction there out of line, or that file system is mounted noexec",
			(unsigned long long)p->offset, p->path);
	default:
		return error_errno(err, code, "Cannot place a probe in %s", p->path);
	}
}

/* An event of probe @i for @task, or, if that is -1, for all on @cpu. */
static int add_event(struct uprobe_attach *l, size_t i, pid_t task, int cpu, struct error *err)
{
	const struct uprobe_attach_probe *p = &l->probes[i];
	struct perf_event_attr attr = {
		.type = (uint32_t)l->type,
		.size = sizeof(attr),
		.config = p->is_return,
		.config1 = (uintptr_t)p->path,
		.config2 = p->offset,
	};

	if (mem_grow(&l->events, &l->cap_events, l->n_events, sizeof(*l->events)) < 0)
		return error_set(err, -ENOMEM, "No memory for probes");
	int fd = (int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return explain(p, task, -errno, err);
	l->events[l->n_events++] = (struct event){i, fd};
	return 0;
}

/* A thread that has ended since the list was read is no error. */
static int add_threads(struct uprobe_attach *l, size_t i, pid_t pid, struct error *err)
{
	size_t n = 0, cap = 0, before = l->n_events;
	pid_t *tids = NULL;
	int code = procfs_tids("/proc", pid, &tids, &n, &cap);

	if (code < 0)
		explain(&l->probes[i], pid, code, err);
	for (size_t k = 0; code == 0 && k < n; k++) {
		struct error why = {0};
		code = add_event(l, i, tids[k], -1, &why);
		if (code == -ESRCH && (k + 1 < n || l->n_events > before))
			code = 0;
		if (code < 0)
			error_set(err, code, "%s", why.text);
	}
	mem_free(tids);
	return code;
}

static int add_cpus(struct uprobe_attach *l, size_t i, struct error *err)
{
	uint32_t *cpus;
	size_t n;
	int code = cpulist_read("online", &cpus, &n);

	if (code < 0)
		return error_errno(err, code, "Cannot read which CPUs are online");
	for (size_t k = 0; code == 0 && k < n && (l->count || k == 0); k++)
		code = add_event(l, i, -1, (int)cpus[k], err);
	mem_free(cpus);
	return code;
}

static int place(struct uprobe_attach *l, const char *spec, pid_t pid, const char *command,
		 struct error *err)
{
	size_t i = l->n_probes;

	if (mem_grow(&l->probes, &l->cap_probes, i, sizeof(*l->probes)) < 0)
		return error_set(err, -ENOMEM, "No memory for probes");
	int code = uprobe_resolve(spec, pid, command, &l->probes[i], err);
	if (code < 0)
		return code;
	l->n_probes++;
	if (!pid)
		return add_cpus(l, i, err);
	return l->count ? add_threads(l, i, pid, err) : add_event(l, i, pid, -1, err);
}

int uprobe_attach_new(struct uprobe_attach **ret, const struct uprobe_attach_options *o,
		      struct error *err)
{
	struct uprobe_attach *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_set(err, -ENOMEM, "No memory for probes");
	l->count = o->count;
	int code = l->type = read_type(err);
	for (size_t i = 0; code >= 0 && i < o->n_specs; i++) {
		if (!o->n_pids)
			code = place(l, o->specs[i], 0, NULL, err);
		for (size_t k = 0; code >= 0 && k < o->n_pids; k++)
			code = place(l, o->specs[i], o->pids[k], o->command, err);
	}
	if (code < 0) {
		uprobe_attach_free(l);
		return code;
	}
	*ret = l;
	return 0;
}

const struct uprobe_attach_probe *uprobe_attach_get(const struct uprobe_attach *p, size_t i)
{
	return p && i < p->n_probes ? &p->probes[i] : NULL;
}

int uprobe_attach_fd(const struct uprobe_attach *p, size_t i)
{
	for (size_t k = 0; k < p->n_events; k++)
		if (p->events[k].probe == i)
			return p->events[k].fd;
	return -1;
}

bool uprobe_attach_hits(const struct uprobe_attach *p, size_t i, uint64_t *ret)
{
	uint64_t n;

	*ret = 0;
	for (size_t k = 0; p->count && k < p->n_events; k++) {
		if (p->events[k].probe != i)
			continue;
		if (read(p->events[k].fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
			return false;
		*ret += n;
	}
	return p->count;
}

void uprobe_attach_free(struct uprobe_attach *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_events; i++)
		close(p->events[i].fd);
	mem_free(p->probes);
	mem_free(p->events);
	mem_free(p);
}
