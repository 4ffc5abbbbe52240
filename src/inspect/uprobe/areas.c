// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas of slots and the tasks in them. The state from snapshot to snapshot (highest mark, sum,
 * last samples; since when a task waits) is in arrays in the order of the previous snapshot,
 * searched linearly: there are as many as processes with probes.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t PROC_NS = 5000000000ull;

static const struct area_past *find_area(const struct pasts *p, uint64_t mm, int32_t pid)
{
	for (size_t i = 0; i < p->n_areas; i++)
		if (p->areas[i].mm == mm && p->areas[i].pid == pid)
			return &p->areas[i];
	return NULL;
}

static void remember_used(struct area_past *p, uint32_t used)
{
	p->samples++;
	p->sum_used += used;
	if (used > p->max_used)
		p->max_used = used;
	if (p->n_recent == UPSNAP_RECENT) {
		memmove(p->recent, p->recent + 1, sizeof(p->recent) - sizeof(*p->recent));
		p->n_recent--;
	}
	p->recent[p->n_recent++] = (uint16_t)used;
}

/* Adds the state since the first snapshot of the area; @used < 0: not known. */
static int with_past(struct snapshot_uprobes *u, struct upsnap_area *a)
{
	struct pasts *all = &u->pasts;
	const struct area_past *old = find_area(all, a->mm, a->pid);
	struct area_past p = {.mm = a->mm, .pid = a->pid, .since_ns = u->now_ns};

	if (old)
		p = *old;
	if (a->used >= 0)
		remember_used(&p, (uint32_t)a->used);
	if (mem_grow(&all->areas_next, &all->cap_areas_next, all->n_areas_next, sizeof(p)) < 0)
		return -ENOMEM;
	all->areas_next[all->n_areas_next++] = p;
	a->since_ns = p.since_ns;
	a->sum_used = p.sum_used;
	a->max_used = p.max_used;
	a->samples = p.samples;
	a->n_recent = p.n_recent;
	memcpy(a->recent, p.recent, sizeof(a->recent));
	return 0;
}

static int add_area(struct snapshot_uprobes *u, struct upsnap *s, const struct up_area *r)
{
	struct upsnap_area a = {.mm = r->mm, .pid = r->pid, .slots = u->slots};

	/* One bit is always set, for return probes. */
	a.used = r->bits ? (int32_t)r->bits - 1 : 0;
	a.comm = upsnap_add_text(s, r->comm);
	int code = with_past(u, &a);
	code = code < 0 ? code : upsnap_add_area(s, &a);
	return code < 0 ? code : map64_put(&u->at_area, a.mm, (uint32_t)s->n_areas);
}

static uint64_t since(struct snapshot_uprobes *u, uint64_t key)
{
	struct pasts *p = &u->pasts;
	uint64_t from = u->now_ns;

	for (size_t i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].key == key)
			from = p->tasks[i].since_ns;
	if (mem_grow(&p->tasks_next, &p->cap_tasks_next, p->n_tasks_next, sizeof(*p->tasks)) == 0)
		p->tasks_next[p->n_tasks_next++] = (struct task_past){key, from};
	return from;
}

/* Its slot, by its address in the area. */
static int32_t slot_of(const struct snapshot_uprobes *u, const struct up_task *r)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size = u->slots > 0 ? page / ((uint64_t)u->slots + 1) : 0;

	for (uint32_t i = 0; size && i < u->bpf.state->n_areas && i < UP_AREAS; i++) {
		const struct up_area *a = &u->bpf.areas[i];
		if (a->mm == r->mm && r->slot_vaddr >= a->vaddr && r->slot_vaddr - a->vaddr < page)
			return (int32_t)((r->slot_vaddr - a->vaddr) / size);
	}
	return -1;
}

static int add_task(struct snapshot_uprobes *u, struct upsnap *s, const struct up_task *r)
{
	const uint32_t *at = map64_get(&u->at_area, r->mm);
	struct upsnap_task t = {.tid = r->tid, .offset = r->offset, .slot = -1, .depth = r->depth};

	if (at) {
		struct upsnap_area *a = &s->areas[*at - 1];
		t.area = *at;
		a->single_step += r->kind == UP_STEP;
		a->waiting += r->kind == UP_WAIT;
		a->returns += r->depth;
		a->depth = r->depth > a->depth ? r->depth : a->depth;
		t.slot = r->kind == UP_STEP ? slot_of(u, r) : -1;
	}
	if (r->kind == UP_RETURNS)
		return 0;
	t.state = r->kind == UP_STEP ? UPSNAP_STEP : UPSNAP_WAIT;
	t.comm = upsnap_add_text(s, r->comm);
	t.since_ns = since(u, (uint64_t)(uint32_t)r->tid << 2 | t.state);
	return upsnap_add_task(s, &t);
}

static void turn_pasts(struct pasts *p)
{
	struct area_past *areas = p->areas;
	struct task_past *tasks = p->tasks;
	size_t cap_areas = p->cap_areas, cap_tasks = p->cap_tasks;

	p->areas = p->areas_next;
	p->n_areas = p->n_areas_next;
	p->cap_areas = p->cap_areas_next;
	p->areas_next = areas;
	p->cap_areas_next = cap_areas;
	p->tasks = p->tasks_next;
	p->n_tasks = p->n_tasks_next;
	p->cap_tasks = p->cap_tasks_next;
	p->tasks_next = tasks;
	p->cap_tasks_next = cap_tasks;
	p->n_areas_next = p->n_tasks_next = 0;
}

int snapshot_uprobes_areas(struct snapshot_uprobes *u, struct upsnap *s)
{
	const struct up_state *st = u->bpf.state;
	int code = 0;

	map64_clear(&u->at_area);
	/* Processes that share their memory share the area: the first one represents it. */
	for (uint32_t i = 0; code == 0 && i < st->n_areas && i < UP_AREAS; i++)
		if (!map64_get(&u->at_area, u->bpf.areas[i].mm))
			code = add_area(u, s, &u->bpf.areas[i]);
	for (uint32_t i = 0; code == 0 && i < st->n_tasks && i < UP_TASKS; i++)
		code = add_task(u, s, &u->bpf.tasks[i]);
	turn_pasts(&u->pasts);
	return code;
}

static bool has_area(const char *pid)
{
	char path[300], line[512];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%.200s/maps", pid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, " [uprobes]\n") != NULL;
	if (f)
		fclose(f);
	return found;
}

static void read_comm(const char *pid, char *ret, size_t size)
{
	char path[300];

	snprintf(path, sizeof(path), "/proc/%.200s/comm", pid);
	FILE *f = fopen(path, "re");
	*ret = '\0';
	if (f && fgets(ret, (int)size, f))
		ret[strcspn(ret, "\n")] = '\0';
	if (f)
		fclose(f);
}

static int find_proc(struct snapshot_uprobes *u)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int code = d ? 0 : -errno;

	u->n_proc = 0;
	while (code == 0 && (e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !has_area(e->d_name))
			continue;
		code = mem_grow(&u->proc, &u->cap_proc, u->n_proc, sizeof(*u->proc));
		if (code == 0) {
			struct proc_area *a = &u->proc[u->n_proc++];
			read_comm(e->d_name, a->comm, sizeof(a->comm));
			a->pid = (int32_t)strtol(e->d_name, NULL, 10);
		}
	}
	if (d)
		closedir(d);
	return code;
}

int snapshot_uprobes_areas_proc(struct snapshot_uprobes *u, struct upsnap *s)
{
	int code = 0;

	/* Reading the maps of all processes takes long: it is done now and then. */
	if (!u->proc_at || u->now_ns - u->proc_at > PROC_NS) {
		code = find_proc(u);
		u->proc_at = u->now_ns;
	}
	for (size_t i = 0; code == 0 && i < u->n_proc; i++) {
		const struct proc_area *p = &u->proc[i];
		struct upsnap_area a = {
			.mm = (uint64_t)p->pid, .pid = p->pid, .slots = u->slots, .used = -1};
		a.comm = upsnap_add_text(s, p->comm);
		code = with_past(u, &a);
		code = code < 0 ? code : upsnap_add_area(s, &a);
	}
	turn_pasts(&u->pasts);
	return code;
}
