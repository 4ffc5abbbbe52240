// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocked tasks, from snapshots: state D, stopped, and those in state S that a call keeps. A cell
 * for each process, call chain, state and device; queries name the cause by the chain. If there are
 * too many processes, further ones share a cell for each chain, so sums stay complete.
 */
#include "kontend/blocked.h"
#include "kontend/hash.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/task.h"

#include <errno.h>
#include <string.h>

/* Snapshots further apart do not show what was between: a paused or suspended machine. */
static const uint64_t GAP_NS = 30000000000;

static int begin_tables(struct blocked *b)
{
	if (!b->cap_cells && mem_grow(&b->cells, &b->cap_cells, 1, sizeof(*b->cells)))
		return -ENOMEM;
	if (!b->cap_stacks && mem_grow(&b->stacks, &b->cap_stacks, 1, sizeof(*b->stacks)))
		return -ENOMEM;
	if (!b->cap_groups && mem_grow(&b->groups, &b->cap_groups, 1, sizeof(*b->groups)))
		return -ENOMEM;
	if (!b->n_groups)
		b->groups[0] = (struct blocked_group){0};
	b->n_groups = b->n_groups ? b->n_groups : 1;
	if (!b->n_cells)
		b->cells[0] = (struct blocked_cell){0};
	if (!b->n_stacks)
		b->stacks[0] = (struct blocked_stack){0};
	b->n_cells = b->n_cells ? b->n_cells : 1;
	b->n_stacks = b->n_stacks ? b->n_stacks : 1;
	return 0;
}

/* 0 also where there is no room. */
static int find_stack(struct blocked *b, const uint64_t *frames, uint32_t n, uint32_t *ret)
{
	uint64_t hash;

	*ret = 0;
	n = n < BLOCKED_FRAMES ? n : BLOCKED_FRAMES;
	hash = hash_bytes(HASH_START, frames, n * sizeof(*frames));
	const uint32_t *known = map64_get(&b->by_chain, hash);
	if (known)
		*ret = *known;
	if (known || !n || b->n_stacks >= BLOCKED_STACKS)
		return 0;
	if (mem_grow(&b->stacks, &b->cap_stacks, b->n_stacks, sizeof(*b->stacks)) ||
	    map64_put(&b->by_chain, hash, b->n_stacks))
		return -ENOMEM;
	struct blocked_stack *s = &b->stacks[b->n_stacks];
	*s = (struct blocked_stack){.n = n};
	memcpy(s->frames, frames, n * sizeof(*frames));
	*ret = b->n_stacks++;
	return 0;
}

/* 0 also where there is no room. */
static int find_group(struct blocked *b, const char *path, uint32_t *ret)
{
	const uint64_t hash = hash_text(HASH_START, path);
	const uint32_t *known = *path ? map64_get(&b->by_path, hash) : NULL;
	size_t len = strlen(path), most = sizeof(b->groups[0].path) - 1;

	*ret = known ? *known : 0;
	if (known || !*path || b->n_groups >= BLOCKED_GROUPS)
		return 0;
	if (mem_grow(&b->groups, &b->cap_groups, b->n_groups, sizeof(*b->groups)) ||
	    map64_put(&b->by_path, hash, b->n_groups))
		return -ENOMEM;
	struct blocked_group *g = &b->groups[b->n_groups];
	*g = (struct blocked_group){0};
	memcpy(g->path, len > most ? path + len - most : path, len > most ? most : len);
	*ret = b->n_groups++;
	return 0;
}

const char *blocked_cgroup(const struct blocked *b, const struct blocked_cell *c)
{
	return c->group < b->n_groups ? b->groups[c->group].path : "";
}

static uint64_t key_of(const struct blocked_cell *c)
{
	const uint64_t words[] = {(uint32_t)c->pid, c->stack, c->state, c->io,
				  c->kthread,	    c->lock,  c->group};

	return hash_text(hash_text(hash_bytes(HASH_START, words, sizeof(words)), c->device), c->fs);
}

/* The cell that is equal to @c but for its figures, made if there is none. NULL: no memory. */
static struct blocked_cell *find_cell(struct blocked *b, struct blocked_cell *c)
{
	const uint32_t *known = map64_get(&b->by_key, key_of(c));

	if (!known && b->n_cells >= BLOCKED_CELLS / 2 && c->pid) {
		c->pid = 0;
		*c->comm = 0;
		*c->device = *c->fs = 0;
		c->group = 0;
		known = map64_get(&b->by_key, key_of(c));
	}
	if (!known && b->n_cells >= BLOCKED_CELLS)
		return &b->cells[0];
	if (known)
		return &b->cells[*known];
	if (mem_grow(&b->cells, &b->cap_cells, b->n_cells, sizeof(*b->cells)) ||
	    map64_put(&b->by_key, key_of(c), b->n_cells))
		return NULL;
	b->cells[b->n_cells] = *c;
	return &b->cells[b->n_cells++];
}

static bool waits_for_lock(const struct task_table *tasks, int32_t tid)
{
	const uint32_t *task = map64_get(&tasks->by_tid, (uint32_t)tid);

	return task && tasks->tasks[*task].depth;
}

static int add_task(struct blocked *b, const struct locksnap *s, const struct locksnap_blocked *t,
		    bool lock, uint64_t since_ns)
{
	struct blocked_cell c = {.pid = t->pid,
				 .state = (uint8_t)t->state,
				 .io = t->io != 0,
				 .kthread = t->kthread != 0,
				 .lock = lock};
	int code = find_stack(b, s->frames + t->frame, t->n_frames, &c.stack);

	code = code < 0 ? code : find_group(b, locksnap_text(s, t->cgroup), &c.group);
	if (code < 0)
		return code;
	strncpy(c.comm, locksnap_text(s, t->process), sizeof(c.comm) - 1);
	strncpy(c.fs, locksnap_text(s, t->fs), sizeof(c.fs) - 1);
	strncpy(c.device, locksnap_text(s, t->device), sizeof(c.device) - 1);
	struct blocked_cell *cell = find_cell(b, &c);
	if (!cell)
		return -ENOMEM;
	uint64_t slept_ns =
		t->ran_ns && t->ran_ns < s->head.time_ns ? s->head.time_ns - t->ran_ns : 0;
	cell->now++;
	cell->task_ns += since_ns;
	if (slept_ns > cell->now_longest_ns)
		cell->now_longest_ns = slept_ns;
	if (slept_ns > cell->longest_ns)
		cell->longest_ns = slept_ns;
	return 0;
}

static int keep_part(struct blocked *b, uint32_t cell, uint64_t end_ns, uint64_t task_ns,
		     uint64_t longest_ns)
{
	if (!b->parts && !(b->parts = mem_calloc(BLOCKED_PARTS, sizeof(*b->parts))))
		return -ENOMEM;
	struct blocked_part *p = &b->parts[b->next_part];
	if (b->n_parts == BLOCKED_PARTS)
		b->dropped_ns = p->end_ns;
	else
		b->n_parts++;
	*p = (struct blocked_part){end_ns, cell, task_ns, longest_ns};
	b->next_part = (b->next_part + 1) % BLOCKED_PARTS;
	return 0;
}

int blocked_take(struct blocked *b, const struct locksnap *s, const struct task_table *tasks,
		 bool recent)
{
	uint64_t now_ns = s->head.time_ns, since_ns = b->seen_ns ? now_ns - b->seen_ns : 0;
	int code = 0;

	if (!s->head.knows_blocked || now_ns <= b->seen_ns)
		return 0;
	since_ns = since_ns > GAP_NS ? 0 : since_ns;
	code = begin_tables(b);
	for (uint32_t i = 0; i < b->n_cells; i++)
		b->cells[i].now = b->cells[i].now_longest_ns = 0;
	for (size_t i = 0; code == 0 && i < s->n_blocked; i++)
		code = add_task(b, s, &s->blocked[i], waits_for_lock(tasks, s->blocked[i].tid),
				since_ns);
	for (uint32_t i = 0; code == 0 && recent && i < b->n_cells; i++) {
		const struct blocked_cell *c = &b->cells[i];
		if (c->now)
			code = keep_part(b, i, now_ns, c->now * since_ns, c->now_longest_ns);
	}
	b->seen_ns = now_ns;
	b->snapshots++;
	b->covered_ns += since_ns;
	b->dropped += s->head.blocked_dropped;
	return code;
}

struct blocked_user *blocked_add_user(struct blocked *b, int32_t tid)
{
	if (mem_grow(&b->users, &b->cap_users, b->n_users, sizeof(*b->users)))
		return NULL;
	struct blocked_user *u = &b->users[b->n_users++];
	*u = (struct blocked_user){.tid = tid};
	return u;
}

const struct blocked_user *blocked_user(const struct blocked *b, int32_t tid)
{
	for (size_t i = 0; i < b->n_users; i++)
		if (b->users[i].tid == tid)
			return &b->users[i];
	return NULL;
}

void blocked_forget_objects(struct blocked *b, const uint8_t *keep, size_t n)
{
	for (size_t i = 0; i < b->n_users; i++)
		map_frames_forget(b->users[i].frames, b->users[i].n, keep, n);
}

void blocked_zero(struct blocked *b)
{
	map64_clear(&b->by_key);
	map64_clear(&b->by_chain);
	map64_clear(&b->by_path);
	b->n_cells = b->n_stacks = b->n_groups = b->n_parts = b->next_part = 0;
	b->snapshots = b->covered_ns = b->dropped = b->dropped_ns = 0;
}

int blocked_copy(struct blocked *dst, const struct blocked *src)
{
	*dst = *src;
	dst->by_key = dst->by_chain = dst->by_path = (struct map64){0};
	dst->cap_cells = src->n_cells;
	dst->cap_stacks = src->n_stacks;
	dst->cap_groups = src->n_groups;
	dst->cells = mem_dup(src->cells, src->n_cells, sizeof(*src->cells));
	dst->stacks = mem_dup(src->stacks, src->n_stacks, sizeof(*src->stacks));
	dst->groups = mem_dup(src->groups, src->n_groups, sizeof(*src->groups));
	dst->users = mem_dup(src->users, src->n_users, sizeof(*src->users));
	dst->cap_users = src->n_users;
	dst->parts = mem_dup(src->parts, BLOCKED_PARTS, sizeof(*src->parts));
	if ((src->n_cells && !dst->cells) || (src->n_stacks && !dst->stacks) ||
	    (src->n_groups && !dst->groups) || (src->n_users && !dst->users) ||
	    (src->parts && !dst->parts))
		return -ENOMEM;
	int code = map64_copy(&dst->by_key, &src->by_key);
	code = code ? code : map64_copy(&dst->by_chain, &src->by_chain);
	return code ? code : map64_copy(&dst->by_path, &src->by_path);
}

void blocked_deinit(struct blocked *b)
{
	mem_free(b->cells);
	mem_free(b->stacks);
	mem_free(b->groups);
	mem_free(b->users);
	mem_free(b->parts);
	map64_deinit(&b->by_path);
	map64_deinit(&b->by_key);
	map64_deinit(&b->by_chain);
	*b = (struct blocked){0};
}

size_t blocked_bytes(const struct blocked *b)
{
	return b->cap_cells * sizeof(*b->cells) + b->cap_stacks * sizeof(*b->stacks) +
	       b->cap_groups * sizeof(*b->groups) + b->cap_users * sizeof(*b->users) +
	       (b->parts ? BLOCKED_PARTS * sizeof(*b->parts) : 0);
}
