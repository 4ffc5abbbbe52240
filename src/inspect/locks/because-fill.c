// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts for what blocked tasks wait for. Nothing here asks a file or a file system, which may be
 * the one that does not answer: names come from the kernel's caches, and mounts from the list of
 * our own mount namespace. Of a file system that is mounted elsewhere alone a path begins at its
 * root.
 */
#include "because-shared.h"
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_TEXT = 512 };

void because_path(const struct raw_path *p, char *ret, size_t size)
{
	size_t at = size - 1, bytes = p->bytes < RAW_PATH_NAMES ? p->bytes : RAW_PATH_NAMES;
	const char *name = p->names, *end = p->names + bytes;

	ret[at] = 0;
	while (name < end) {
		size_t len = strnlen(name, (size_t)(end - name));
		if (len + 1 > at)
			break;
		at -= len;
		memcpy(ret + at, name, len);
		ret[--at] = '/';
		name += len + 1;
	}
	if (!p->whole && bytes && at >= 3) {
		at -= 3;
		memcpy(ret + at, "...", 3);
	}
	memmove(ret, ret + at, size - at);
}

static const struct mount_point *mount_of(struct because_names *n, unsigned dev, const char *path)
{
	if (!n->mounts_known)
		(void)mounts_read(&n->mounts, n->mountinfo); /* none are known then */
	n->mounts_known = true;
	return mounts_find(&n->mounts, dev, path);
}

static void add_file(const struct raw_because *b, struct because_names *n, const char *path,
		     struct locksnap_blocked *to, struct locksnap *s)
{
	const struct mount_point *m = mount_of(n, b->dev, path);
	char text[2 * PATH_TEXT];

	if (m && m->source && !(b->dev >> 20) && strchr(m->source, ':'))
		to->source = snapshot_locks_add_long(s, m->source);
	if (!*path)
		return;
	if (!m || *path != '/')
		snprintf(text, sizeof(text), "%s", path);
	else
		snprintf(text, sizeof(text), "%s%s", m->at[1] ? m->at : "",
			 path + (m->root[1] ? strlen(m->root) : 0));
	to->file = snapshot_locks_add_long(s, text);
}

/* The first line of a file in sysfs, which asks no device. */
static bool read_line(const char *sys, const char *device, const char *name, char *ret, size_t size)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/block/%s/dm/%s", sys, device, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, ret, size - 1);
	close(fd);
	ret[n > 0 ? n : 0] = 0;
	ret[strcspn(ret, "\n")] = 0;
	return n > 0;
}

void because_fill_device(const struct because_names *n, struct locksnap_blocked *to,
			 struct locksnap *s)
{
	const char *device = locksnap_text(s, to->device);
	char text[128], is[8], name[32];

	if (strncmp(device, "dm-", 3))
		return;
	snprintf(name, sizeof(name), "%s", device);
	if (read_line(n->sys, name, "name", text, sizeof(text)))
		to->source = snapshot_locks_add_long(s, text);
	to->suspended = read_line(n->sys, name, "suspended", is, sizeof(is)) && is[0] == '1';
}

static void add_by(const struct raw_by *r, struct locksnap_blocked *to, struct locksnap *s)
{
	to->by_pid = r->pid;
	to->by_tid = r->tid;
	to->by_comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm));
	to->by_state = r->state < LOCKSNAP_STATES ? r->state : LOCKSNAP_STATE_UNKNOWN;
	to->by_cpu = r->cpu;
	to->off_pid = r->off_pid;
	to->off_tid = r->off_tid;
	to->off_prio = r->off_prio;
	to->off_comm =
		r->off_tid ? snapshot_locks_add_text(s, r->off_comm, sizeof(r->off_comm)) : 0;
}

void because_fill(const struct raw_because *b, struct because_names *names,
		  struct locksnap_blocked *to, struct locksnap *s)
{
	char text[PATH_TEXT], device[32];

	if (b->tid != to->tid)
		return;
	if (b->by.tid)
		add_by(&b->by, to, s);
	if (b->dev >> 20 && *calls_device(names->sys, b->dev, device, sizeof(device)))
		to->device = snapshot_locks_add_long(s, device);
	if (*b->fs)
		to->fs = snapshot_locks_add_text(s, b->fs, sizeof(b->fs));
	because_path(&b->file, text, sizeof(text));
	if (b->dev)
		add_file(b, names, text, to, s);
	because_path(&b->cgroup, text, sizeof(text));
	if (*text || b->cgroup.whole)
		to->limit = snapshot_locks_add_long(s, *text ? text : "/");
	if (!b->work)
		return;
	to->function = b->function;
	to->queue = snapshot_locks_add_text(s, b->queue, sizeof(b->queue));
}

void because_fill_logs(const struct raw_because *found, size_t n, struct locksnap *s)
{
	for (size_t i = 0; i < n && i < s->n_blocked; i++) {
		struct locksnap_blocked *to = &s->blocked[i];
		if (!found[i].log || !to->kthread || to->by_tid)
			continue;
		for (size_t k = 0; k < n && k < s->n_blocked && !to->by_tid; k++) {
			const struct locksnap_blocked *by = &s->blocked[k];
			if (k == i || found[k].open != found[i].log)
				continue;
			to->by_pid = by->pid;
			to->by_tid = by->tid;
			to->by_comm = by->comm;
			to->by_state = LOCKSNAP_ASLEEP;
			to->by_cpu = -1;
		}
	}
}
