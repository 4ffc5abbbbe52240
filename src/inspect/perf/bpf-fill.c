// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a snapshot of the results of the programs: an event found on several lists becomes one,
 * addresses become indices, and times are extended to now. Computes the derived values: the most
 * slots that one task has on a CPU (as the kernel counts them: its breakpoints for any CPU, and for
 * that one), hits since the snapshot before, the task that an inherited event counts, the sums of
 * contexts.
 */
#include "bpf-int.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CGROUP_TEXT = 512 };

static uint32_t add_clean_text(struct perfsnap *s, const char *text, size_t size)
{
	char raw[64], clean[64];

	if (!text[0])
		return 0;
	snprintf(raw, sizeof(raw), "%.*s", (int)(size < 63 ? size : 63), text);
	return perfsnap_add_text(s, text_clean(clean, sizeof(clean), raw));
}

#define ADD_TEXT(s, array) add_clean_text(s, array, sizeof(array))

/*
 * Hits of an event since the snapshot before, UINT64_MAX if not known; kept for the next one. A
 * rate needs two counts that are of the times of the snapshots. The kernel adds the count of a
 * counter of the PMU to the event only when the event leaves the PMU or is read, and until then the
 * sum is of an earlier time: @now: it is of this snapshot.
 */
static uint64_t record_counter_hits(struct record_counter *s, const struct raw_event *r, bool now)
{
	const uint32_t *at = r->id ? map64_get(&s->at, r->id) : NULL;
	const struct counted *before = at ? &s->counted[*at] : NULL;

	if (mem_grow(&s->next, &s->cap_next, s->n_next, sizeof(*s->next)) == 0)
		s->next[s->n_next++] = (struct counted){r->id, r->count, now};
	if (!before || !before->is_current || !now || r->count < before->count)
		return UINT64_MAX;
	return r->count - before->count;
}

/* The counts of this snapshot become those of the one before. 0 or -ENOMEM. */
static int record_counter_turn(struct record_counter *s)
{
	struct counted *counted = s->counted;
	size_t cap = s->cap;

	s->counted = s->next;
	s->cap = s->cap_next;
	s->n = s->n_next;
	s->next = counted;
	s->cap_next = cap;
	s->n_next = 0;
	map64_clear(&s->at);
	for (size_t k = 0; k < s->n; k++)
		if (map64_put(&s->at, s->counted[k].id, (uint32_t)k) < 0)
			return -ENOMEM;
	return 0;
}

void record_counter_deinit(struct record_counter *s)
{
	map64_deinit(&s->at);
	mem_free(s->counted);
	mem_free(s->next);
	*s = (struct record_counter){0};
}

static uint64_t whom_family(const struct raw_event *r)
{
	return r->parent_id ? r->parent_id : r->id;
}

static uint64_t whom_key(const struct raw_event *r)
{
	int tid = r->counted_tid ? r->counted_tid : r->target_tid;

	return hash_u64(whom_family(r)) + (uint32_t)tid;
}

static bool is_inherited(const struct raw_event *r)
{
	return r->parent_id || r->flags & RAW_INHERIT;
}

static uint32_t whom_counted(const struct map64 *m, uint64_t key)
{
	const uint32_t *n = map64_get(m, key);

	return n ? *n : 0;
}

static int whom_count(struct map64 *m, uint64_t key)
{
	return map64_put(m, key, whom_counted(m, key) + 1);
}

/*
 * The task that an inherited event counts. Threads of a family exchange their contexts when one
 * follows another on a CPU, so it is the task of the context. But contexts are read one after
 * another, and may be exchanged in between: then two events of a family seem to count the same
 * task, which is impossible. Those are shown for the tasks that they were opened for. 0 or -ENOMEM.
 */
static int whom_begin(struct whom *w, const struct raw_found *found)
{
	int code = 0;

	map64_clear(&w->seen);
	map64_clear(&w->families);
	map64_clear(&w->counted);
	for (uint32_t k = 0; code == 0 && k < found->n_events; k++) {
		const struct raw_event *r = &found->events[k];
		/* It may have been found on several lists. */
		if (!is_inherited(r) || map64_get(&w->seen, r->addr))
			continue;
		code = map64_put(&w->seen, r->addr, 1);
		code = code < 0 ? code : whom_count(&w->families, whom_family(r));
		/* An event that is in no context any more counts no task. */
		if (code == 0 && r->state > SNAP_EXIT)
			code = whom_count(&w->counted, whom_key(r));
	}
	return code;
}

/* Does @r count another task than it was opened for? */
static bool whom_is_other(const struct whom *w, const struct raw_event *r)
{
	return r->counted_tid && r->state > SNAP_EXIT &&
	       whom_counted(&w->counted, whom_key(r)) == 1;
}

/* May it have counted another one since the snapshot before? */
static bool whom_is_shared(const struct whom *w, const struct raw_event *r)
{
	return is_inherited(r) && whom_counted(&w->families, whom_family(r)) > 1;
}

void whom_deinit(struct whom *w)
{
	map64_deinit(&w->seen);
	map64_deinit(&w->families);
	map64_deinit(&w->counted);
}

static int fill_contexts(struct inspect_bpf *i, struct perfsnap *s)
{
	map64_clear(&i->at_context);
	for (uint32_t k = 0; k < i->found.n_contexts; k++) {
		const struct raw_context *r = &i->found.contexts[k];
		/* Tasks keep a context that they needed once. */
		if (r->events <= 0 || map64_get(&i->at_context, r->addr))
			continue;
		struct snap_context c = {
			.addr = r->addr,
			.cpu = r->cpu,
			.tid = r->tid,
			.pid = r->pid,
			.comm = ADD_TEXT(s, r->comm),
			.running_permille = 1000,
		};
		if (perfsnap_add_context(s, &c) < 0 ||
		    map64_put(&i->at_context, r->addr, (uint32_t)s->n_contexts) < 0)
			return -ENOMEM;
	}
	return 0;
}

uint32_t bpf_index_of(const struct map64 *m, uint64_t addr)
{
	const uint32_t *at = addr ? map64_get(m, addr) : NULL;

	return at ? *at : 0;
}

/*
 * Is its count current? Software events, tracepoints, probes and breakpoints add to it at each
 * occurrence. A counter of a PMU, and a clock, is added up when its event leaves the PMU or is
 * read.
 */
static bool is_current(const struct raw_event *r)
{
	bool clock = r->type == PERF_TYPE_SOFTWARE && (r->config == PERF_COUNT_SW_CPU_CLOCK ||
						       r->config == PERF_COUNT_SW_TASK_CLOCK);

	if (r->state < SNAP_ACTIVE)
		return true;
	return r->type == PERF_TYPE_BREAKPOINT || r->type == PERF_TYPE_TRACEPOINT ||
	       r->name[0] != '\0' || (r->type == PERF_TYPE_SOFTWARE && !clock);
}

static uint32_t flags_of(const struct raw_event *r, int self)
{
	uint32_t f = SNAP_COUNT;

	f |= is_current(r) ? 0 : SNAP_STALE;
	/* A cgroup has a clock of its own on each CPU, which is not read. */
	f |= !(r->flags & RAW_CGROUP) || r->state < SNAP_INACTIVE ? SNAP_TIMES : 0;

	f |= r->flags & RAW_PINNED ? SNAP_PINNED : 0;
	f |= r->flags & RAW_INHERIT ? SNAP_INHERIT : 0;
	f |= r->flags & RAW_EXCLUSIVE ? SNAP_EXCLUSIVE : 0;
	f |= r->flags & RAW_ROTATES ? SNAP_ROTATES : 0;
	f |= r->flags & RAW_FREQUENCY ? SNAP_FREQUENCY : 0;
	f |= (r->flags >> RAW_EXCLUDES_BIT & 15) << SNAP_EXCLUDES_BIT;
	f |= (r->flags >> RAW_PRECISE_BIT & 3) << SNAP_PRECISE_BIT;
	f |= r->parent ? SNAP_CHILD : 0;
	if (r->flags & RAW_PTRACE)
		f |= SNAP_PTRACE;
	else if (r->flags & RAW_KERNEL)
		f |= SNAP_KERNEL;
	if (r->flags & RAW_CGROUP)
		f |= SNAP_CGROUP;
	else
		f |= !r->target_pid ? SNAP_CPU_BOUND : 0;
	f |= r->owner_pid == self ? SNAP_OWN : 0;
	f |= r->leader && r->leader != r->addr ? SNAP_GROUP_MEMBER : 0;
	return f;
}

/* The kernel updates its sums when an event's state changes: adds the time since then. */
static void carry_on(const struct raw_event *r, struct snap_event *e)
{
	uint64_t more = r->ctx_time > r->tstamp && r->tstamp ? r->ctx_time - r->tstamp : 0;

	if (r->flags & RAW_CGROUP)
		more = 0; /* its tstamp comes from another clock */

	e->count_age_ns = is_current(r) ? 0 : more;
	e->enabled_ns = r->enabled_ns + (r->state >= SNAP_INACTIVE ? more : 0);
	e->running_ns = r->running_ns + (r->state >= SNAP_ACTIVE ? more : 0);
}

#define SAME(a, b, member) (memcmp((a)->member, (b)->member, sizeof((a)->member)) == 0)

static uint32_t add_name(struct perfsnap *s, const struct raw_event *r)
{
	char text[128], clean[128];

	names_event(text, sizeof(text), r->type, r->config, r->bp_type, r->bp_addr, r->pmu,
		    r->system, r->name);
	return perfsnap_add_text(s, text_clean(clean, sizeof(clean), text));
}

/* Neighbours mostly have the same names: then they are those of the previous one, @p in @before. */
static void fill_texts(struct perfsnap *s, const struct raw_event *r, struct snap_event *e,
		       const struct raw_event *p, const struct snap_event *before)
{
	bool named = p && r->type == p->type && r->config == p->config &&
		     r->bp_type == p->bp_type && r->bp_addr == p->bp_addr && SAME(r, p, pmu) &&
		     SAME(r, p, system) && SAME(r, p, name);

	e->name = named ? before->name : add_name(s, r);
	e->pmu = named ? before->pmu : ADD_TEXT(s, r->pmu);
	e->owner_comm =
		p && SAME(r, p, owner_comm) ? before->owner_comm : ADD_TEXT(s, r->owner_comm);
	bool same = p && SAME(r, p, target_comm) && !(p->flags & RAW_CGROUP) && !p->counted_tid;
	e->target_comm = same ? before->target_comm : ADD_TEXT(s, r->target_comm);
}

/* The whole path, or, outside of our cgroup namespace, the name of its directory. */
static uint32_t add_cgroup(struct inspect_bpf *i, struct perfsnap *s, const struct raw_event *r)
{
	const char *path = cgroup_names_get(&i->cgroups, "/proc/self/mounts", r->cgroup_id);
	char clean[CGROUP_TEXT];

	if (path)
		return perfsnap_add_text(s, text_clean(clean, sizeof(clean), path));
	return r->cgroup[0] ? ADD_TEXT(s, r->cgroup) : perfsnap_add_text(s, "/");
}

static void fill_names(struct inspect_bpf *i, struct perfsnap *s, const struct raw_event *r,
		       struct snap_event *e)
{
	char clean[128];

	fill_texts(s, r, e, i->before, i->before ? &s->events[s->n_events - 1] : NULL);
	i->before = r;
	if (r->flags & RAW_CGROUP)
		e->target_comm = add_cgroup(i, s, r);
	e->tracer_comm = ADD_TEXT(s, r->tracer_comm);
	if (whom_is_other(&i->whom, r))
		e->target_comm = ADD_TEXT(s, r->counted_comm);
	if (r->type != PERF_TYPE_BREAKPOINT)
		return;
	int32_t pid = r->target_pid ? r->target_pid : r->owner_pid;
	/* An inherited event has the same place as its parent. */
	uint64_t id = r->parent_id ? r->parent_id : r->id;
	const char *where = names_where(&i->names, "/proc", id, pid, r->bp_addr);
	e->where = perfsnap_add_text(s, text_clean(clean, sizeof(clean), where));
}

/* Before 6.15 the value of "revoked" meant "dead". */
static int32_t state_of(const struct inspect_bpf *i, const struct raw_event *r)
{
	return r->state == SNAP_REVOKED && !i->layout.has_revoked ? SNAP_DEAD : r->state;
}

/* The slot stays with the task that it was opened for. */
static int fill_whom(struct inspect_bpf *i, const struct raw_event *r, struct snap_event *e)
{
	if (whom_is_other(&i->whom, r)) {
		e->target_pid = r->counted_pid;
		e->target_tid = r->counted_tid;
	}
	e->flags |= whom_is_shared(&i->whom, r) ? SNAP_SHARED : 0;
	if (mem_grow(&i->slot_tids, &i->cap_slot_tids, i->n_slot_tids, sizeof(*i->slot_tids)) < 0)
		return -ENOMEM;
	i->slot_tids[i->n_slot_tids++] = r->target_tid;
	return 0;
}

static int fill_event(struct inspect_bpf *i, struct perfsnap *s, const struct raw_event *r)
{
	struct snap_event e = {
		.id = r->id,
		.parent = r->parent_id,
		.config = r->config,
		.bp_addr = r->bp_addr,
		.bp_len = r->bp_len,
		.count = r->count,
		.hits = record_counter_hits(i->now, r, is_current(r)),
		.type = r->type,
		.bp_type = r->bp_type,
		.cpu = r->cpu,
		.oncpu = r->oncpu,
		.state = state_of(i, r),
		.flags = flags_of(r, (int)i->layout.config.self),
		.owner_pid = r->owner_pid,
		.owner_tid = r->owner_tid,
		.target_pid = r->target_pid,
		.target_tid = r->target_tid,
		.tracer_pid = r->tracer_pid,
		.context = bpf_index_of(&i->at_context, r->ctx),
	};

	carry_on(r, &e);
	fill_names(i, s, r, &e);
	if (fill_whom(i, r, &e) < 0 || perfsnap_add_event(s, &e) < 0)
		return -ENOMEM;
	return map64_put(&i->at_event, r->addr, (uint32_t)s->n_events);
}

/*
 * An event that was read while it was freed has an impossible kind. And one that is being inherited
 * belongs to a task without a number: the next snapshot has it.
 */
static int is_sane(const struct raw_event *r)
{
	return r->id && !(r->flags & RAW_NEWBORN) && r->cpu >= -1 && r->cpu < RAW_CPUS &&
	       r->state >= SNAP_DEAD && r->state <= SNAP_ACTIVE;
}

static int fill_events(struct inspect_bpf *i, struct perfsnap *s)
{
	map64_clear(&i->at_event);
	names_begin(&i->names);
	i->before = NULL;
	i->now->n_next = 0;
	i->n_slot_tids = 0;
	if (whom_begin(&i->whom, &i->found) < 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < i->found.n_events; k++) {
		const struct raw_event *r = &i->found.events[k];
		if (!is_sane(r) || map64_get(&i->at_event, r->addr))
			continue;
		/* Closed, and only not freed yet. */
		if (state_of(i, r) == SNAP_DEAD)
			continue;
		if (fill_event(i, s, r) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Without a descriptor: it is being opened or closed, and no orphan. */
static void mark_orphan(struct snap_event *e)
{
	if (!e->owner_pid && !(e->flags & (SNAP_CHILD | SNAP_KERNEL | SNAP_PTRACE)))
		e->flags |= SNAP_ORPHAN;
}

static int fill_holder(struct inspect_bpf *i, struct perfsnap *s, const struct raw_holder *r)
{
	struct snap_holder h = {
		.event = bpf_index_of(&i->at_event, r->event),
		.pid = r->pid,
		.fd = r->fd,
	};

	/* Its event was opened after the lists were read, or is closed by now. */
	if (!h.event || s->events[h.event - 1].id != r->id)
		return 0;
	h.comm = ADD_TEXT(s, r->comm);
	if (perfsnap_add_holder(s, &h) < 0)
		return -ENOMEM;
	mark_orphan(&s->events[h.event - 1]);
	return 0;
}

static int fill_holders(struct inspect_bpf *i, enum inspect_what what, struct perfsnap *s)
{
	bool all = what == INSPECT_ALL;
	const struct raw_holder *list = all ? i->found.holders : i->kept.list;
	size_t n = all ? i->found.n_holders : i->kept.n;
	int code = 0;

	for (size_t k = 0; !code && k < n; k++)
		code = fill_holder(i, s, &list[k]);
	return code;
}

struct times {
	uint64_t enabled, running;
};

static void sum_context(struct snap_context *c, const struct snap_event *e, struct times *t)
{
	c->events++;
	c->pinned += (e->flags & SNAP_PINNED) != 0;
	c->flexible += !(e->flags & SNAP_PINNED);
	c->active += e->state == SNAP_ACTIVE;
	c->rotating |= (e->flags & SNAP_ROTATES) != 0;
	if (e->state < SNAP_INACTIVE || !(e->flags & SNAP_TIMES))
		return;
	t->enabled += e->enabled_ns;
	t->running += e->running_ns;
	if (t->enabled)
		c->running_permille = (uint32_t)(t->running * 1000.0 / (double)t->enabled + 0.5);
}

static int sum_contexts(struct perfsnap *s)
{
	struct times *t = mem_calloc(s->n_contexts + 1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	for (size_t k = 0; k < s->n_events; k++) {
		uint32_t c = s->events[k].context;
		if (c)
			sum_context(&s->contexts[c - 1], &s->events[k], &t[c]);
	}
	mem_free(t);
	return 0;
}

/* Adds what this kernel does not report, and the reason. */
static void say_missing(const struct inspect_bpf *i, struct perfsnap *s)
{
	uint32_t missing = 0;

	missing |= s->n_slots ? 0 : SNAP_NO_SLOTS;
	missing |= i->layout.regs[0] && s->n_slots ? 0 : SNAP_NO_REGISTERS;
	s->head.missing = missing;
	if (missing)
		s->head.reason = perfsnap_add_text(
			s, i->layout.pools ? "the kernel's per-CPU section could not be found"
					   : "this kernel's BTF does not list per-CPU variables");
}

int bpf_fill(struct inspect_bpf *i, enum inspect_what what, struct perfsnap *ret)
{
	int code = fill_contexts(i, ret);

	i->now = &i->tallies[what];
	code = code < 0 ? code : fill_events(i, ret);
	code = code < 0 ? code : record_counter_turn(i->now);
	code = code < 0 ? code : fill_holders(i, what, ret);
	code = code < 0 ? code : bpf_fill_cpus(i, ret);
	code = code < 0 ? code : created_fill(&i->created, ret);
	code = code < 0 ? code : sum_contexts(ret);
	if (code == 0)
		say_missing(i, ret);
	return code;
}
