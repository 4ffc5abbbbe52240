// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the hits of our own probes that are for one process (--probe with -p): by a program that
 * is attached to the event, since the kernel's count of a probe includes all processes as soon as
 * another program has a probe there.
 */
#include "internal.h"
#include "kontend/mem.h"
#include "kontend/uprobe-attach.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct up_event *find_event(const struct snapshot_uprobes *u, uint64_t id)
{
	for (uint32_t i = 0; i < snapshot_uprobes_n_events(u); i++)
		if (snapshot_uprobes_event(u, i)->id == id)
			return snapshot_uprobes_event(u, i);
	return NULL;
}

/* Without a program it is counted as others' probes are. */
static void count(struct snapshot_uprobes *u, int fd)
{
	struct own_count *c = &u->counts[u->n_counts];

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ID, &c->event) < 0)
		return;
	/* The kernel's number of the process is not ours in a container. */
	const struct up_event *e = find_event(u, c->event);
	u->bpf.own[u->n_counts].pid = e ? e->target_pid : 0;
	c->link = up_bpf_count(&u->bpf, u->n_counts, fd);
	u->n_counts += c->link >= 0;
}

void snapshot_uprobes_count_own(struct snapshot_uprobes *u)
{
	const struct uprobe_attach_probe *p;

	if (!u->own || !u->has_bpf || u->counts)
		return;
	u->counts = mem_calloc(UP_OWN, sizeof(*u->counts));
	if (!u->counts || up_bpf_walk(&u->bpf) < 0)
		return;
	for (size_t i = 0; u->n_counts < UP_OWN && (p = uprobe_attach_get(u->own, i)); i++)
		if (p->pid)
			count(u, uprobe_attach_fd(u->own, i));
}

const struct up_own *snapshot_uprobes_own_count(const struct snapshot_uprobes *u,
						const struct up_event *e)
{
	for (uint32_t i = 0; i < u->n_counts; i++)
		if (u->counts[i].event == e->id)
			return &u->bpf.own[i];
	return NULL;
}

void snapshot_uprobes_stop_own(struct snapshot_uprobes *u)
{
	for (uint32_t i = 0; i < u->n_counts; i++)
		close(u->counts[i].link);
	mem_free(u->counts);
}
