// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile. A sample is an addition to a cell keyed (call chain, task, CPU, event); every table
 * is a sum over cells when it is shown. When cells or chains have run out, data of programs that
 * have ended are dropped first, the oldest before others: the tasks of samples, and the places in
 * code that no process maps any more. Then chains that were not seen for longest keep the function
 * that ran alone, up to half of the cells; then all chains lose their outer half, as often as
 * needed: distant callers are forgotten first, the function that ran never, so shares by symbol
 * stay exact. The tasks of samples that are alive are dropped last.
 */
#include "kontend/profile.h"
#include "kontend/mem.h"
#include "kontend/oldest.h"
#include "kontend/task.h"
#include "profile-int.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

enum { MOST_STACKS = 1 << 16, MOST_CELLS = 1 << 17, LEAF_ONLY = 1, SHORTEN_PAUSE = 1 << 16 };
enum { SEEN = (1 << 24) - 1 };

int profile_init(struct profile *p)
{
	*p = (struct profile){.max = MOST_CELLS, .codes = codes_new(), .clock = 1};
	if (p->codes && !map_spaces_init(&p->spaces) && !ksyms_init(&p->ksyms) &&
	    !stack_table_init(&p->stacks, MOST_STACKS))
		return 0;
	profile_deinit(p);
	return -ENOMEM;
}

void profile_deinit(struct profile *p)
{
	map_spaces_deinit(&p->spaces);
	ksyms_deinit(&p->ksyms);
	codes_unref(p->codes);
	stack_table_deinit(&p->stacks);
	map64_deinit(&p->index);
	mem_free(p->cells);
	recent_deinit(&p->recent);
	profile_deferred_deinit(&p->deferred);
	*p = (struct profile){0};
}

int profile_copy(struct profile *dst, const struct profile *src)
{
	*dst = *src;
	dst->spaces = (struct map_spaces){0};
	dst->ksyms = (struct ksyms){0};
	dst->stacks = (struct stack_table){0};
	dst->index = (struct map64){0};
	dst->recent = (struct recent){0};
	dst->deferred = (struct profile_deferred){0};
	dst->codes = codes_ref(src->codes);
	dst->cap = src->n;
	dst->cells = mem_dup(src->cells, src->n, sizeof(*src->cells));
	if ((!src->n || dst->cells) && !map_spaces_copy(&dst->spaces, &src->spaces) &&
	    !ksyms_copy(&dst->ksyms, &src->ksyms) &&
	    !stack_table_copy(&dst->stacks, &src->stacks) &&
	    !map64_copy(&dst->index, &src->index) && !recent_copy(&dst->recent, &src->recent) &&
	    !profile_deferred_copy(&dst->deferred, &src->deferred))
		return 0;
	profile_deinit(dst);
	return -ENOMEM;
}

/* 6 bits of the event's number, 18 of the call chain, 24 of the task, 16 of the CPU. */
uint64_t profile_key(const struct profile_cell *at)
{
	return (uint64_t)at->event << 58 | (uint64_t)at->stack << 40 | (uint64_t)at->task << 16 |
	       (at->cpu & 0xffff);
}

/* Adds the samples of @add to its cell: the index of the cell, or -ENOMEM. */
int profile_add(struct profile *p, const struct profile_cell *add)
{
	uint64_t key = profile_key(add);
	const uint32_t *known = map64_get(&p->index, key);
	struct profile_cell *c = known ? &p->cells[*known] : NULL;

	if (!c && p->deferred.n_spares) {
		uint32_t spare = p->deferred.spares[p->deferred.n_spares - 1];
		if (map64_put(&p->index, key, spare))
			return -ENOMEM;
		p->deferred.n_spares--;
		c = &p->cells[spare];
		*c = *add;
		c->n = c->period = 0;
	} else if (!c) {
		if (mem_grow(&p->cells, &p->cap, p->n, sizeof(*p->cells)) ||
		    map64_put(&p->index, key, (uint32_t)p->n))
			return -ENOMEM;
		c = &p->cells[p->n++];
		*c = *add;
		c->n = c->period = 0;
	}
	c->n += add->n;
	c->period += add->period;
	c->seen = add->seen > c->seen ? add->seen : c->seen;
	return (int)(c - p->cells);
}

/* An address of user space that is in no mapping may be in the page of old system calls. */
static uint64_t user_frame(const struct map_space *space, uint64_t ip)
{
	uint64_t frame = map_space_frame(space, ip);

	return ip >> 63 && !map_frame_object(frame) ? map_kernel_frame(ip) : frame;
}

static uint64_t kernel_frame(const struct profile *p, uint64_t ip)
{
	return ksyms_frame(&p->ksyms, map_kernel_frame(ip));
}

/*
 * The kernel's chain, without markers. A thread begins with a frame pointer and a return address
 * of zero, which the kernel reports as a caller: no code can be there. Addresses after the marker
 * of a hypervisor's guest are left out: they are of another machine.
 */
static uint32_t take_given(const struct profile *p, const struct map_space *space,
			   const struct event *ev, bool user_too, uint64_t *ret)
{
	bool user = !ev->sample.is_kernel, skip = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < ev->sample.n_frames && n < STACK_MAX_FRAMES; i++) {
		uint64_t ip = ev->sample.frames[i];
		if (ip >= PERF_CONTEXT_MAX) {
			user = ip == PERF_CONTEXT_USER;
			skip = ip != PERF_CONTEXT_USER && ip != PERF_CONTEXT_KERNEL;
		} else if (!skip && (user ? user_too && ip : true)) {
			ret[n++] = user ? user_frame(space, ip) : kernel_frame(p, ip);
		}
	}
	return n;
}

/*
 * The calls of user space that the CPU has kept, the latest first, which is the innermost. Each has
 * its own address; other chains have the address after the call, from which the naming of a caller
 * goes one byte back: so this one goes one ahead.
 */
static uint32_t take_branches(const struct map_space *space, const struct event *ev, uint64_t *ret,
			      uint32_t most)
{
	enum { WORDS = 3 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < ev->sample.n_branches && n < most; i++) {
		uint64_t from = ev->sample.branches[(size_t)i * WORDS];
		if (from && !map_frame_is_kernel(from))
			ret[n++] = map_space_frame(space, from + 1);
	}
	return n;
}

/* Where user space was, by the kernel's chain or the sample itself; false: nowhere. */
static bool user_leaf(const struct event *ev, uint64_t *ret)
{
	for (uint32_t i = 0; i + 1 < ev->sample.n_frames; i++)
		if (ev->sample.frames[i] == PERF_CONTEXT_USER) {
			*ret = ev->sample.frames[i + 1];
			return true;
		}
	*ret = ev->sample.ip;
	return !ev->sample.is_kernel;
}

static uint32_t take_frames(const struct profile *p, const struct event *ev, uint64_t *ret)
{
	const struct map_space *space = map_spaces_of(&p->spaces, ev->pid);
	bool has_dump = ev->sample.regs && p->unwinder;
	uint32_t n = take_given(p, space, ev, !has_dump && !ev->sample.n_branches, ret);
	uint64_t leaf;

	if (has_dump) {
		n += p->unwinder->frames(p->unwinder, space, ev, ret + n, STACK_MAX_FRAMES - n);
	} else if (ev->sample.n_branches && n < STACK_MAX_FRAMES && user_leaf(ev, &leaf)) {
		ret[n++] = map_space_frame(space, leaf);
		n += take_branches(space, ev, ret + n, STACK_MAX_FRAMES - n);
	}
	if (!n)
		ret[n++] = ev->sample.is_kernel ? kernel_frame(p, ev->sample.ip)
						: user_frame(space, ev->sample.ip);
	return n;
}

uint32_t profile_place(const struct profile *p, const struct event *ev, uint64_t *ret)
{
	const struct map_space *space = map_spaces_of(&p->spaces, ev->pid);
	uint64_t frames[STACK_MAX_FRAMES];
	uint32_t n = 0, outer;

	if (ev->sample.is_kernel)
		n = take_given(p, space, ev, false, frames);
	else
		frames[n++] = user_frame(space, ev->sample.ip);
	if (!n)
		frames[n++] = kernel_frame(p, ev->sample.ip);
	outer = n < PROFILE_PLACE ? n - 1 : PROFILE_PLACE - 1;
	ret[0] = frames[0];
	memcpy(ret + 1, frames + n - outer, outer * sizeof(*ret));
	return 1 + outer;
}

static bool is_full(const struct profile *p)
{
	return p->n >= p->max || (!p->stacks.free && p->stacks.n >= p->stacks.max);
}

/* The steps for building all cells again: the data that each step drops. */
struct remake {
	uint32_t most;			/* frames, the innermost; 0: all */
	uint32_t cold;			/* only of cells that were seen until then; 0: of all */
	bool no_tasks;			/* of no task any more */
	const struct task_table *tasks; /* NULL: none ends */
	uint64_t until_ns;
	const uint8_t *keep; /* objects; NULL: all */
	size_t n_keep;
};

static bool is_ended(const struct remake *r, uint64_t frame)
{
	uint32_t object = map_frame_object(frame);

	return r->keep && !map_frame_is_kernel(frame) && object && object < MAP_OBJECTS &&
	       (object >= r->n_keep || !r->keep[object]);
}

/* Adjacent frames of forgotten code become one. */
static uint32_t take_kept(const struct remake *r, const uint64_t *frames, uint32_t n, uint64_t *ret,
			  bool *ret_ended)
{
	const uint64_t mark = map_frame_mark(MAP_MARK_ENDED);
	uint32_t k = 0;

	*ret_ended = false;
	for (uint32_t i = 0; i < n; i++) {
		bool ended = is_ended(r, frames[i]);
		*ret_ended |= ended;
		if (!ended || !k || ret[k - 1] != mark)
			ret[k++] = ended ? mark : frames[i];
	}
	return k;
}

static uint32_t take_task(const struct remake *r, uint32_t task)
{
	if (r->no_tasks)
		return TASK_OTHER;
	return r->tasks && task_ended_until(&r->tasks->tasks[task], r->until_ns) ? TASK_OTHER
										 : task;
}

static int remake_cell(struct profile *p, const struct profile *old, const struct remake *r,
		       const struct profile_cell *c)
{
	const struct stack *s = &old->stacks.stacks[c->stack];
	uint64_t frames[STACK_MAX_FRAMES];
	bool is_cut = r->most && s->n > r->most && (!r->cold || c->seen <= r->cold), ended;
	uint32_t n = is_cut ? r->most : s->n;

	n = take_kept(r, stack_frames(&old->stacks, c->stack), n, frames, &ended);
	p->shortened += is_cut ? c->n : 0;
	p->ended += ended ? c->n : 0;
	p->nameless += r->no_tasks && c->task != TASK_OTHER ? c->n : 0;
	struct profile_cell made = *c;
	made.stack = stack_get(&p->stacks, frames, n);
	made.task = take_task(r, c->task);
	return profile_add(p, &made);
}

static int remake(struct profile *p, const struct remake *how)
{
	struct profile old = *p;
	int r = stack_table_init(&p->stacks, old.stacks.max);

	p->cells = NULL;
	p->n = p->cap = 0;
	p->index = (struct map64){0};
	p->generation++;
	profile_deferred_clear(&p->deferred);
	uint32_t *map = p->recent.n ? mem_calloc(old.n + 1, sizeof(*map)) : NULL;
	for (size_t i = 0; r >= 0 && i < old.n; i++) {
		r = remake_cell(p, &old, how, &old.cells[i]);
		if (map && r >= 0)
			map[i] = (uint32_t)r;
	}
	if (p->recent.n)
		recent_remap(&p->recent, r < 0 ? NULL : map);
	mem_free(map);
	stack_table_deinit(&old.stacks);
	map64_deinit(&old.index);
	mem_free(old.cells);
	return r < 0 ? r : 0;
}

int profile_end_tasks(struct profile *p, const struct task_table *tasks, uint64_t until_ns)
{
	const struct remake how = {.tasks = tasks, .until_ns = until_ns};

	return p->n ? remake(p, &how) : 0;
}

int profile_end_objects(struct profile *p, uint8_t **ret_keep, size_t *ret_n)
{
	struct remake how = {.n_keep = p->spaces.objects->n};

	*ret_keep = NULL;
	*ret_n = how.n_keep;
	if (!map_spaces_crowded(&p->spaces))
		return 0;
	int r = map_spaces_forget(&p->spaces, ret_keep);
	if (r < 0)
		return r;
	how.keep = *ret_keep;
	return remake(p, &how);
}

static uint64_t seen_of(const void *ctx, const void *item)
{
	const struct profile_cell *c = item;

	(void)ctx;
	return c->n ? c->seen : 0;
}

/* Chains that are seen now stay whole. */
static int cut_cold(struct profile *p)
{
	uint64_t until = oldest_until(p->cells, p->n, sizeof(*p->cells), seen_of, NULL, p->n / 2);
	const struct remake how = {.most = LEAF_ONLY,
				   .cold = until < p->clock ? (uint32_t)until : p->clock - 1};

	return how.cold ? remake(p, &how) : 0;
}

/* Chains of at most half the length, all else as it was; in the end it is functions alone. */
static int shorten(struct profile *p, uint32_t *ret_most)
{
	struct remake how = {.most = LEAF_ONLY};

	for (uint32_t i = 1; i < p->stacks.n; i++)
		if (p->stacks.stacks[i].n / 2 > how.most)
			how.most = p->stacks.stacks[i].n / 2;
	*ret_most = how.most;
	return remake(p, &how);
}

static bool has_many_cells(const struct profile *p)
{
	return p->n > p->max / 4 * 3;
}

static bool is_crowded(const struct profile *p)
{
	return has_many_cells(p) || p->stacks.in_use > p->stacks.max / 4 * 3;
}

/* Where programs come and go, most cells are of tasks that have ended. */
static int end_tasks(struct profile *p, const struct task_table *tasks)
{
	int r = 0;

	if (has_many_cells(p))
		r = profile_end_tasks(p, tasks, task_older_half(tasks));
	return !r && has_many_cells(p) ? profile_end_tasks(p, tasks, UINT64_MAX) : r;
}

/* Until there is room for a while, or nothing is left to be given up. */
static int make_room(struct profile *p, const struct task_table *tasks)
{
	uint32_t most = STACK_MAX_FRAMES;
	int r = end_tasks(p, tasks);

	if (!r && is_crowded(p))
		r = cut_cold(p);
	while (!r && is_crowded(p) && most > LEAF_ONLY)
		r = shorten(p, &most);
	if (!r && has_many_cells(p))
		r = remake(p, &(struct remake){.most = LEAF_ONLY, .no_tasks = true});
	p->next_shorten = p->samples + SHORTEN_PAUSE;
	return r;
}

int profile_sample(struct profile *p, const struct event *ev, const struct task_table *tasks,
		   uint32_t task)
{
	uint64_t frames[STACK_MAX_FRAMES];
	uint64_t cookie = profile_cookie(ev);
	uint32_t n = take_frames(p, ev, frames);
	bool has_kernel = map_frame_is_kernel(frames[0]);

	if (cookie && n < STACK_MAX_FRAMES)
		frames[n++] = map_frame_mark(MAP_MARK_DEFERRED);
	if (is_full(p) && p->samples >= p->next_shorten && make_room(p, tasks))
		return -ENOMEM;
	struct profile_cell add = {.stack = stack_get(&p->stacks, frames, n),
				   .task = task,
				   .cpu = ev->cpu,
				   .event = ev->sample.number & 0xff,
				   .seen = p->clock & SEEN,
				   .n = 1,
				   .period = ev->sample.period};
	if (add.stack == STACK_OTHER ||
	    (p->n >= p->max && !map64_get(&p->index, profile_key(&add)))) {
		add.stack = STACK_OTHER;
		add.task = TASK_OTHER;
		p->other++;
	}
	int cell = profile_add(p, &add);
	if (cell < 0)
		return cell;
	p->nameless += add.task == TASK_OTHER;
	recent_add(&p->recent, RECENT_SAMPLE, (size_t)cell, ev->sample.period);
	p->samples++;
	p->of_event[add.event]++;
	p->cur_n++;
	p->period += ev->sample.period;
	return cookie && add.stack != STACK_OTHER ? profile_defer(p, ev, &add, has_kernel) : 0;
}

void profile_tick(struct profile *p, uint64_t begin_ns, uint64_t end_ns)
{
	p->rate_n = p->cur_n;
	p->cur_n = 0;
	p->clock++;
	recent_tick(&p->recent, begin_ns, end_ns);
}

static struct profile_cell *find_recent(const struct profile *p, size_t index, uint32_t *at,
					struct profile *ret)
{
	if (!at[index]) {
		ret->cells[ret->n] = p->cells[index];
		ret->cells[ret->n].n = ret->cells[ret->n].period = 0;
		at[index] = (uint32_t)++ret->n;
	}
	return &ret->cells[at[index] - 1];
}

int profile_recent(const struct profile *p, const struct recent_window *w, const uint8_t *keep,
		   struct profile_cell *room, struct profile *ret)
{
	uint32_t *at = mem_calloc(p->n + 1, sizeof(*at));
	uint64_t high = 0;

	if (!at)
		return -ENOMEM;
	*ret = *p;
	ret->cells = room;
	ret->n = ret->samples = ret->period = 0;
	for (size_t i = w->first; i < p->recent.open; i++) {
		uint64_t word = p->recent.words[i], value = high | recent_value(word);
		high = recent_kind(word) == RECENT_HIGH ? value << RECENT_VALUE_BITS : 0;
		if (high)
			continue;
		if (keep && !keep[recent_index(word)]) {
			i += recent_kind(word) == RECENT_BLOCK ? recent_value(word) : 0;
			continue;
		}
		struct profile_cell *c = find_recent(p, recent_index(word), at, ret);
		struct recent_block b = {.n = 1, .total_ns = value};
		if (recent_kind(word) == RECENT_BLOCK) {
			memcpy(&b, &p->recent.words[i + 1], sizeof(b));
			i += recent_value(word);
		}
		c->n += b.n;
		c->period += b.total_ns;
		ret->samples += b.n;
		ret->period += b.total_ns;
	}
	mem_free(at);
	return 0;
}

void profile_zero(struct profile *p)
{
	p->n = 0;
	p->samples = p->period = p->shortened = p->other = p->next_shorten = p->ended = 0;
	p->nameless = 0;
	memset(p->of_event, 0, sizeof(p->of_event));
	p->generation++;
	profile_deferred_clear(&p->deferred);
	map64_clear(&p->index);
	recent_clear(&p->recent);
	stack_sweep(&p->stacks);
}

size_t profile_bytes(const struct profile *p)
{
	return map_spaces_bytes(&p->spaces) + ksyms_bytes(&p->ksyms) + codes_bytes(p->codes) +
	       p->cap * sizeof(*p->cells) +
	       (p->index.slots ? (p->index.mask + 1) * sizeof(*p->index.slots) : 0) +
	       p->stacks.cap * sizeof(*p->stacks.stacks) +
	       p->stacks.cap_frames * sizeof(*p->stacks.frames) +
	       (p->stacks.mask + 1) * sizeof(*p->stacks.slots) + recent_bytes(&p->recent);
}
