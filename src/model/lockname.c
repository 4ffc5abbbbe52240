// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks. An array in the order of arrival with an index by address; the objects at an
 * address, and those of a process, are lists through it. Texts are interned, so that a repeated
 * name costs nothing. Forgetting most of the older half builds both again, as interned texts cannot
 * be given back one by one.
 */
#include "kontend/lockname.h"
#include "kontend/bisect.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include "kontend/task.h"
#include <errno.h>

enum { VAR_LOCKS = 256 }; /* in a per-CPU variable */
enum { NAMES_OF_LOCK = 4 };

struct lockname_set *lockname_set_new(uint32_t locks)
{
	struct lockname_set *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->most = locks < LOCKNAME_LEAST / NAMES_OF_LOCK  ? LOCKNAME_LEAST
		  : locks > LOCKNAME_MOST / NAMES_OF_LOCK ? LOCKNAME_MOST
							  : locks * NAMES_OF_LOCK;
	s->refs = 1;
	return s;
}

struct lockname_set *lockname_set_ref(struct lockname_set *s)
{
	s->refs++;
	return s;
}

static void empty(struct lockname_set *s)
{
	mem_free(s->names);
	map64_deinit(&s->at);
	map64_deinit(&s->of_pid);
	strpool_deinit(&s->pool);
	mem_free(s->areas);
	mem_free(s->vars);
	mem_free(s->holders);
	map64_deinit(&s->holder_at);
	lockhold_deinit(&s->holds);
}

void lockname_set_unref(struct lockname_set *s)
{
	if (!s || --s->refs)
		return;
	empty(s);
	mem_free(s);
}

static bool is_mmap(const struct lockname *n)
{
	return n->kind == LOCKSNAP_MMAP;
}

/* Into the list of its process. */
static int link_pid(struct lockname_set *s, uint32_t index)
{
	struct lockname *n = &s->names[index];
	const uint32_t *last = map64_get(&s->of_pid, (uint32_t)n->pid);

	n->before_of_pid = last ? *last : 0;
	return map64_put(&s->of_pid, (uint32_t)n->pid, index + 1);
}

static int append(struct lockname_set *s, const struct lockname *name)
{
	const uint32_t *last = map64_get(&s->at, name->addr);
	uint32_t before = last ? *last + 1 : 0;

	if (mem_grow(&s->names, &s->cap, s->n, sizeof(*s->names)) < 0 ||
	    map64_put(&s->at, name->addr, (uint32_t)s->n) < 0)
		return -ENOMEM;
	s->names[s->n] = *name;
	s->names[s->n].before = before;
	s->names[s->n].before_of_pid = 0;
	s->n++;
	return is_mmap(name) ? link_pid(s, (uint32_t)s->n - 1) : 0;
}

static struct lockname *find_at(const struct lockname_set *s, uint64_t addr, uint64_t time_ns)
{
	const uint32_t *last = map64_get(&s->at, addr);

	for (uint32_t i = last ? *last + 1 : 0; i; i = s->names[i - 1].before) {
		struct lockname *n = &s->names[i - 1];
		if (n->from_ns <= time_ns && (!n->to_ns || time_ns < n->to_ns))
			return n;
	}
	return NULL;
}

/* In its place; it stays in the lists where it is. */
static int replace(struct lockname_set *s, struct lockname *at, const struct lockname *n)
{
	bool joins = is_mmap(n) && !is_mmap(at);
	struct lockname new = *n;

	new.before = at->before;
	new.before_of_pid = at->before_of_pid;
	if (!joins) {
		new.from_ns = at->from_ns;
		new.to_ns = at->to_ns;
	}
	/* Its descriptor was closed before the path could be read. */
	if (n->ino && n->ino == at->ino && n->kind == at->kind && !*n->text)
		new.text = at->text;
	if (n->kind == LOCKSNAP_USER && n->kind == at->kind && at->site) {
		new.what = at->what;
		new.site = at->site;
	}
	*at = new;
	return joins ? link_pid(s, (uint32_t)(at - s->names)) : 0;
}

/*
 * The last object there has ended. A process that has it again never lost it: only its first thread
 * was gone.
 */
static int follow(struct lockname_set *s, struct lockname *last, struct lockname *n)
{
	if (is_mmap(n) && n->pid == last->pid && n->from_ns < last->to_ns) {
		last->to_ns = 0;
		return replace(s, last, n);
	}
	n->from_ns = n->from_ns > last->to_ns ? n->from_ns : last->to_ns;
	return append(s, n);
}

/* Are both known, and of two files? */
static bool are_two_files(const struct lockname *a, const struct lockname *b)
{
	return a->ino && b->ino &&
	       (a->ino != b->ino || a->generation != b->generation || a->dev != b->dev);
}

static bool is_followed(const struct lockname_set *s, const struct lockname *n)
{
	return n && n->event_ns && n->event_ns >= s->lost_ns;
}

bool lockname_is_followed(const struct lockname_set *s, uint64_t addr, uint64_t time_ns)
{
	return is_followed(s, find_at(s, addr, time_ns));
}

/* The file @n, among those that had the lock at that address; NULL: unknown */
static struct lockname *find_file(struct lockname_set *s, const struct lockname *n)
{
	const uint32_t *last = map64_get(&s->at, n->addr);

	for (uint32_t i = last ? *last + 1 : 0; i; i = s->names[i - 1].before)
		if (s->names[i - 1].ino && !are_two_files(&s->names[i - 1], n))
			return &s->names[i - 1];
	return NULL;
}

/*
 * A snapshot names one whose inodes events report: it may be the one of before, or one for which no
 * task has waited yet. The events know the present one.
 */
static int put_followed(struct lockname_set *s, const struct lockname *n)
{
	struct lockname *at = n->ino ? find_file(s, n) : NULL;

	if (at && !*at->text && *n->text)
		at->text = n->text;
	return 0;
}

/* One that may be NULL. */
static bool intern_text(struct lockname_set *s, const char **text)
{
	if (!*text)
		return true;
	*text = strpool_intern(&s->pool, *text);
	return *text != NULL;
}

/* Its texts become those of the set. */
static bool intern(struct lockname_set *s, struct lockname *n)
{
	return intern_text(s, &n->comm) && intern_text(s, &n->text) && intern_text(s, &n->what) &&
	       intern_text(s, &n->site);
}

/* Stores the name as of @time_ns. */
static int put_name(struct lockname_set *s, const struct lockname *name, uint64_t time_ns)
{
	struct lockname n = *name, *at = find_at(s, n.addr, time_ns);
	const uint32_t *last = map64_get(&s->at, n.addr);

	if (!intern(s, &n))
		return -ENOMEM;
	if (is_followed(s, at))
		return put_followed(s, &n);
	if (!at && last && s->names[*last].to_ns && s->names[*last].to_ns <= time_ns)
		return follow(s, &s->names[*last], &n);
	if (!at)
		return append(s, &n);
	if (are_two_files(at, &n)) {
		at->to_ns = n.from_ns = time_ns;
		return append(s, &n);
	}
	/* For a freed object a snapshot has only the cache, which is less than the old name. */
	if (n.kind == LOCKSNAP_SLAB && at->kind != LOCKSNAP_SLAB)
		return 0;
	/* Which object it is in cannot be found out just now. */
	if (n.kind == LOCKSNAP_OBJECT && !n.ino && at->ino)
		return 0;
	if (!is_mmap(at) || (is_mmap(&n) && n.pid == at->pid))
		return replace(s, at, &n);
	/* A child that still has its parent's memory. */
	if (is_mmap(&n) && at->reported_ns == time_ns)
		return 0;
	/* The end of its process was not reported. */
	at->to_ns = n.from_ns > at->from_ns ? n.from_ns : time_ns;
	n.from_ns = at->to_ns;
	return append(s, &n);
}

/* Names of variables move to the new pool; the arrays with them. */
static int keep_percpu(struct lockname_set *new, struct lockname_set *s)
{
	for (size_t i = 0; i < s->n_vars; i++) {
		const char *name = strpool_intern(&new->pool, s->vars[i].name);
		if (!name) {
			s->n_areas = s->n_vars = 0;
			return -ENOMEM;
		}
		s->vars[i].name = name;
	}
	new->areas = s->areas;
	new->vars = s->vars;
	new->n_areas = s->n_areas;
	new->n_vars = s->n_vars;
	s->areas = NULL;
	s->vars = NULL;
	return 0;
}

static int move(struct lockname_set *to, const struct lockname *name)
{
	struct lockname n = *name;

	return intern(to, &n) ? append(to, &n) : -ENOMEM;
}

/*
 * The older half, but for what has not ended, as the locks of a server that tasks wait for all the
 * time: up to a quarter of all.
 */
static int forget_half(struct lockname_set *s)
{
	size_t room = s->most / 4;
	struct lockname_set new = {.refs = s->refs, .most = s->most, .lost_ns = s->lost_ns};
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n; i++) {
		bool old = i < s->n / 2;
		if (old && (s->names[i].to_ns || !room))
			continue;
		room -= old;
		code = move(&new, &s->names[i]);
	}
	if (code < 0) {
		empty(&new);
		return code;
	}
	code = keep_percpu(&new, s);
	if (code < 0) {
		empty(&new);
		return code;
	}
	new.holders = s->holders;
	new.n_holders = s->n_holders;
	new.cap_holders = s->cap_holders;
	new.holder_at = s->holder_at;
	new.holds = s->holds;
	s->holders = NULL;
	s->holder_at = (struct map64){0};
	s->holds = (struct lockholds){0};
	empty(s);
	*s = new;
	return 0;
}

/* Another file's, or what else was there, is over. */
static int put_inode(struct lockname_set *s, struct lockname *n, struct lockname *at, bool changed)
{
	const uint32_t *last = map64_get(&s->at, n->addr);

	if (at && at->ino && !are_two_files(at, n)) {
		at->event_ns = n->event_ns;
		at->kind = n->kind;
		at->start = n->start;
		at->past = n->past;
		at->text = *at->text ? at->text : n->text;
		return 0;
	}
	/* A snapshot had less information on it. */
	if (at && !at->ino && !is_mmap(at) && !changed)
		return replace(s, at, n);
	if (at)
		at->to_ns = n->from_ns;
	else if (!changed && !last)
		n->from_ns = 0;
	return append(s, n);
}

int lockname_inode(struct lockname_set *s, const struct lockname *name, bool changed)
{
	struct lockname n = *name;
	int code = s->n >= s->most ? forget_half(s) : 0;

	if (code < 0 || !intern(s, &n))
		return -ENOMEM;
	return put_inode(s, &n, find_at(s, n.addr, n.from_ns), changed);
}

/* Another machine's sections are not mixed with these: a snapshot has all of them. */
static int take_percpu(struct lockname_set *s, const struct locksnap *snap)
{
	if (!snap->n_areas || !snap->n_vars)
		return 0;
	struct locksnap_area *areas = mem_dup(snap->areas, snap->n_areas, sizeof(*areas));
	struct lockname_var *vars = mem_calloc(snap->n_vars, sizeof(*vars));
	bool whole = areas && vars;
	for (size_t i = 0; whole && i < snap->n_vars; i++) {
		const struct locksnap_var *v = &snap->vars[i];
		vars[i] = (struct lockname_var){v->offset, v->size, NULL};
		vars[i].name = strpool_intern(&s->pool, locksnap_text(snap, v->name));
		whole = vars[i].name != NULL;
	}
	if (!whole) {
		mem_free(areas);
		mem_free(vars);
		return -ENOMEM;
	}
	mem_free(s->areas);
	mem_free(s->vars);
	s->areas = areas;
	s->vars = vars;
	s->n_areas = snap->n_areas;
	s->n_vars = snap->n_vars;
	return 0;
}

static const struct lockname_var *find_var(const struct lockname_set *s, uint64_t offset)
{
	size_t low = BISECT(s->vars, s->n_vars, offset, offset);

	/* Locks, which have names of their own, follow the variable that they are in. */
	for (size_t i = 0; i < VAR_LOCKS && low > i; i++) {
		const struct lockname_var *v = &s->vars[low - 1 - i];
		if (offset - v->offset < v->size)
			return v;
	}
	return NULL;
}

bool lockname_percpu(const struct lockname_set *s, uint64_t addr, struct lockname *ret)
{
	for (size_t i = 0; i < s->n_areas; i++) {
		const struct locksnap_area *a = &s->areas[i];
		const struct lockname_var *v = addr >= a->base ? find_var(s, addr - a->base) : NULL;
		if (!v)
			continue;
		*ret = (struct lockname){.addr = addr,
					 .kind = LOCKSNAP_PERCPU,
					 .cpu = a->cpu,
					 .offset = (uint32_t)(addr - a->base - v->offset),
					 .comm = "",
					 .text = v->name};
		return true;
	}
	return false;
}

static int put_holder(struct lockname_set *s, const struct locksnap *snap,
		      const struct locksnap_queue *q)
{
	struct lockname_holder h = {.tid = q->holder_tid};
	const uint32_t *at = map64_get(&s->holder_at, (uint32_t)h.tid);
	const uint32_t most = sizeof(h.frames) / sizeof(h.frames[0]);

	h.n_frames = q->holder_n_frames < most ? q->holder_n_frames : most;
	for (uint32_t i = 0; i < h.n_frames; i++)
		h.frames[i] = snap->frames[q->holder_frame + i];
	if (at) {
		s->holders[*at] = h;
		return 0;
	}
	if (s->n_holders >= LOCKNAME_HOLDERS) {
		s->n_holders = 0;
		map64_clear(&s->holder_at);
	}
	if (mem_grow(&s->holders, &s->cap_holders, s->n_holders, sizeof(*s->holders)) < 0 ||
	    map64_put(&s->holder_at, (uint32_t)h.tid, (uint32_t)s->n_holders) < 0)
		return -ENOMEM;
	s->holders[s->n_holders++] = h;
	return 0;
}

static int take_holders(struct lockname_set *s, const struct locksnap *snap)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < snap->n_queues; i++)
		if (snap->queues[i].holder_tid && snap->queues[i].holder_n_frames)
			code = put_holder(s, snap, &snap->queues[i]);
	return code;
}

/* When it executed its program, from events; of a task that is not measured its begin is known. */
static uint64_t mm_since(const struct task_table *tasks, const struct locksnap_name *n)
{
	const uint32_t *at = map64_get(&tasks->by_tid, (uint32_t)n->pid);
	uint64_t reported = at ? tasks->tasks[*at].mm_ns : 0;

	return reported > n->since_ns ? reported : n->since_ns;
}

static void end_file(struct lockname_set *s, uint64_t addr, uint64_t time_ns)
{
	struct lockname *n = find_at(s, addr, time_ns);

	if (is_followed(s, n))
		return;

	/* The next one may be known already, where time goes back and on again. */
	if (n && n->ino && n->from_ns < time_ns)
		n->to_ns = time_ns;
}

int lockname_take_names(struct lockname_set *s, const struct locksnap *snap, uint64_t time_ns,
			const struct task_table *tasks)
{
	int code = 0;

	for (size_t i = 0; i < snap->n_ended; i++)
		end_file(s, snap->ended[i], time_ns);
	for (size_t i = 0; code == 0 && i < snap->n_names; i++) {
		const struct locksnap_name *n = &snap->names[i];
		struct lockname name = {.addr = n->addr,
					.kind = n->kind,
					.cpu = n->cpu,
					.pid = n->pid,
					.offset = n->offset,
					.reported_ns = time_ns,
					.ino = n->ino,
					.generation = n->generation,
					.dev = n->dev,
					.start = n->start,
					.past = n->past,
					.comm = locksnap_text(snap, n->comm),
					.text = locksnap_text(snap, n->text),
					.what = locksnap_text(snap, n->what),
					.site = n->site ? locksnap_text(snap, n->site) : NULL};
		if (is_mmap(&name))
			name.from_ns = mm_since(tasks, n);
		else if (n->kind == LOCKSNAP_OBJECT)
			name.from_ns = n->since_ns;
		if (s->n >= s->most)
			code = forget_half(s);
		code = code < 0 ? code : put_name(s, &name, time_ns);
	}
	return code;
}

int lockname_take(struct lockname_set *s, const struct locksnap *snap, uint64_t time_ns,
		  const struct task_table *tasks)
{
	int code = lockname_take_names(s, snap, time_ns, tasks);

	code = code < 0 ? code : take_percpu(s, snap);
	code = code < 0 ? code : take_holders(s, snap);
	return code < 0 ? code : lockhold_take(&s->holds, snap);
}

bool lockname_end(struct lockname_set *s, int32_t pid, uint64_t time_ns, uint32_t *at,
		  uint64_t *ret_addr)
{
	const uint32_t *last = map64_get(&s->of_pid, (uint32_t)pid);
	uint32_t i = *at ? s->names[*at - 1].before_of_pid : last ? *last : 0;

	for (; i; i = s->names[i - 1].before_of_pid) {
		struct lockname *n = &s->names[i - 1];
		/* Known already where time goes back and on again. */
		if (n->from_ns > time_ns || (n->to_ns && n->to_ns != time_ns))
			continue;
		n->to_ns = time_ns;
		*at = i;
		*ret_addr = n->addr;
		return true;
	}
	return false;
}

const struct lockname_holder *lockname_holder(const struct lockname_set *s, int32_t tid)
{
	const uint32_t *at = map64_get(&s->holder_at, (uint32_t)tid);

	return at ? &s->holders[*at] : NULL;
}

const struct lockname *lockname_at(const struct lockname_set *s, uint64_t addr, uint64_t time_ns)
{
	return find_at(s, addr, time_ns);
}

const struct lockname *lockname_get(const struct lockname_set *s, uint64_t addr)
{
	const uint32_t *at = map64_get(&s->at, addr);

	return at ? &s->names[*at] : NULL;
}

uint32_t lockname_life(const struct lockname_set *s, uint64_t addr)
{
	const uint32_t *at = map64_get(&s->at, addr);

	/* An event reported it, but could not name it. */
	bool is_nameless = at && s->names[*at].event_ns && !*s->names[*at].text;

	return at && (s->names[*at].to_ns || is_nameless) ? *at + 1 : 0;
}
