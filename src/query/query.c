// SPDX-License-Identifier: GPL-2.0-only
/*
 * The query object: an arena that answers lie in until the next frame, and a cache of costly
 * answers that do not change: which function a call chain was called from. A function is a small
 * number (index into `funcs`), found from a code address through one hash map, so that the binary
 * search in 200,000 symbols is made once for an address and grouping by caller is two array reads a
 * cell. The cache is dropped when the model has new indices or other symbols were loaded. Functions
 * that fail to allocate set `failed` and answer "not known"; the query then ends with -ENOMEM, so
 * that no table is ever shown with rows merged by lack of memory.
 */
#include "hot/list.h"
#include "internal.h"
#include "kontend/cell.h"
#include "kontend/funcset.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/profile.h"
#include "kontend/series.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/wait-filter.h"
#include "kontend/wait.h"
#include "locks/queues.h"
#include "names/names.h"
#include "perf/snapshot.h"
#include "rows.h"
#include "snapshots.h"
#include "uprobes/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const by_names[QUERY_BYS] = {
	[BY_LOCK] = "lock",	  [BY_CALLER] = "caller", [BY_TASK] = "task",
	[BY_PROCESS] = "process", [BY_TYPE] = "type",	  [BY_CPU] = "cpu",
	[BY_CGROUP] = "cgroup",	  [BY_STACK] = "stack",	  [BY_OWNER] = "owner",
	[BY_SYSCALL] = "syscall", [BY_AT] = "at",
};

const char *query_by_name(enum query_by by)
{
	return by < QUERY_BYS ? by_names[by] : "?";
}

int query_by_parse(const char *s, enum query_by *ret)
{
	if (strcmp(s, "memcg") == 0)
		s = by_names[BY_CGROUP];
	for (int i = 0; i < QUERY_BYS; i++) {
		if (strcmp(s, by_names[i]) == 0) {
			*ret = (enum query_by)i;
			return 0;
		}
	}
	return -EINVAL;
}

struct query_where query_cell_where(const struct cell *c)
{
	return (struct query_where){c->lock, c->stack, c->task, c->cpu, c->owner};
}

struct query_where query_wait_where(const struct wait *w)
{
	return (struct query_where){w->lock, w->stack, w->task, w->cpu, w->owner};
}

uint64_t query_waits_of(const struct model *m)
{
	uint64_t n = m->n_short;

	for (unsigned i = 0; i < LOCK_TYPES; i++)
		n += m->types[i].contended;
	return n;
}

uint64_t query_from(const struct model *m)
{
	return m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;
}

uint64_t query_elapsed(const struct model *m)
{
	return m->now_ns > query_from(m) ? m->now_ns - query_from(m) : 0;
}

uint64_t query_wait_ns(const struct model *m, const struct wait *w)
{
	uint64_t ns = wait_until_ns(w, m->now_ns);

	return ns > w->begin_ns ? ns - w->begin_ns : 0;
}

uint64_t query_wait_within_ns(const struct model *m, const struct wait *w)
{
	return wait_part_ns(w, query_from(m), wait_until_ns(w, m->now_ns));
}

double query_per_s(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0.0;
}

int query_init(struct query *q, const struct engine *e)
{
	struct query_cache *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*q = (struct query){.engine = e, .model = e->model, .sym = &e->sym, .cache = c};
	if (query_queues_init(q) == 0)
		return 0;
	mem_free(c);
	*q = (struct query){0};
	return -ENOMEM;
}

static void cache_drop(struct query_cache *c)
{
	map64_deinit(&c->by_addr);
	map64_deinit(&c->unnamed);
	mem_free(c->funcs);
	mem_free(c->stacks);
	query_chains_drop(c);
	query_origins_drop(c);
	arena_deinit(&c->text);
	arena_deinit(&c->old_text);
}

static void release(struct query *q)
{
	for (struct query_hold *h = q->cache->holds; h; h = h->next) {
		map_objects_unref(h->objects);
		task_names_unref(h->names);
	}
	q->cache->holds = NULL;
}

/* Holds the model's present names until the next frame. */
static int hold(struct query *q)
{
	struct map_objects *objects = q->model->profile->spaces.objects;
	struct task_names *names = q->model->tasks->names;
	struct query_hold *h = q->cache->holds;

	if (h && h->objects == objects && h->names == names)
		return 0;
	h = arena_alloc(&q->arena, sizeof(*h));
	if (!h)
		return -ENOMEM;
	map_objects_ref(objects);
	*h = (struct query_hold){q->cache->holds, objects, task_names_ref(names)};
	q->cache->holds = h;
	return 0;
}

void query_deinit(struct query *q)
{
	if (q->cache) {
		release(q);
		mem_free(q->cache->hot_groups.groups);
		reuse_deinit(&q->cache->reuse);
		cache_drop(q->cache);
	}
	mem_free(q->cache);
	query_perf_deinit(q);
	query_holds_deinit(q);
	query_queues_deinit(q);
	query_uprobe_deinit(q);
	query_window_deinit(q);
	query_part_deinit(q);
	query_users_deinit(q);
	query_recorded_deinit(q);
	arena_deinit(&q->arena);
	*q = (struct query){0};
}

void query_begin(struct query *q)
{
	q->frame++;
	wait_filter_end(q);
	release(q);
	arena_reset(&q->arena);
	arena_deinit(&q->cache->old_text);
	query_users_tidy(q);
	query_steady_tidy(q);
	q->cache->lock_names = NULL;
	reuse_begin(q);
}

int query_enomem(struct error *err, const char *what)
{
	return error_set(err, -ENOMEM,
			 "Out of memory while summing up the %s: end other programs or measure "
			 "fewer targets",
			 what);
}

/* Without padding, so that two can be compared as bytes. */
static struct query_stamp stamp_of(const struct query *q)
{
	const struct map_objects *o = q->model->profile->spaces.objects;

	_Static_assert(sizeof(struct query_stamp) == 48 || sizeof(void *) != 8, "no padding");
	return (struct query_stamp){
		.generation = q->model->generation,
		.funcs_reported = q->model->funcs ? funcset_changes(q->model->funcs) : 0,
		.objects = o,
		.epoch = o->epoch,
		.n_loads = q->sym->n_loads,
		.sym_state = q->sym->state,
		.profile_generation = q->model->profile->generation,
	};
}

static int cache_renew(struct query *q, const struct query_stamp *names)
{
	struct query_cache *c = q->cache;
	struct arena old_text = c->old_text;

	/* Cells of this frame's answers may point to names. */
	arena_move(&old_text, &c->text);
	c->old_text = (struct arena){0};
	cache_drop(c);
	*c = (struct query_cache){
		.old_text = old_text,
		.holds = c->holds,
		.hot_groups = c->hot_groups,
		.reuse = c->reuse,
		.n_renewed = c->n_renewed + 1,
		.asked = c->asked,
		.names = *names,
	};
	if (mem_grow(&c->funcs, &c->cap_funcs, 0, sizeof(*c->funcs)) < 0)
		return -ENOMEM;
	c->funcs[0] = (struct query_func){0};
	c->n_funcs = 1;
	c->valid = true;
	return 0;
}

/* Makes room for the stacks that came since the last query. */
static int cache_grow_stacks(struct query *q)
{
	struct query_cache *c = q->cache;
	size_t n = q->model->stacks->n;
	struct query_stack *p;

	if (n <= c->n_stacks)
		return 0;
	n += n / 2;
	p = mem_resize(c->stacks, n, sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + c->n_stacks, 0, (n - c->n_stacks) * sizeof(*p));
	c->stacks = p;
	c->n_stacks = n;
	return 0;
}

int query_sync(struct query *q)
{
	int r = hold(q);

	if (r < 0)
		return r;
	const struct query_stamp names = stamp_of(q);
	bool is_old = !q->cache->valid || memcmp(&q->cache->names, &names, sizeof(names)) != 0;
	if (is_old && !q->answers) {
		r = cache_renew(q, &names);
		if (r < 0)
			return r;
	}
	q->cache->failed = false;
	return cache_grow_stacks(q);
}

static uint32_t func_fail(struct query *q)
{
	q->cache->failed = true;
	return 0;
}

static uint32_t add_func(struct query *q, struct map64 *index, uint64_t start, const char *name,
			 const char *object)
{
	struct query_cache *c = q->cache;

	if (!name || !object ||
	    mem_grow(&c->funcs, &c->cap_funcs, c->n_funcs, sizeof(*c->funcs)) < 0 ||
	    map64_put(index, start, (uint32_t)c->n_funcs) < 0)
		return func_fail(q);
	c->funcs[c->n_funcs] = (struct query_func){
		.start = start,
		.name = name,
		.object = object,
	};
	if (map_frame_is_kernel(start))
		c->funcs[c->n_funcs].group = (uint8_t)pathgroup_find(q->engine->groups, name);
	return (uint32_t)c->n_funcs++;
}

uint32_t query_func_add(struct query *q, uint64_t start, const char *name, const char *object)
{
	return add_func(q, &q->cache->by_addr, start,
			name ? name : query_hex(&q->cache->text, map_kernel_address(start)),
			object);
}

uint32_t query_func_unnamed(struct query *q, uint64_t frame, const char *object, const char *why)
{
	const uint32_t *known = map64_get(&q->cache->unnamed, frame);
	const char *slash = strrchr(object, '/');
	uint32_t func = known ? *known : 0;

	if (!known) {
		const char *name = arena_printf(&q->cache->text, "%s+0x%" PRIx64,
						slash && slash[1] ? slash + 1 : object,
						map_frame_offset(frame));
		func = add_func(q, &q->cache->unnamed, frame, name, object);
	}
	if (func)
		q->cache->funcs[func].unnamed = why;
	return func;
}

static const char kernel[] = "[kernel]";

uint64_t query_kernel_address(const struct query *q, uint64_t frame)
{
	return ksyms_address(&q->model->profile->ksyms, frame);
}

/* All code with the same name is one function. */
static uint32_t ksym_func(struct query *q, const struct ksym *s)
{
	uint64_t start = map_ksym_frame(s->first, 0);
	const uint32_t *known = map64_get(&q->cache->by_addr, start);
	size_t room = strlen(s->name) + 1;
	char *name = known ? NULL : arena_alloc(&q->cache->text, room);

	if (known)
		return *known;
	if (!name)
		return func_fail(q);
	return query_func_add(q, start, text_clean(name, room, s->name),
			      s->is_bpf ? "[bpf]" : kernel);
}

static const char *kernel_object(struct query *q, const struct sym_entry *e, uint64_t addr)
{
	if (!e && !map_frame_is_kernel(addr))
		return "[unknown]";
	if (!e || !e->module)
		return kernel;
	return arena_printf(&q->cache->text, "[%s]", q->sym->text + e->module);
}

static uint32_t kernel_func(struct query *q, uint64_t frame)
{
	uint64_t addr = query_kernel_address(q, frame);
	const struct sym_entry *e = sym_find(q->sym, addr);
	uint64_t start = !e			      ? frame
			 : map_frame_is_kernel(frame) ? map_kernel_frame(e->addr)
						      : e->addr;
	const uint32_t *known = map64_get(&q->cache->by_addr, start);

	return known ? *known
		     : query_func_add(q, start, e ? sym_text(q->sym, e) : NULL,
				      kernel_object(q, e, frame));
}

uint32_t query_func(struct query *q, uint64_t addr)
{
	const uint32_t *known = map64_get(&q->cache->by_addr, addr);

	if (known)
		return *known;
	if (!map_frame_is_kernel(addr) && map_frame_object(addr))
		return query_user_func(q, addr);
	const struct ksym *made = engine_ksym(q->engine, addr);
	uint32_t func = made ? ksym_func(q, made) : kernel_func(q, addr);
	if (func && q->cache->funcs[func].start != addr &&
	    map64_put(&q->cache->by_addr, addr, func) < 0)
		return func_fail(q);
	return func;
}

uint32_t query_caller(struct query *q, uint32_t stack)
{
	const struct stack_table *t = q->model->stacks;
	struct query_stack *qs;
	uint64_t plain[STACK_MAX_FRAMES];
	const uint64_t *frames;
	uint32_t n;

	if (stack >= t->n || t->stacks[stack].n == 0)
		return 0;
	qs = &q->cache->stacks[stack];
	if (qs->func)
		return qs->func - 1;
	frames = stack_frames(t, stack);
	n = stack_kernel_frames(t, stack);
	const uint64_t *addrs = ksyms_addresses(&q->model->profile->ksyms, frames, n, plain);
	qs->inner = sym_after_tracing(q->sym, addrs, n);
	/* Of waits for locks of programs there are no frames of the kernel. */
	qs->frame =
		n ? sym_caller(q->sym, addrs, n) : query_own_frame(q, frames, t->stacks[stack].n);
	n = query_func(q, frames[qs->frame]);
	if (n)
		qs->func = n + 1;
	return n;
}

uint32_t query_caller_frame(struct query *q, uint32_t stack)
{
	return stack < q->cache->n_stacks ? q->cache->stacks[stack].frame : 0;
}

const uint64_t *query_wait_frames(struct query *q, uint32_t stack, uint32_t *ret_n)
{
	const struct stack_table *t = q->model->stacks;
	uint32_t inner = query_caller(q, stack) ? q->cache->stacks[stack].inner : 0;

	*ret_n = t->stacks[stack].n - inner;
	return stack_frames(t, stack) + inner;
}

enum path_group query_func_group(const struct query *q, uint32_t func)
{
	return (enum path_group)q->cache->funcs[func].group;
}

const char *hot_object_name(struct query *q, uint32_t func)
{
	return q->cache->funcs[func].object;
}

const char *query_func_name(const struct query *q, uint32_t func)
{
	return q->cache->funcs[func].name;
}

void value_series(struct query *q, struct value *v, const struct series *s, uint32_t n)
{
	const struct model *m = q->model;
	uint64_t *p;

	/* A filtered model has none, except for locks that the filter leaves complete. */
	if (q->only && (!q->only_locks || !s->v))
		return;
	if (n > m->n_ticks)
		n = (uint32_t)m->n_ticks;
	p = n ? arena_alloc(&q->arena, n * sizeof(*p)) : NULL;
	if (!p) {
		q->cache->failed |= n > 0;
		return;
	}
	for (uint32_t i = 0; s->v && i < n; i++)
		p[n - 1 - i] = series_at(s, m->n_ticks, i);
	v->series = p;
	v->n = n;
	v->known = true;
}
