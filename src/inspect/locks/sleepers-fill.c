// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the sections of a snapshot of what sleepers.bpf.c has found: sleeping tasks by process, and
 * each blocked task.
 */
#include "because-shared.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "sleepers-shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKED_FILES_MOST = 64 }; /* files of a snapshot, with those of holders */

static int by_process(const void *a, const void *b)
{
	const struct raw_sleepers *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int by_tasks(const void *a, const void *b)
{
	const struct locksnap_sleepers *x = a, *y = b;

	if (x->tasks != y->tasks)
		return x->tasks > y->tasks ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int add_sleepers(struct locksnap *ret, const struct raw_sleepers *r)
{
	struct locksnap_sleepers *last =
		ret->n_sleepers ? &ret->sleepers[ret->n_sleepers - 1] : NULL;

	if (last && last->pid == r->pid && last->kind == r->kind) {
		last->tasks += r->tasks;
		last->idle += r->idle;
		return 0;
	}
	const struct locksnap_sleepers item = {
		.pid = r->pid,
		.comm = snapshot_locks_add_text(ret, r->comm, sizeof(r->comm)),
		.kind = r->kind,
		.tasks = r->tasks,
		.idle = r->idle,
	};
	return locksnap_add_sleepers(ret, &item);
}

int sleepers_fill(const struct raw_sleepers *rows, size_t n, struct locksnap *ret)
{
	struct raw_sleepers *sorted = mem_calloc(n + 1, sizeof(*sorted));
	int code = sorted ? 0 : -ENOMEM;

	if (sorted && n) {
		memcpy(sorted, rows, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_process);
	}
	for (size_t i = 0; code == 0 && i < n; i++)
		code = add_sleepers(ret, &sorted[i]);
	if (code == 0 && ret->n_sleepers)
		qsort(ret->sleepers, ret->n_sleepers, sizeof(*ret->sleepers), by_tasks);
	mem_free(sorted);
	return code;
}

/* The last use of something by the tasks of one snapshot. */
struct blocked_seen {
	struct map64 places;  /* hash of frames -> index of a task that has them */
	struct map64 devices; /* number -> text */
};

size_t sleepers_frames(int bytes, const unsigned long long *frames)
{
	size_t n = 0;

	while (n < RAW_BLOCKED_FRAMES &&
	       (n + 1) * sizeof(*frames) <= (size_t)(bytes > 0 ? bytes : 0) && frames[n])
		n++;
	return n;
}

/* Tasks that wait in the same place share their frames. */
static int add_frames(const struct raw_blocked *r, struct map64 *places,
		      struct locksnap_blocked *to, struct locksnap *s)
{
	const size_t size = sizeof(r->frames[0]);
	size_t n = sleepers_frames(r->bytes, r->frames);
	int code = 0;

	uint64_t hash = hash_bytes(HASH_START, r->frames, n * size);
	const uint32_t *same = map64_get(places, hash);
	const struct locksnap_blocked *b = same ? &s->blocked[*same] : NULL;
	to->n_frames = (uint32_t)n;
	to->frame = b ? b->frame : (uint32_t)s->n_frames;
	if (!n || (b && b->n_frames == n && !memcmp(s->frames + b->frame, r->frames, n * size)))
		return 0;
	to->frame = (uint32_t)s->n_frames;
	for (size_t i = 0; code == 0 && i < n; i++) {
		const uint64_t addr = r->frames[i];
		code = locksnap_add_frame(s, &addr);
	}
	return code < 0 ? code : map64_put(places, hash, (uint32_t)s->n_blocked);
}

/* The file that its system call names by a descriptor: a path for the first few, a device for all.
 */
static int add_file(const struct raw_blocked_pass *p, const struct raw_blocked *r,
		    struct map64 *devices, struct locksnap_blocked *to, struct locksnap *s)
{
	struct locksnap_sleep at = {.tid = r->tid};
	const struct raw_call_file *f = calls_file(&r->call, &at.doing);

	if (!f)
		return 0;
	const uint32_t *known = map64_get(devices, calls_device_number(f));
	at.fd = (int32_t)f->fd;
	at.device = known ? *known : calls_add_device(s, f);
	to->device = at.device;
	to->fs = snapshot_locks_add_text(s, f->fs, sizeof(f->fs));
	int code = known ? 0 : map64_put(devices, calls_device_number(f), at.device);
	return code < 0 ? code : calls_add(s, &at, p->proc, BLOCKED_FILES_MOST);
}

static void add_child(const struct raw_blocked_pass *p, const struct raw_blocked *r,
		      struct locksnap_blocked *to, struct locksnap *s)
{
	for (size_t i = 0; i < p->n_vforks; i++) {
		const struct raw_vfork *v = &p->vforks[i];
		if (v->parent != r->tid)
			continue;
		to->by_pid = v->pid;
		to->by_tid = v->tid;
		to->by_comm = snapshot_locks_add_text(s, v->comm, sizeof(v->comm));
		return;
	}
}

static void add_cgroup(const struct raw_blocked_pass *p, const struct raw_blocked *r,
		       struct locksnap_blocked *to, struct locksnap *s)
{
	const char *path = p->cgroups && r->cgroup
				   ? cgroup_names_get(p->cgroups, "/proc/self/mounts", r->cgroup)
				   : NULL;

	if (path)
		to->cgroup = snapshot_locks_add_long(s, path);
}

static int add_blocked(const struct raw_blocked_pass *p, const struct raw_blocked *r,
		       struct blocked_seen *seen, struct locksnap *s)
{
	struct locksnap_blocked to = {
		.pid = r->pid,
		.tid = r->tid,
		.comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm)),
		.process = snapshot_locks_add_text(s, r->process, sizeof(r->process)),
		.state = r->state,
		.io = r->io,
		.kthread = r->kthread,
		.ran_ns = r->ran && p->ahead_ns ? r->ran - (uint64_t)*p->ahead_ns : 0,
		.cpu = (uint32_t)(r->cpu + 1),
		.by_cpu = -1,
	};
	const size_t nth = (size_t)(r - p->blocked);

	int code = add_frames(r, &seen->places, &to, s);
	code = code < 0 ? code : add_file(p, r, &seen->devices, &to, s);
	if (r->state == RAW_STATE_D)
		add_child(p, r, &to, s);
	if (code == 0 && nth < p->n_because)
		because_fill(&p->because[nth], p->names, &to, s);
	if (code == 0 && to.device)
		because_fill_device(p->names, &to, s);
	add_cgroup(p, r, &to, s);
	return code < 0 ? code : locksnap_add_blocked(s, &to);
}

int sleepers_fill_blocked(const struct raw_blocked_pass *p, struct locksnap *ret)
{
	struct blocked_seen seen = {0};
	int code = 0;

	for (size_t i = 0; code == 0 && i < p->n; i++)
		code = add_blocked(p, &p->blocked[i], &seen, ret);
	if (code == 0 && p->because)
		because_fill_logs(p->because, p->n_because, ret);
	map64_deinit(&seen.places);
	map64_deinit(&seen.devices);
	return code;
}

int sleepers_fill_preempted(const struct raw_preempted *rows, size_t n, struct locksnap *ret)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < n; i++) {
		const struct locksnap_preempted to = {
			.pid = rows[i].pid,
			.tid = rows[i].tid,
			.off_tid = rows[i].off_tid,
			.comm = snapshot_locks_add_text(ret, rows[i].comm, sizeof(rows[i].comm)),
			.ip = rows[i].ip,
		};
		code = locksnap_add_preempted(ret, &to);
	}
	return code;
}
