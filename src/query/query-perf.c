// SPDX-License-Identifier: GPL-2.0-only
/*
 * The latest snapshot of perf events, decoded when it is another one than in the last frame, and
 * what all tables over it say in the same words: who keeps an event, where a breakpoint is.
 */
#include "query-perf.h"
#include "kontend/mem.h"
#include "query-int.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

struct query_perf_cache {
	struct snap snap;
	const struct snapshot *of; /* what it was decoded from */
	uint64_t time_ns;
	size_t len;
	int code; /* of decoding */
};

void query_perf_deinit(struct query *q)
{
	if (q->perf)
		snap_deinit(&q->perf->snap);
	mem_free(q->perf);
	q->perf = NULL;
}

static const char *why_none(const struct query *q)
{
	if (q->model->n_snapshots[SNAPSHOT_PERF])
		return "the snapshot is damaged";
	if (q->model->damage.snapshot_unknown)
		return "the recording has snapshots of a later version of kontend only";
	return q->model->n_ticks ? "the recording has no snapshots of perf events"
				 : "nothing was looked at yet: the first snapshot comes with the "
				   "first interval";
}

const struct snap *query_perf_snap(struct query *q, const char **ret_why)
{
	const struct snapshot *s = snapshot_set_get(&q->model->snapshots, SNAPSHOT_PERF);

	*ret_why = "";
	if (!q->perf)
		q->perf = mem_calloc(1, sizeof(*q->perf));
	struct query_perf_cache *c = q->perf;
	if (s && c &&
	    (c->code == -ENOMEM || c->of != s || c->time_ns != s->head.time_ns ||
	     c->len != s->len)) {
		c->code = snap_decode(&c->snap, s->bytes, s->len);
		c->of = s;
		c->time_ns = s->head.time_ns;
		c->len = s->len;
	}
	if (s && c && c->code == 0)
		return &c->snap;
	*ret_why = why_none(q);
	return NULL;
}

/* Lists of descriptors by event. */
static int index_holders(struct query *q, struct query_perf *p)
{
	const struct snap *s = p->snap;

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

/* No snapshot: because there is none, or for lack of memory? */
static int none_code(const struct query *q)
{
	return !q->perf || q->perf->code == -ENOMEM ? -ENOMEM : -ENOENT;
}

int query_perf(struct query *q, struct query_perf *ret)
{
	const char *why;

	*ret = (struct query_perf){.snap = query_perf_snap(q, &why)};
	return ret->snap ? index_holders(q, ret) : none_code(q);
}

const char *query_perf_task(struct query *q, const struct query_perf *p, uint32_t comm, int32_t pid)
{
	const char *name = snap_text(p->snap, comm);

	if (!pid)
		return "";
	return arena_printf(&q->arena, "%s/%" PRId32, *name ? name : "?", pid);
}

/* The event with @id; NULL: gone, or id 0. */
static const struct snap_event *find_event(const struct snap *s, uint64_t id)
{
	for (size_t i = 0; id && i < s->n_events; i++)
		if (s->events[i].id == id)
			return &s->events[i];
	return NULL;
}

struct query_keeper query_perf_keeper(const struct query_perf *p, size_t i)
{
	const struct snap *s = p->snap;
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
		text = text ? arena_printf(&q->arena, "%s\n%" PRId32, text, pid)
			    : arena_printf(&q->arena, "%" PRId32, pid);
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
	const char *where = snap_text(p->snap, e->where);
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

static void sum_slots(const struct snap *s, struct query_perf_sum *r)
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
}

static void sum_events(const struct snap *s, struct query_perf_sum *r, bool *is_foreign)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		bool is_own = (e->flags & SNAP_OWN) != 0;
		r->own += is_own;
		r->events += !is_own;
		r->breakpoints += e->type == PERF_TYPE_BREAKPOINT;
		r->starved += e->state == SNAP_INACTIVE && (e->flags & SNAP_ROTATES);
		if (e->context && !is_own)
			is_foreign[e->context - 1] = true;
	}
	for (size_t i = 0; i < s->n_contexts; i++) {
		r->contexts += is_foreign[i];
		r->rotating += s->contexts[i].rotating;
	}
}

int query_perf_sum(struct query *q, struct query_perf_sum *ret)
{
	const char *why;
	const struct snap *s = query_perf_snap(q, &why);
	struct query_perf_sum r = {.known = s != NULL, .reason = why};

	if (!s && none_code(q) == -ENOMEM)
		return -ENOMEM;
	if (s) {
		const struct snap_head *h = &s->head;
		uint64_t now = q->model->now_ns;
		bool *is_foreign = arena_alloc(&q->arena, s->n_contexts + 1);
		if (!is_foreign)
			return -ENOMEM;
		r.reason = snap_text(s, h->reason);
		r.method = (enum snap_method)h->method;
		r.missing = h->missing;
		r.incomplete = h->incomplete;
		r.dropped = h->dropped;
		r.cost_ns = h->cost_ns;
		r.interval_ns = h->interval_ns;
		r.age_ns = now > h->time_ns ? now - h->time_ns : 0;
		r.opened_known = h->opened != UINT64_MAX && h->interval_ns;
		if (r.opened_known)
			r.opened_per_s = query_per_s(h->opened, h->interval_ns);
		sum_slots(s, &r);
		sum_events(s, &r, is_foreign);
	}
	*ret = r;
	return 0;
}
