// SPDX-License-Identifier: GPL-2.0-only
/*
 * The latest snapshot of uprobes, decoded when it is another one than in the last frame, and its
 * sums.
 */
#include "snapshot.h"
#include "../internal.h"
#include "../snapshots.h"
#include "kontend/mem.h"

#include <errno.h>
#include <inttypes.h>

struct query_uprobe_cache {
	struct upsnap snap;
	struct query_decoded of;
};

void query_uprobe_deinit(struct query *q)
{
	if (q->uprobe)
		upsnap_deinit(&q->uprobe->snap);
	mem_free(q->uprobe);
	q->uprobe = NULL;
}

const struct upsnap *query_uprobe_snap(struct query *q, const char **ret_why)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_UPROBES);

	*ret_why = "";
	if (!q->uprobe)
		q->uprobe = mem_calloc(1, sizeof(*q->uprobe));
	struct query_uprobe_cache *c = q->uprobe;
	if (c && query_decode(q, &c->of, &upsnap_sections, &c->snap, s))
		return &c->snap;
	*ret_why = query_decode_why(q, SNAPSHOT_UPROBES,
				    "the recording has no snapshots of uprobes: kontend record "
				    "takes them, perf record does not");
	return NULL;
}

/* No snapshot: because there is none, or for lack of memory? */
static int none_code(const struct query *q)
{
	return !q->uprobe || q->uprobe->of.code == -ENOMEM ? -ENOMEM : -ENOENT;
}

int query_uprobe(struct query *q, const struct upsnap **ret)
{
	const char *why;

	*ret = query_uprobe_snap(q, &why);
	return *ret ? 0 : none_code(q);
}

const char *query_uprobe_task(struct query *q, const struct upsnap *s, uint32_t comm, int32_t pid)
{
	const char *name = upsnap_text(s, comm);

	if (!pid)
		return "";
	return query_slash(&q->arena, name, pid, "?");
}

bool query_uprobe_rate(const struct upsnap *s, const struct upsnap_probe *p, bool average,
		       double *ret)
{
	uint64_t n = p->new_hits, ns = p->flags & UPSNAP_NEW ? 0 : s->head.interval_ns;

	if (average) {
		n = p->hits - p->first_hits;
		ns = s->head.time_ns > p->first_ns ? s->head.time_ns - p->first_ns : 0;
	}
	if (!(p->flags & UPSNAP_HITS) || !ns || p->hits < p->first_hits)
		return false;
	*ret = query_per_s(n, ns);
	return true;
}

const char *query_uprobe_missing_key(unsigned bit)
{
	static const char *const keys[QUERY_UPROBE_MISSING] = {
		"used", "tasks", "tracefs", "perf", "links", "costs",
	};

	return bit < QUERY_UPROBE_MISSING ? keys[bit] : NULL;
}

const char *query_uprobe_missing_text(struct query *q, uint32_t missing)
{
	static const char *const words[QUERY_UPROBE_MISSING] = {
		"used slots",	       "tasks in slots",
		"probes of tracefs",   "probes of perf",
		"probes of BPF links", "what a hit costs (measure it: kontend bench uprobe)",
	};
	const char *text = NULL;

	for (unsigned i = 0; i < QUERY_UPROBE_MISSING; i++)
		if (missing & 1u << i)
			text = text ? arena_printf(&q->arena, "%s, %s", text, words[i]) : words[i];
	return text ? text : "";
}

const char *query_uprobe_method_name(enum upsnap_method m)
{
	return m == UPSNAP_BPF ? "bpf" : m == UPSNAP_PROC ? "proc" : NULL;
}

static void sum_areas(struct query *q, const struct upsnap *s, struct query_uprobe_sum *r)
{
	r->areas = (uint32_t)s->n_areas;
	r->worst_used = -1;
	for (size_t i = 0; i < s->n_areas; i++) {
		const struct upsnap_area *a = &s->areas[i];
		r->waiting += a->waiting;
		r->single_step += a->single_step;
		if (a->used <= r->worst_used)
			continue;
		r->worst_used = a->used;
		r->worst_slots = a->slots;
		r->worst = query_uprobe_task(q, s, a->comm, a->pid);
	}
}

static void sum_probes(const struct upsnap *s, bool average, struct query_uprobe_sum *r)
{
	r->cpu_known = !(s->head.missing & UPSNAP_NO_COSTS);
	r->rate_known = !s->n_probes;
	for (size_t i = 0; i < s->n_probes; i++) {
		const struct upsnap_probe *p = &s->probes[i];
		double rate;
		r->probes++;
		r->out_of_line += p->class_ == UPSNAP_OUT_OF_LINE;
		if (!query_uprobe_rate(s, p, average, &rate))
			continue;
		r->rate_known = true;
		r->hits_per_s += rate;
		r->cpu_pct += rate * (double)p->cost_ns / 1e7;
		r->cpu_known &= p->cost_ns || rate <= 0;
	}
	r->cpu_known &= r->rate_known;
}

int query_uprobe_sum(struct query *q, bool average, struct query_uprobe_sum *ret)
{
	const char *why;
	const struct upsnap *s = query_uprobe_snap(q, &why);
	struct query_uprobe_sum r = {.known = s != NULL, .reason = why};

	if (!s && none_code(q) == -ENOMEM)
		return -ENOMEM;
	if (s) {
		const struct upsnap_head *h = &s->head;
		uint64_t now = q->model->now_ns;
		r.reason = upsnap_text(s, h->reason);
		r.method = (enum upsnap_method)h->method;
		r.missing = h->missing;
		r.incomplete = h->incomplete;
		r.dropped = h->dropped;
		r.ended_more = query_ended_more(q, ENDED_AREA) + query_ended_more(q, ENDED_PROBE);
		r.cost_ns = h->cost_ns;
		r.walk_ns = h->walk_ns;
		r.interval_ns = h->interval_ns;
		r.age_ns = now > h->time_ns ? now - h->time_ns : 0;
		sum_areas(q, s, &r);
		sum_probes(s, average, &r);
	}
	*ret = r;
	return 0;
}
