// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of things. A lock that is a static object has the name of its data symbol, one with a known
 * owner is called by that (locks/name.c). All others are known by the slab cache that they are from
 * and the function that waits for them most, as an address says nothing to a reader; the end of the
 * address distinguishes such locks: "task_struct:try_to_wake_up …356c". Both modes of a lock count
 * for that, so that readers and writers of one rwsem have one name. The search walks the list of
 * the lock's cells, built once for a state of the model and only when a name is asked for.
 */
#include "../internal.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/shorts.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/taskid.h"
#include "kontend/wait.h"
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *query_hex(struct arena *a, uint64_t addr)
{
	static const char digits[] = "0123456789abcdef";
	unsigned n = 1;
	char *s;

	while (n < 16 && addr >> (4 * n))
		n++;
	s = arena_alloc(a, n + 3);
	if (!s)
		return NULL;
	s[0] = '0';
	s[1] = 'x';
	for (unsigned i = 0; i < n; i++)
		s[2 + i] = digits[addr >> (4 * (n - 1 - i)) & 15];
	return s;
}

static const char *fail(struct query *q)
{
	q->cache->failed = true;
	return NULL;
}

static const char *checked(struct query *q, const char *s)
{
	return s ? s : fail(q);
}

/* "init_mm+0xb8", or NULL when the address lies in no static object. */
static const char *static_name(struct query *q, uint64_t addr)
{
	const struct sym_entry *e = sym_object(q->sym, addr);

	if (!e || addr == e->addr)
		return e ? sym_text(q->sym, e) : NULL;
	return checked(
		q, arena_printf(&q->arena, "%s+0x%" PRIx64, sym_text(q->sym, e), addr - e->addr));
}

static bool index_cells(struct query *q)
{
	const struct cell_table *t = q->model->cells;
	struct query_cache *c = q->cache;
	struct arena *a = q->only ? &q->arena : reuse_arena(q);
	size_t n = q->model->locks->n;

	if (c->lock_head)
		return true;
	c->lock_next = arena_alloc(a, (t->n + 1) * sizeof(*c->lock_next));
	c->lock_head = arena_alloc(a, n * sizeof(*c->lock_head));
	c->lock_hottest = arena_alloc(a, n * sizeof(*c->lock_hottest));
	if (!c->lock_next || !c->lock_head || !c->lock_hottest) {
		c->lock_head = NULL;
		return false;
	}
	c->n_locks = n;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t lock = t->cells[i].lock;
		if (lock >= n)
			continue;
		c->lock_next[i] = c->lock_head[lock];
		c->lock_head[lock] = (uint32_t)i + 1;
	}
	return true;
}

/* The same lock in the other mode, or UINT32_MAX. */
static uint32_t sibling(const struct query *q, uint32_t lock)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const char *mode = locktype_mode((enum lock_type)l->type);
	const uint32_t *other;

	if (mode[0] == '\0' || l->over)
		return UINT32_MAX;
	other = map64_get(&q->model->locks->index,
			  lock_key(l->addr, (enum lock_type)(l->type + (mode[0] == 'R' ? 1 : -1))));
	return other && *other < q->cache->n_locks ? *other : UINT32_MAX;
}

static void heat_cells(struct query *q, uint32_t *best, uint32_t lock)
{
	const struct cell *cells = q->model->cells->cells;

	for (uint32_t i = q->cache->lock_head[lock]; i; i = q->cache->lock_next[i - 1])
		if (cell_n(q->model->cells, &cells[i - 1]))
			query_heat(q, best, cells[i - 1].stack, cells[i - 1].total_ns);
}

/* Function that waits for the lock most; that of a wait in flight where none has finished yet. */
static uint32_t hottest_caller(struct query *q, uint32_t lock)
{
	const struct wait_pool *p = q->model->waits;
	uint32_t other = sibling(q, lock);
	uint32_t best = 0, *known = &q->cache->lock_hottest[lock];

	if (*known)
		return *known - 1;
	q->cache->stamp++;
	heat_cells(q, &best, lock);
	if (other != UINT32_MAX)
		heat_cells(q, &best, other);
	for (uint32_t i = 1; !best && p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (w->used && (w->lock == lock || w->lock == other))
			best = query_caller(q, w->stack);
	}
	*known = q->cache->failed ? 0 : best + 1;
	return best;
}

/* The object that a lock belongs to; NULL: not known. */
struct lock_words {
	const char *name;  /* its own */
	const char *cache; /* the slab cache of its object, or what it is in that */
	const char *func;  /* that waits for it most, with a name or without */
	bool is_type;	   /* `name` has the type of the object: "pi_lock (task_struct)" */
};

/* A task has one: there are many. */
static const char task_mutex[] = "perf_event_mutex";

/*
 * The accounting of breakpoint slots takes one lock of each type, so that its caller and its type
 * are its name: bp_cpuinfo_sem, and the perf_event_mutex of the task (6.1), which before were
 * nr_bp_mutex alone.
 */
static const char *slot_lock(const struct query *q, enum lock_type type, const char *func)
{
	unsigned major, minor;

	if (!func || !sym_accounts_slots(func))
		return NULL;
	if (type == LOCK_PCPU_SEM_R || type == LOCK_PCPU_SEM_W)
		return "bp_cpuinfo_sem";
	if (type != LOCK_MUTEX || sscanf(q->model->host->release, "%u.%u", &major, &minor) != 2)
		return NULL;
	return major < 6 || (major == 6 && minor < 1) ? "nr_bp_mutex" : task_mutex;
}

enum words_of {
	WORDS_PLAIN,
	WORDS_HOTTEST,	  /* with the function, for which all cells are looked at */
	WORDS_EVERYWHERE, /* the same, and nothing that is another one in the next boot */
};

/* For a mode without waits: the begin of the first wait for the other mode. */
static uint64_t begin_of(const struct query *q, const struct lock *l)
{
	return l->begin_ns || !l->twin ? l->begin_ns : q->model->locks->locks[l->twin].begin_ns;
}

static struct lock_words lock_words(struct query *q, uint32_t lock, enum words_of of)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const struct lockname *object;
	struct lock_words w = {.name = lock < LOCK_TYPES ? "other" : static_name(q, l->addr)};
	uint32_t func;

	if (w.name || q->cache->failed)
		return w;
	object = query_lock_place(q, l->addr, begin_of(q, l));
	if (object)
		w.name = of == WORDS_EVERYWHERE ? query_object_everywhere(q, object)
						: query_object_name(q, object);
	w.is_type = object && object->kind == LOCKSNAP_OBJECT && !*object->text && !object->pid;
	if (w.name)
		return w;
	/* A name that others' objects have, too, would be a wrong one: the function says more. */
	if (object && object->kind == LOCKSNAP_SLAB && *object->text != *LOCKSNAP_MERGED)
		w.cache = object->text;
	func = of == WORDS_PLAIN ? 0 : hottest_caller(q, lock);
	w.func = func ? query_func_name(q, func) : NULL;
	bool is_percpu = l->type == LOCK_PCPU_SEM_R || l->type == LOCK_PCPU_SEM_W;
	if (is_percpu && w.func && (w.name = sym_percpu_rwsem(w.func)) != NULL)
		return w;
	if (w.func)
		w.name = query_static_lock(q, lock, sibling(q, lock),
					   (of == WORDS_EVERYWHERE ? STATICS_EVERYWHERE : 0) |
						   (w.cache ? STATICS_IN_CACHE : 0));
	w.is_type = w.name && w.name[strlen(w.name) - 1] == ')';
	if (w.name)
		return w;
	const char *slots = slot_lock(q, (enum lock_type)l->type, w.func);
	if (slots == task_mutex)
		w.cache = slots;
	else
		w.name = slots;
	return w;
}

const char *query_slot_lock_name(struct query *q, uint32_t lock)
{
	if (!index_cells(q) || lock >= q->cache->n_locks)
		return NULL;
	uint32_t func = hottest_caller(q, lock);
	const char *name = func ? query_func_name(q, func) : NULL;
	return slot_lock(q, (enum lock_type)q->model->locks->locks[lock].type, name);
}

static bool is_address(const char *name)
{
	return strncmp(name, "0x", 2) == 0;
}

static enum query_name_rank rank_of(const struct lock_words *w)
{
	if (w->name)
		return w->is_type ? QUERY_NAME_TYPE : QUERY_NAME_LOCK;
	if (w->func && is_address(w->func))
		return QUERY_NAME_ADDRESS;
	if (w->cache)
		return QUERY_NAME_CACHE;
	return w->func ? QUERY_NAME_FUNCTION : QUERY_NAME_ADDRESS;
}

static const char *make_lock_name(struct query *q, uint32_t lock, enum words_of of,
				  enum query_name_rank *ret_rank)
{
	uint64_t addr = q->model->locks->locks[lock].addr;
	struct lock_words w = lock_words(q, lock, of);
	struct arena *a = &q->arena;
	unsigned end = addr & 0xffffff;

	*ret_rank = rank_of(&w);
	if (addr == SHORTS_LOCK)
		return "short";
	if (w.name || q->cache->failed)
		return w.name;
	if (w.func && is_address(w.func))
		return checked(q, arena_printf(a, "%s%s0x%" PRIx64 " (%s)", w.cache ? w.cache : "",
					       w.cache ? " " : "", addr, w.func));
	if (w.cache && w.func)
		return checked(q, arena_printf(a, "%s:%s …%06x", w.cache, w.func, end));
	if (w.cache || w.func)
		return checked(q, arena_printf(a, "%s …%06x", w.cache ? w.cache : w.func, end));
	return checked(q, query_hex(a, addr));
}

const char *query_lock_plain_name(struct query *q, uint32_t lock)
{
	enum query_name_rank rank;

	return make_lock_name(q, lock, WORDS_PLAIN, &rank);
}

static const char *lock_class(struct query *q, uint32_t lock, enum words_of of)
{
	if (!index_cells(q) || lock >= q->cache->n_locks)
		return NULL;
	if (q->model->locks->locks[lock].addr == SHORTS_LOCK)
		return "short";
	struct lock_words w = lock_words(q, lock, of);
	if (w.name || (w.cache && !w.func))
		return w.name ? w.name : w.cache;
	if (!w.func)
		return "(no call chain)";
	if (w.cache)
		return checked(q, arena_printf(&q->arena, "%s:%s", w.cache, w.func));
	return checked(q, arena_printf(&q->arena, "(%s)", w.func));
}

const char *query_lock_class(struct query *q, uint32_t lock)
{
	return lock_class(q, lock, WORDS_HOTTEST);
}

const char *query_lock_everywhere(struct query *q, uint32_t lock)
{
	return lock_class(q, lock, WORDS_EVERYWHERE);
}

const char *query_lock_name(struct query *q, uint32_t lock)
{
	struct query_cache *c = q->cache;
	enum query_name_rank rank;
	const char **known;

	if (!index_cells(q))
		return fail(q);
	if (!c->lock_names)
		c->lock_names = arena_alloc(&q->arena, c->n_locks * sizeof(*c->lock_names));
	if (!c->lock_names)
		return fail(q);
	if (lock >= c->n_locks)
		return NULL;
	known = &c->lock_names[lock];
	if (!*known) {
		const char *name = make_lock_name(q, lock, WORDS_HOTTEST, &rank);
		*known = query_steady_name(q, lock, name, rank);
	}
	return *known;
}

static const struct task *task_at(const struct query *q, uint32_t task)
{
	const struct task_table *t = q->model->tasks;

	return task != TASK_OTHER && task < t->n ? &t->tasks[task] : NULL;
}

const char *query_slash(struct arena *a, const char *comm, int32_t id, const char *none)
{
	char number[TASKID_TEXT];

	return arena_printf(a, "%s/%s", comm && *comm ? comm : none, taskid_text(number, id));
}

static const char *slash_name(struct query *q, const char *comm, int32_t id)
{
	return checked(q, query_slash(&q->arena, comm, id, id ? "-" : "swapper"));
}

const char *query_task_comm(struct query *q, uint32_t task)
{
	const struct task *t = task_at(q, task);

	return t && t->comm && *t->comm ? t->comm : NULL;
}

const char *query_task_comm_or_idle(struct query *q, uint32_t task)
{
	const struct task *t = task_at(q, task);
	const char *comm = query_task_comm(q, task);

	return comm || !t || t->tid ? comm : "swapper";
}

const char *query_in_words(struct query *q, const char *name)
{
	return name && name[0] == '-' && name[1] == '/'
		       ? arena_printf(&q->arena, "task %s", name + 2)
		       : name;
}

const char *query_task_name(struct query *q, uint32_t task)
{
	const struct task *t = task_at(q, task);

	return t ? slash_name(q, t->comm, t->tid) : "other";
}

const char *query_process_comm(struct query *q, uint32_t task)
{
	const struct task *t = task_at(q, task);
	const uint32_t *leader;

	if (!t)
		return NULL;
	leader = map64_get(&q->model->tasks->by_tid, (uint32_t)t->pid);
	if (leader && task_at(q, *leader) && task_at(q, *leader)->pid == t->pid)
		task = *leader;
	return query_task_comm(q, task);
}

const char *query_owner_name(struct query *q, uint32_t owner)
{
	if (owner == OWNER_FREE)
		return "(free)";
	const char *name = owner ? query_task_name(q, cell_owner_task(owner)) : NULL;

	return name && owner & OWNER_HINT ? arena_printf(&q->arena, "%s R?", name) : name;
}

const char *query_process_name(struct query *q, uint32_t task)
{
	const struct task *t = task_at(q, task);

	return t ? slash_name(q, query_process_comm(q, task), t->pid) : "other";
}

void value_who(struct task_cells to, int32_t pid, int32_t tid, const char *comm)
{
	if (to.pid)
		value_i(to.pid, taskid_number(pid));
	if (to.tid)
		value_i(to.tid, taskid_number(tid));
	if (to.comm)
		value_s(to.comm, comm);
}

void query_fill_task(struct query *q, uint32_t task, struct task_cells to)
{
	const struct task *t = task_at(q, task);

	if (to.name)
		value_s(to.name, query_task_name(q, task));
	if (t)
		value_who(to, t->pid, t->tid, query_task_comm(q, task));
}

void query_fill_process(struct query *q, uint32_t task, struct task_cells to)
{
	const struct task *t = task_at(q, task);

	if (to.name)
		value_s(to.name, query_process_name(q, task));
	if (t)
		value_who(to, t->pid, t->tid, query_process_comm(q, task));
}

const char *query_cgroup_name(struct query *q, uint64_t id)
{
	const char *path = id ? task_cgroup_path(q->model->tasks, id) : NULL;

	if (!id || (path && *path))
		return path;
	return checked(q, arena_printf(&q->arena, "cgroup id %" PRIu64, id));
}

/* Each frame is resolved once: short of memory, a second look may find more than the first. */
static const char **chain_names(struct query *q, const uint64_t *frames, size_t n, size_t *ret_len)
{
	const char **names = arena_alloc(&q->arena, n * sizeof(*names));

	*ret_len = 0;
	for (size_t i = 0; names && i < n; i++) {
		uint32_t f = query_func(q, frames[i]);
		names[i] = f ? query_func_name(q, f) : "";
		*ret_len += strlen(names[i]) + 3;
	}
	return names;
}

const char *query_chain(struct query *q, uint32_t stack)
{
	const struct stack_table *t = q->model->stacks;
	size_t len;

	if (!query_caller(q, stack))
		return NULL;
	uint32_t at = query_caller_frame(q, stack), n = t->stacks[stack].n - at;
	const char **names = chain_names(q, stack_frames(t, stack) + at, n, &len);
	char *s = names ? arena_alloc(&q->arena, len + 1) : NULL;
	if (!s)
		return fail(q);
	char *end = s;
	for (uint32_t i = 0; i < n; i++) {
		if (i && *names[i])
			end = stpcpy(end, " < ");
		end = stpcpy(end, names[i]);
	}
	return s;
}
