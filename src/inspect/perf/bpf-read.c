// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of a snapshot, and their order. The arrays of the programs have a limited size. If the
 * kernel has more objects, the programs walk through the lists several times, each time for the
 * events whose address hashes to the number of the pass. So no event is in two passes, and an event
 * that exists all the time is in exactly one, whatever starts and ends between them.
 *
 * Walking through all descriptors costs most, so a snapshot of slots does without: the holders of a
 * breakpoint are cached by its number, until there are other breakpoints.
 */
#include "bpf-int.h"
#include "bpf-run.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

static const uint64_t RETRY_NS = 20000000;
static const uint64_t EXITED_NS = 1000000000; /* descriptors are walked in any case, before 6.15 */

enum {
	TRIES = 4, /* attempts for lists that change meanwhile */
	MOST_PASSES = 20,
	MOST_EVENTS = 65536, /* a payload of a snapshot has room for these */
	WALK_SHARE = 100,    /* this part of the time, one in N, may be spent on descriptors */
};

int bpf_run(const struct inspect_bpf *i, int program, int cpu)
{
	return bpf_run_once(i->prog_fd[program], cpu);
}

int bpf_iterate(const struct inspect_bpf *i, int program)
{
	if (i->layout.config.ns.level && program == PROG_READ_TASKS)
		return bpf_run(i, PROG_WALK_TASKS, -1);
	if (i->layout.config.ns.level && program == PROG_READ_HOLDERS)
		return bpf_run(i, PROG_WALK_HOLDERS, -1);
	return bpf_run_iterate(i->link[program]);
}

static int show_holders(struct inspect_bpf *i)
{
	const struct raw_state *s = i->state;

	i->found.n_holders = s->n_holders < i->room ? s->n_holders : i->room;
	i->found.holders = bpf_run_part_read(&i->holders, i->found.n_holders);
	return i->found.holders ? 0 : -errno;
}

/* The arrays as they are: the results of one pass. */
static int show_events(struct inspect_bpf *i)
{
	const struct raw_state *s = i->state;

	i->found.n_events = s->n_events < i->room ? s->n_events : i->room;
	i->found.n_contexts = s->n_contexts < i->room / 2 ? s->n_contexts : i->room / 2;
	i->found.events = bpf_run_part_read(&i->events, i->found.n_events);
	if (!i->found.events)
		return -errno;
	i->found.contexts = bpf_run_part_read(&i->contexts, i->found.n_contexts);
	return i->found.contexts ? show_holders(i) : -errno;
}

static int read_again(const struct inspect_bpf *i, uint32_t n)
{
	i->state->n_again = n;
	return n ? bpf_run(i, PROG_READ_AGAIN, -1) : 0;
}

static bool has_context(const struct raw_found *f, uint64_t addr)
{
	for (uint32_t k = 0; k < f->n_contexts; k++)
		if (f->contexts[k].addr == addr)
			return true;
	return false;
}

/* Contexts of CPUs to which only events with a descriptor lead. */
static int read_other_contexts(struct inspect_bpf *i)
{
	struct map64 *seen = &i->at_context;
	uint32_t n = 0;
	int code = show_events(i);

	map64_clear(seen);
	for (uint32_t k = 0; !code && k < i->found.n_holders && n < RAW_AGAIN; k++) {
		const struct raw_holder *h = &i->found.holders[k];
		if (!h->ctx || map64_get(seen, h->ctx))
			continue;
		code = map64_put(seen, h->ctx, 1);
		if (!has_context(&i->found, h->ctx))
			i->again[n++] = (struct raw_again){.addr = h->ctx, .cpu = h->cpu};
	}
	return code < 0 ? code : read_again(i, n);
}

/* Breakpoints of tasks that have exited are in no list before 6.15, but have descriptors. */
static int read_exited(struct inspect_bpf *i)
{
	uint32_t n = 0;

	for (size_t k = 0; k < i->kept.n && n < RAW_AGAIN; k++) {
		const struct raw_holder *h = &i->kept.list[k];
		if (!n || i->again[n - 1].id != h->id)
			i->again[n++] = (struct raw_again){.addr = h->event, .id = h->id};
	}
	return read_again(i, n);
}

static int walk_holders(struct inspect_bpf *i)
{
	uint64_t from = inspect_cpu_ns();
	int code = bpf_iterate(i, PROG_READ_HOLDERS);

	i->kept.time_ns = clock_now_ns();
	i->kept.cost_ns = inspect_cpu_ns() - from;
	return code;
}

static uint32_t dropped(const struct raw_state *s)
{
	return s->dropped_events + s->dropped_contexts + s->dropped_holders;
}

/* Everything in the part of the current pass. */
static int read_pass(struct inspect_bpf *i, enum inspect_what what)
{
	struct raw_state *s = i->state;
	bool lists = what == INSPECT_ALL || !s->has_pmu_list;

	s->n_events = s->n_contexts = s->n_holders = 0;
	s->dropped_events = s->dropped_contexts = s->dropped_holders = 0;
	int code = lists ? bpf_run(i, PROG_READ_CPU_CONTEXTS, -1) : 0;
	if (code == 0 && lists)
		code = bpf_iterate(i, PROG_READ_TASKS);
	if (code == 0)
		code = bpf_run(i, PROG_READ_BREAKPOINTS, -1);
	if (code == 0 && what == INSPECT_ALL)
		code = walk_holders(i);
	if (code == 0 && what == INSPECT_ALL)
		code = read_other_contexts(i);
	else if (code == 0 && lists)
		code = read_exited(i);
	code = code < 0 ? code : show_events(i);
	i->found.dropped = dropped(s);
	return code;
}

static uint32_t parts_of(uint32_t n, uint32_t room)
{
	/* Parts by a hash have about the same size, but not exactly. */
	return (n + n / 4) / room + 1;
}

static uint32_t passes_for(const struct inspect_bpf *i)
{
	const struct raw_state *s = i->state;
	const uint32_t parts[] = {
		parts_of(s->n_events + s->dropped_events, i->room),
		parts_of(s->n_contexts + s->dropped_contexts, i->room / 2),
		parts_of(s->n_holders + s->dropped_holders, i->room),
	};
	uint32_t n = 2;

	for (int k = 0; k < 3; k++)
		n = parts[k] > n ? parts[k] : n;
	return n < MOST_PASSES ? n : MOST_PASSES;
}

/*
 * Adds @n items of @size after the first @have of *@items, up to @most in all; returns the number
 * added.
 */
static int64_t append(void *items, size_t *cap, size_t have, const void *from, size_t n,
		      size_t size)
{
	size_t room = have < MOST_EVENTS ? MOST_EVENTS - have : 0;
	char *base;

	n = n < room ? n : room;
	while (*cap < have + n)
		if (mem_grow(items, cap, *cap, size) < 0)
			return -ENOMEM;
	memcpy(&base, items, sizeof(base));
	if (n)
		memcpy(base + have * size, from, n * size);
	return (int64_t)n;
}

/* Appends the results of the pass to those of the passes before. */
static int copy_pass(struct inspect_bpf *i)
{
	struct raw_copies *c = &i->copies;
	const struct raw_found *f = &i->found;
	int64_t events = append(&c->events, &c->cap_events, c->n_events, f->events, f->n_events,
				sizeof(*c->events));
	int64_t contexts = append(&c->contexts, &c->cap_contexts, c->n_contexts, f->contexts,
				  f->n_contexts, sizeof(*c->contexts));
	int64_t holders = append(&c->holders, &c->cap_holders, c->n_holders, f->holders,
				 f->n_holders, sizeof(*c->holders));

	if (events < 0 || contexts < 0 || holders < 0)
		return -ENOMEM;
	i->found.dropped += (uint32_t)(f->n_events - events + f->n_contexts - contexts +
				       f->n_holders - holders);
	c->n_events += (size_t)events;
	c->n_contexts += (size_t)contexts;
	c->n_holders += (size_t)holders;
	return 0;
}

static int read_in_passes(struct inspect_bpf *i, enum inspect_what what)
{
	struct raw_state *s = i->state;
	struct raw_copies *c = &i->copies;
	uint32_t lost = 0;
	int code = 0;

	c->n_events = c->n_contexts = c->n_holders = 0;
	s->passes = passes_for(i);
	s->torn = 0;
	for (s->pass = 0; code == 0 && s->pass < s->passes; s->pass++) {
		code = read_pass(i, what);
		code = code < 0 ? code : copy_pass(i);
		lost += i->found.dropped;
	}
	i->found = (struct raw_found){
		.events = c->events,
		.contexts = c->contexts,
		.holders = c->holders,
		.n_events = (uint32_t)c->n_events,
		.n_contexts = (uint32_t)c->n_contexts,
		.n_holders = (uint32_t)c->n_holders,
		.dropped = lost,
	};
	return code;
}

static int read_round(struct inspect_bpf *i, enum inspect_what what)
{
	struct raw_state *s = i->state;

	s->torn = s->pass = 0;
	s->passes = 1;
	int code = bpf_run(i, PROG_READ_CPUS, -1);
	code = code < 0 ? code : read_pass(i, what);
	if (code == 0 && i->found.dropped)
		code = read_in_passes(i, what);
	i->found.torn = s->torn;
	return code;
}

/* Was it opened by a task, which has a descriptor of it? */
static bool is_of_fd(const struct raw_event *r)
{
	return r->type == PERF_TYPE_BREAKPOINT && !r->parent && !(r->flags & RAW_KERNEL);
}

static bool is_walk_due(const struct inspect_bpf *i)
{
	const struct kept_holders *h = &i->kept;
	uint64_t age = clock_now_ns() - h->time_ns;

	if (h->time_ns && age < WALK_SHARE * h->cost_ns)
		return false;
	/* Those of tasks that have exited can be found in no other way. */
	if (!i->state->has_pmu_list && age >= EXITED_NS)
		return true;
	for (uint32_t k = 0; k < i->found.n_events; k++)
		if (is_of_fd(&i->found.events[k]) && !map64_get(&h->known, i->found.events[k].id))
			return true;
	return false;
}

/* Caches the holders of breakpoints, and the breakpoints at this time. */
static int keep_holders(struct inspect_bpf *i)
{
	struct kept_holders *h = &i->kept;
	int code = 0;

	h->n = 0;
	map64_clear(&h->known);
	for (uint32_t k = 0; !code && k < i->found.n_events; k++)
		if (is_of_fd(&i->found.events[k]))
			code = map64_put(&h->known, i->found.events[k].id, 1);
	for (uint32_t k = 0; !code && k < i->found.n_holders; k++) {
		if (i->found.holders[k].type != PERF_TYPE_BREAKPOINT)
			continue;
		code = mem_grow(&h->list, &h->cap, h->n, sizeof(*h->list));
		if (code == 0)
			h->list[h->n++] = i->found.holders[k];
	}
	return code < 0 ? -ENOMEM : 0;
}

/* Finds holders of the breakpoints, from the cache if possible. */
static int look_for_holders(struct inspect_bpf *i)
{
	struct raw_state *s = i->state;

	s->n_holders = s->dropped_holders = s->pass = 0;
	s->passes = 1;
	int code = walk_holders(i);
	i->found.dropped += s->dropped_holders;
	return code < 0 ? code : show_holders(i);
}

int bpf_read(struct inspect_bpf *i, enum inspect_what what)
{
	uint64_t from = clock_now_ns();
	bool walked = what == INSPECT_ALL;
	int code = 0;

	i->state->only_breakpoints = what == INSPECT_SLOTS;
	for (int k = 0; k < TRIES; k++) {
		code = read_round(i, what);
		/*
		 * If the walk takes long because of many changes, or there is no room, another walk
		 * would be incomplete as well: it is marked incomplete.
		 */
		if (code < 0 || !i->found.torn || i->found.dropped ||
		    clock_now_ns() - from > RETRY_NS)
			break;
	}
	if (code == 0 && !walked && is_walk_due(i)) {
		walked = true;
		code = look_for_holders(i);
	}
	return code == 0 && walked ? keep_holders(i) : code;
}

void bpf_read_deinit(struct inspect_bpf *i)
{
	mem_free(i->copies.events);
	mem_free(i->copies.contexts);
	mem_free(i->copies.holders);
	mem_free(i->kept.list);
	map64_deinit(&i->kept.known);
}
