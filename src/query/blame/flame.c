// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph of blame: which tasks waited because of this line. From below: the name of the
 * root, the call chain in which it had got its lock, its activity while others waited, that lock,
 * and above it the call chains of the waiters, each as wide as the time they lost. Where they
 * waited for another lock, whose holder waited for this one, that lock is in between. Of a sleep
 * the graph shows those functions that the root had not called yet when it got the lock; of a
 * waiter, the kernel's functions. The sum is all that was waited: unknown roots have a box as well.
 */
#include "../hot/list.h"
#include "../trie.h"
#include "kontend/lock.h"
#include "kontend/query-tree.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "names/names.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

struct build {
	struct query *q;
	const struct query_flame_spec *spec;
	struct trie trie;
	struct map64 texts; /* hash of a text -> its label */
	/* By index: what stands for the task at the root, for who kept it off, for the lock. */
	uint32_t *tasks, *keepers, *locks;
	uint32_t states[BLAME_STATES], types[LOCK_TYPES];
	uint32_t path[QUERY_FLAME_LEVELS], len;
	bool failed;
};

/* Locks are many: a list of labels is not gone through for each. */
static uint32_t label(struct build *b, const char *text, enum path_group group)
{
	const uint32_t *known = text ? map64_get(&b->texts, text_hash(text)) : NULL;
	uint32_t ret;

	if (known && strcmp(b->trie.labels[*known & ~TRIE_LABEL].text, text) == 0)
		return *known;
	ret = text ? trie_label_new(&b->trie, text, group) : 0;
	if (!ret || (!known && map64_put(&b->texts, text_hash(text), ret) < 0))
		b->failed = true;
	return ret;
}

static void push(struct build *b, uint32_t func)
{
	if (b->len < QUERY_FLAME_LEVELS)
		b->path[b->len++] = func;
}

static uint32_t root_label(struct build *b, const struct blame_cell *c)
{
	static const char *const words[] = {
		[BLAME_READER] = "(some reader)",
		[BLAME_OTHER] = "(forgotten)",
		[BLAME_NOBODY] = "(holder not known)",
	};
	enum blame_who who = query_blame_who(b->q, c);
	uint32_t *known = &b->tasks[c->key.task];

	if (who != BLAME_TASK)
		return label(b, words[who], PATH_NONE);
	if (!*known) {
		const char *comm = query_task_comm_or_idle(b->q, c->key.task);
		*known = label(b, comm ? comm : "[unknown]", PATH_NONE);
	}
	return *known;
}

static uint32_t lock_label(struct build *b, uint32_t lock)
{
	uint32_t *known = &b->locks[lock];

	if (!*known) {
		const char *name = query_lock_name(b->q, lock);
		*known = label(b, name ? name : "(lock without a name)", PATH_LOCK);
	}
	return *known;
}

static uint32_t type_label(struct build *b, uint32_t lock)
{
	enum lock_type type = (enum lock_type)b->q->model->locks->locks[lock].type;

	if (!b->types[type])
		b->types[type] = label(b, arena_printf(&b->q->arena, "[%s]", locktype_name(type)),
				       PATH_LOCK);
	return b->types[type];
}

/* "[running]", "[runnable: stress/99]" */
static uint32_t state_label(struct build *b, const struct blame_key *k)
{
	bool kept = k->state == BLAME_RUNNABLE && k->why != TASK_OTHER;
	uint32_t *known = kept ? &b->keepers[k->why] : &b->states[k->state];
	const char *who = kept && !*known ? query_task_name(b->q, k->why) : NULL;

	if (!*known)
		*known = label(b,
			       arena_printf(&b->q->arena, "[%s%s%s]", blame_state_words(k->state),
					    who ? ": " : "", who ? who : ""),
			       PATH_NONE);
	return *known;
}

/* The functions that both chains have, from the outermost one on. */
static uint32_t common(const struct query_chain *a, const struct query_chain *b)
{
	uint32_t n = 0;

	while (n < a->n && n < b->n && a->funcs[a->n - 1 - n] == b->funcs[b->n - 1 - n])
		n++;
	return n;
}

static void push_chain(struct build *b, const struct query_chain *c, uint32_t skip)
{
	for (uint32_t i = c->n - skip; i-- > 0;)
		push(b, c->funcs[i]);
}

/* Outermost functions of the program are left out. */
static void push_kernel(struct build *b, const struct query_chain *c)
{
	uint32_t skip = 0;

	while (skip < c->n &&
	       !map_frame_is_kernel(b->q->cache->funcs[c->funcs[c->n - 1 - skip]].start))
		skip++;
	if (skip == c->n)
		push(b, 0);
	push_chain(b, c, skip);
}

static int push_root(struct build *b, const struct blame_key *k)
{
	const struct query_chain *got = query_wait_chain(b->q, k->got), *sleep;

	if (!got)
		return -ENOMEM;
	if (k->got == STACK_OTHER)
		push(b, label(b, "(got where is not known)", PATH_NONE));
	else
		push_chain(b, got, 0);
	push(b, state_label(b, k));
	if ((k->state != BLAME_ASLEEP && k->state != BLAME_IO) || k->why == STACK_OTHER)
		return 0;
	sleep = query_wait_chain(b->q, k->why);
	got = query_wait_chain(b->q, k->got); /* the first one may have moved */
	if (!sleep || !got)
		return -ENOMEM;
	push_chain(b, sleep, k->got == STACK_OTHER ? 0 : common(got, sleep));
	return 0;
}

/* The root is the task; call chains are those of either side. */
static bool is_in_zoom(struct build *b, const struct blame_key *k)
{
	const struct query_zoom *z = b->spec->zoom;
	struct query_where waits = {k->lock, k->stack, k->task, UINT16_MAX, 0}, got = waits;

	got.stack = k->got;
	for (size_t i = 0; z && i < z->n; i++) {
		const struct query_zoom one = {.terms = {z->terms[i]}, .n = 1};
		if (!hot_zoom_wait(b->q, &one, &waits) && !hot_zoom_wait(b->q, &one, &got))
			return false;
	}
	return true;
}

static int add_cell(struct build *b, const struct blame_cell *c)
{
	const struct blame_key *k = &c->key;
	const struct query_where w = {.lock = k->lock, .stack = k->stack};
	const struct trie_sum sum = {.total_ns = c->ns};
	const struct query_chain *chain;

	if (!c->ns || k->state == BLAME_PASSED || !query_in_scope(b->q, &b->spec->scope, &w) ||
	    !is_in_zoom(b, k))
		return 0;
	b->len = 0;
	push(b, root_label(b, c));
	if (k->state != BLAME_UNKNOWN && push_root(b, k) < 0)
		return -ENOMEM;
	push(b, lock_label(b, k->root_lock));
	if (!k->direct)
		push(b, lock_label(b, k->lock));
	chain = query_wait_chain(b->q, k->stack);
	if (!chain)
		return -ENOMEM;
	push_kernel(b, chain);
	push(b, type_label(b, k->lock));
	return b->failed ? -ENOMEM : trie_add(&b->trie, b->path, b->len, &sum);
}

/* For which there was no room, and of which nothing else is known. */
static int add_lost(struct build *b, uint64_t ns)
{
	const struct trie_sum sum = {.total_ns = ns};
	bool part = b->spec->scope.mask || (b->spec->zoom && b->spec->zoom->n);
	uint32_t root = ns && !part ? label(b, "(holder not known)", PATH_NONE) : 0;

	return root ? trie_add(&b->trie, &root, 1, &sum) : b->failed ? -ENOMEM : 0;
}

static int add_all(struct build *b)
{
	struct query_blame_cells cells;
	int r = query_blame_cells(b->q, &cells);

	for (size_t i = 0; r == 0 && i < cells.n; i++)
		r = add_cell(b, &cells.v[i]);
	return r < 0 ? r : add_lost(b, cells.lost_ns);
}

static bool get_room(struct build *b)
{
	const struct model *m = b->q->model;
	struct arena *a = &b->q->arena;

	b->tasks = arena_alloc(a, (m->tasks->n + 1) * sizeof(*b->tasks));
	b->keepers = arena_alloc(a, (m->tasks->n + 1) * sizeof(*b->keepers));
	b->locks = arena_alloc(a, (m->locks->n + 1) * sizeof(*b->locks));
	return b->tasks && b->keepers && b->locks && trie_begin(&b->trie) == 0;
}

const char *query_flame_no_blame(const struct query *q, const struct query_flame_spec *s)
{
	const uint32_t has = 1 << BY_LOCK | 1 << BY_CALLER | 1 << BY_TYPE | 1 << BY_STACK;
	const char *why = query_blame_why_not(q);

	for (size_t i = 0; s->zoom && i < s->zoom->n; i++)
		if (s->zoom->terms[i].kind == ZOOM_CPU)
			why = "what is charged to holders is of no CPU";
	if (s->scope.mask & ~has)
		why = "what is waited is charged by lock and call chain, not by who waits";
	return why;
}

int blame_flame(struct query *q, const struct query_flame_spec *s, struct query_tree *ret)
{
	struct query_tree out = {0};
	struct build b = {.q = q, .spec = s, .trie = {.q = q, .by_name = true, .out = &out}};
	int r = query_sync(q);

	*ret = out;
	if (r < 0 || query_flame_no_blame(q, s))
		return r;
	r = get_room(&b) ? add_all(&b) : -ENOMEM;
	map64_deinit(&b.texts);
	if (r == 0)
		r = trie_emit(&b.trie);
	if (r < 0 || q->cache->failed)
		return -ENOMEM;
	*ret = out;
	return 0;
}
