// SPDX-License-Identifier: GPL-2.0-only
/*
 * The latest snapshots of perf events, decoded when they are others than in the last frame, and
 * what all tables over it say in the same words: who keeps an event, where a breakpoint is.
 */
#include "snapshot.h"
#include "../internal.h"
#include "../snapshots.h"
#include "kontend/mem.h"
#include "kontend/taskid.h"
#include "kontend/units.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

struct decoded {
	struct perfsnap snap;
	struct query_decoded of;
};

struct query_perf_cache {
	struct decoded all, slots;
};

void query_perf_deinit(struct query *q)
{
	if (q->perf) {
		perfsnap_deinit(&q->perf->all.snap);
		perfsnap_deinit(&q->perf->slots.snap);
	}
	mem_free(q->perf);
	q->perf = NULL;
}

/* The latest of a part: slots are in both kinds. NULL: there is none. */
static const struct snapshot *latest(const struct query *q, enum query_perf_part part)
{
	const struct snapshot_set *set = q->model->snapshots;
	const struct snapshot *all = snapshot_set_get(set, SNAPSHOT_PERF);
	const struct snapshot *slots = snapshot_set_get(set, SNAPSHOT_SLOTS);

	if (part == QUERY_PERF_SLOTS && slots && (!all || slots->head.time_ns >= all->head.time_ns))
		return slots;
	return all;
}

/* Decoded, if it is another one than in the last frame; NULL: there is none, or no memory. */
static const struct decoded *decode(struct query *q, const struct snapshot *s)
{
	if (s && !q->perf)
		q->perf = mem_calloc(1, sizeof(*q->perf));
	if (!s || !q->perf)
		return NULL;
	struct decoded *c = s->head.kind == SNAPSHOT_SLOTS ? &q->perf->slots : &q->perf->all;
	query_decode(q, &c->of, &perfsnap_sections, &c->snap, s);
	return c;
}

static const struct decoded *decoded(struct query *q, enum query_perf_part part)
{
	return decode(q, latest(q, part));
}

const struct perfsnap *query_perf_snap(struct query *q, enum query_perf_part part,
				       const char **ret_why)
{
	const struct decoded *c = decoded(q, part);

	*ret_why = "";
	if (c && c->of.code == 0)
		return &c->snap;
	*ret_why = query_decode_why(q, SNAPSHOT_PERF,
				    "the recording has no snapshots of perf events: kontend record "
				    "takes them, perf record does not");
	return NULL;
}

/* Lists of descriptors by event. */
static int index_holders(struct query *q, struct query_perf *p)
{
	const struct perfsnap *s = p->snap;

	p->first_holder = arena_alloc(&q->arena, (s->n_events + 1) * sizeof(uint32_t));
	p->next_holder = arena_alloc(&q->arena, (s->n_holders + 1) * sizeof(uint32_t));
	if (!p->first_holder || !p->next_holder)
		return -ENOMEM;
	for (size_t i = s->n_holders; i-- > 0;) {
		uint32_t event = s->holders[i].event;
		if (!event)
			continue;
		p->next_holder[i] = p->first_holder[event - 1];
		p->first_holder[event - 1] = (uint32_t)i + 1;
	}
	return 0;
}

int query_perf_of(struct query *q, const struct perfsnap *s, struct query_perf *ret)
{
	*ret = (struct query_perf){.snap = s};
	return index_holders(q, ret);
}

/* No snapshot: because there is none, or for lack of memory? */
static int none_code(struct query *q, enum query_perf_part part)
{
	const struct decoded *c = decoded(q, part);

	/* If the snapshot can be decoded by now, memory was short before. */
	if (!latest(q, part) || (c && c->of.code != 0 && c->of.code != -ENOMEM))
		return -ENOENT;
	return -ENOMEM;
}

int query_perf(struct query *q, enum query_perf_part part, struct query_perf *ret)
{
	const char *why;

	*ret = (struct query_perf){.snap = query_perf_snap(q, part, &why)};
	return ret->snap ? index_holders(q, ret) : none_code(q, part);
}

const char *query_perf_task(struct query *q, const struct query_perf *p, uint32_t comm, int32_t pid)
{
	const char *name = perfsnap_text(p->snap, comm);

	if (!pid)
		return "";
	return query_slash(&q->arena, name, pid, "?");
}

/* The event with @id; NULL: gone, or id 0. */
static const struct snap_event *find_event(const struct perfsnap *s, uint64_t id)
{
	for (size_t i = 0; id && i < s->n_events; i++)
		if (s->events[i].id == id)
			return &s->events[i];
	return NULL;
}

struct query_keeper query_perf_keeper(const struct query_perf *p, size_t i)
{
	const struct perfsnap *s = p->snap;
	const struct snap_event *e = &s->events[i];

	if (e->flags & SNAP_PTRACE)
		return (struct query_keeper){"ptrace", e->tracer_pid, -1, e->tracer_comm};
	if (e->flags & SNAP_CHILD) {
		const struct snap_event *parent = find_event(s, e->parent);
		struct query_keeper k = {.fd = -1};
		if (parent && !(parent->flags & SNAP_CHILD))
			k = query_perf_keeper(p, (size_t)(parent - s->events));
		return (struct query_keeper){"inherited", k.pid, -1, k.comm};
	}
	if (e->flags & SNAP_KERNEL)
		return (struct query_keeper){"kernel", 0, -1, 0};
	uint32_t h = p->first_holder[i];
	if (!h)
		return (struct query_keeper){"no fd", e->owner_pid, -1, e->owner_comm};
	const struct snap_holder *first = &s->holders[h - 1];
	return (struct query_keeper){"perf fd", first->pid, first->fd, first->comm};
}

/* Has the process of holder @end another descriptor of event @i, further up in the list? */
static bool is_held_before(const struct query_perf *p, size_t i, uint32_t end)
{
	for (uint32_t h = p->first_holder[i]; h != end; h = p->next_holder[h - 1])
		if (p->snap->holders[h - 1].pid == p->snap->holders[end - 1].pid)
			return true;
	return false;
}

const char *query_perf_holder_pids(struct query *q, const struct query_perf *p, size_t i)
{
	const char *text = NULL;

	for (uint32_t h = p->first_holder[i]; h; h = p->next_holder[h - 1]) {
		int32_t pid = p->snap->holders[h - 1].pid;
		if (is_held_before(p, i, h))
			continue;
		text = text ? arena_printf(&q->arena, "%s\n%" PRId32, text, taskid_number(pid))
			    : arena_printf(&q->arena, "%" PRId32, taskid_number(pid));
		if (!text)
			break;
	}
	return text;
}

const char *query_perf_state(int32_t state)
{
	switch (state) {
	case SNAP_DEAD:
		return "dead";
	case SNAP_REVOKED:
		return "revoked";
	case SNAP_EXIT:
		return "exited";
	case SNAP_ERROR:
		return "error";
	case SNAP_OFF:
		return "off";
	case SNAP_INACTIVE:
		return "inactive";
	case SNAP_ACTIVE:
		return "active";
	default:
		return "?";
	}
}

const char *query_perf_rwx(uint32_t bp_type)
{
	static const char *const names[] = {"-", "R", "W", "RW", "X", "RX", "WX", "RWX"};

	return names[bp_type & HW_BREAKPOINT_INVALID];
}

bool query_perf_in_pool(const struct snap_event *e, uint32_t type)
{
	if (e->type != PERF_TYPE_BREAKPOINT)
		return false;
	if (type == SNAP_SLOT_ANY)
		return true;
	return (type == SNAP_SLOT_EXEC) == ((e->bp_type & HW_BREAKPOINT_X) != 0);
}

const char *query_perf_where(struct query *q, const struct query_perf *p,
			     const struct snap_event *e)
{
	const char *where = perfsnap_text(p->snap, e->where);
	uint64_t offset;
	const char *name;

	if (*where)
		return where;
	if ((int64_t)e->bp_addr >= 0)
		return query_hex(&q->arena, e->bp_addr);
	name = sym_name(q->sym, e->bp_addr, &offset);
	if (!name)
		return query_hex(&q->arena, e->bp_addr);
	return offset ? arena_printf(&q->arena, "%s+0x%" PRIx64, name, offset) : name;
}

const char *query_perf_missing_key(unsigned bit)
{
	static const char *const keys[QUERY_PERF_MISSING] = {
		"slots",   "task_pinned_max", "registers", "events",
		"holders", "contexts",	      "rotation",
	};

	return bit < QUERY_PERF_MISSING ? keys[bit] : NULL;
}

const char *query_perf_missing_text(struct query *q, uint32_t missing)
{
	static const char *const words[QUERY_PERF_MISSING] = {
		"used slots",  "slots of tasks", "debug registers", "perf events",
		"descriptors", "contexts",	 "who takes turns",
	};
	const char *text = NULL;

	for (unsigned i = 0; i < QUERY_PERF_MISSING; i++)
		if (missing & 1u << i)
			text = text ? arena_printf(&q->arena, "%s, %s", text, words[i]) : words[i];
	return text ? text : "";
}

const char *query_perf_method_name(enum snap_method m)
{
	return m == SNAP_BPF ? "bpf" : m == SNAP_PROBE ? "probe" : NULL;
}

static void sum_slots(const struct perfsnap *s, struct query_perf_sum *r)
{
	r->slots_known = s->n_slots != 0;
	for (size_t i = 0; i < s->n_slots; i++) {
		const struct snap_slots *c = &s->slots[i];
		if (c->slots < 0 || c->cpu_pinned < 0)
			r->slots_known = false;
		r->slots += c->slots > 0 ? (uint32_t)c->slots : 0;
		r->used += c->cpu_pinned > 0 ? (uint32_t)c->cpu_pinned : 0;
		r->used += c->task_pinned_max > 0 ? (uint32_t)c->task_pinned_max : 0;
	}
	for (size_t i = 0; i < s->n_events; i++)
		r->breakpoints += s->events[i].type == PERF_TYPE_BREAKPOINT;
	r->opened_known = s->head.opened != UINT64_MAX && s->head.interval_ns;
	if (r->opened_known)
		r->opened_per_s = query_per_s(s->head.opened, s->head.interval_ns);
}

static void sum_events(const struct perfsnap *s, struct query_perf_sum *r, bool *is_foreign)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		bool is_own = (e->flags & SNAP_OWN) != 0;
		r->own += is_own;
		r->events += !is_own;
		r->starved += e->state == SNAP_INACTIVE && (e->flags & SNAP_ROTATES);
		if (e->context && !is_own)
			is_foreign[e->context - 1] = true;
	}
	for (size_t i = 0; i < s->n_contexts; i++) {
		r->contexts += is_foreign[i];
		r->rotating += s->contexts[i].rotating;
	}
}

static struct query_perf_look look_of(const struct query *q, const struct snap_head *h)
{
	uint64_t now = q->model->now_ns;
	double per_s = (double)h->cost_per_s_ns;

	if (per_s <= 0 && h->interval_ns)
		per_s = query_per_s(h->cost_ns, h->interval_ns);
	return (struct query_perf_look){
		.age_ns = now > h->time_ns ? now - h->time_ns : 0,
		.interval_ns = h->interval_ns,
		.cost_ns = h->cost_ns,
		.cost_per_s = per_s,
		.incomplete = h->incomplete,
		.dropped = h->dropped,
	};
}

static int sum_parts(struct query *q, const struct perfsnap *slots, const struct perfsnap *all,
		     struct query_perf_sum *r)
{
	const struct perfsnap *any = slots ? slots : all;
	bool *is_foreign = arena_alloc(&q->arena, (all ? all->n_contexts : 0) + 1);

	if (!is_foreign)
		return -ENOMEM;
	r->reason = perfsnap_text(any, any->head.reason);
	r->method = (enum snap_method)any->head.method;
	r->missing = any->head.missing;
	if (slots) {
		r->look[QUERY_PERF_SLOTS] = look_of(q, &slots->head);
		sum_slots(slots, r);
	}
	/* Facts that only the other look has are missing. */
	if (!all) {
		r->missing |= SNAP_NO_EVENTS | SNAP_NO_CONTEXTS | SNAP_NO_ROTATION;
		return 0;
	}
	r->look[QUERY_PERF_EVENTS] = look_of(q, &all->head);
	r->missing |= all->head.missing;
	sum_events(all, r, is_foreign);
	return 0;
}

/* The cost of looking at slots comes from these looks, also where the other one is newer. */
static int sum_costs(struct query *q, struct query_perf_sum *r)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_SLOTS);
	const struct decoded *c = decode(q, s);

	r->is_one = !c || c->of.code != 0;
	if (r->is_one)
		return s && (!c || c->of.code == -ENOMEM) ? -ENOMEM : 0;
	const struct query_perf_look own = look_of(q, &c->snap.head);
	struct query_perf_look *l = &r->look[QUERY_PERF_SLOTS];
	l->cost_ns = own.cost_ns;
	l->cost_per_s = own.cost_per_s;
	return 0;
}

int query_perf_sum(struct query *q, struct query_perf_sum *ret)
{
	const char *why, *ignored;
	const struct perfsnap *slots = query_perf_snap(q, QUERY_PERF_SLOTS, &why);
	const struct perfsnap *all = query_perf_snap(q, QUERY_PERF_EVENTS, &ignored);
	struct query_perf_sum r = {.known = slots || all, .reason = why};

	r.ended_more = query_ended_more(q, ENDED_CONTEXT) + query_ended_more(q, ENDED_BREAKPOINT);
	if ((!slots && none_code(q, QUERY_PERF_SLOTS) == -ENOMEM) ||
	    (!all && none_code(q, QUERY_PERF_EVENTS) == -ENOMEM))
		return -ENOMEM;
	if (r.known && (sum_parts(q, slots, all, &r) < 0 || sum_costs(q, &r) < 0))
		return -ENOMEM;
	*ret = r;
	return 0;
}

static const char *cost_of(const struct query_perf_look *l, char *buf, size_t size)
{
	char text[UNITS_BUF];

	if (l->cost_per_s > 0)
		snprintf(buf, size, "%s/s", units_nsrate(text, l->cost_per_s));
	else
		snprintf(buf, size, "%s", units_ns(text, l->cost_ns));
	return buf;
}

const char *query_perf_cost_text(const struct query_perf_sum *s, enum query_perf_part part,
				 bool both, char *buf, size_t size)
{
	char a[UNITS_BUF + 8], b[UNITS_BUF + 8];

	if (both && !s->is_one)
		snprintf(buf, size, "cost slots %s, events %s",
			 cost_of(&s->look[QUERY_PERF_SLOTS], a, sizeof(a)),
			 cost_of(&s->look[QUERY_PERF_EVENTS], b, sizeof(b)));
	else
		snprintf(buf, size, "cost %s", cost_of(&s->look[part], a, sizeof(a)));
	return buf;
}
