// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums that probes have made of rotations and of switches between cgroups, beside the events of
 * cgroups in the latest snapshot of perf events. Both know cgroups by their paths; one that has
 * switches and no events had them before, or its events are of its parents.
 */
#include "../internal.h"
#include "kontend/phasesnap.h"
#include "kontend/query-rotation-phases.h"
#include "kontend/snapshot.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The most rows; an answer that leaves cgroups out has a flag for it. */
enum { CGROUPS = 1024 };

static uint64_t average(uint64_t ns, uint64_t n)
{
	return n ? ns / n : 0;
}

static void add_cpu(struct query_rotation_phases *p, const struct phasesnap_cpu *c)
{
	p->cpus[p->n_cpus++] = (struct query_rotation_phase){
		.cpu = c->cpu,
		.n = c->n,
		.unturned = c->unturned,
		.out_avg_ns = average(c->out_ns, c->n),
		.out_p50_ns = phasesnap_percentile(c->out, 50, c->out_max_ns),
		.out_p99_ns = phasesnap_percentile(c->out, 99, c->out_max_ns),
		.out_max_ns = c->out_max_ns,
		.in_avg_ns = average(c->in_ns, c->n),
		.in_p50_ns = phasesnap_percentile(c->in, 50, c->in_max_ns),
		.in_p99_ns = phasesnap_percentile(c->in, 99, c->in_max_ns),
		.in_max_ns = c->in_max_ns,
		.switches = c->switches,
		.same = c->same,
		.switch_avg_ns = average(c->switch_ns, c->switches),
		.switch_max_ns = c->switch_max_ns,
	};
}

/* NULL: it is one too many. */
static struct query_rotation_cgroup *cgroup_of(struct query_rotation_phases *p, uint64_t id,
					       const char *path)
{
	for (size_t i = 0; i < p->n_cgroups; i++) {
		struct query_rotation_cgroup *c = &p->cgroups[i];
		if (id ? c->id == id : c->path && path && !strcmp(c->path, path))
			return c;
	}
	if (p->n_cgroups == CGROUPS) {
		p->left_out++;
		return NULL;
	}
	p->cgroups[p->n_cgroups] = (struct query_rotation_cgroup){.id = id, .path = path};
	return &p->cgroups[p->n_cgroups++];
}

static void add_pair(struct query_rotation_phases *p, const struct phasesnap *s,
		     const struct phasesnap_pair *pair)
{
	const char *from = pair->from_path ? phasesnap_text(s, pair->from_path) : NULL;
	const char *to = pair->to_path ? phasesnap_text(s, pair->to_path) : NULL;
	struct query_rotation_cgroup *c = cgroup_of(p, pair->from, from);

	if (c) {
		c->from_n += pair->n;
		c->from_ns += pair->ns;
	}
	c = cgroup_of(p, pair->to, to);
	if (c) {
		c->to_n += pair->n;
		c->to_ns += pair->ns;
	}
}

/* Texts that are to live as long as the answers. */
static int keep_texts(struct query *q, struct query_rotation_phases *p)
{
	const char **texts[] = {&p->turn, &p->reason, &p->cgroup_reason};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (*texts[i] && !(*texts[i] = arena_printf(&q->arena, "%s", *texts[i])))
			return -ENOMEM;
	for (size_t i = 0; i < p->n_cgroups; i++) {
		struct query_rotation_cgroup *c = &p->cgroups[i];
		if (c->path && !(c->path = arena_printf(&q->arena, "%s", c->path)))
			return -ENOMEM;
	}
	return 0;
}

static int take_phases(struct query *q, const struct phasesnap *s, struct query_rotation_phases *p)
{
	const struct phasesnap_head *h = &s->head;

	p->asked = true;
	p->turn = h->missing & PHASESNAP_NO_ROTATION ? NULL : phasesnap_text(s, h->turn);
	p->reason = phasesnap_text(s, h->reason);
	p->cgroup_reason = phasesnap_text(s, h->cgroup_reason);
	p->seen_ns = h->time_ns > h->from_ns ? h->time_ns - h->from_ns : 0;
	p->dropped = h->dropped;
	p->cpus = arena_alloc(&q->arena, (s->n_cpus + 1) * sizeof(*p->cpus));
	if (!p->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_cpus; i++)
		add_cpu(p, &s->cpus[i]);
	for (size_t i = 0; i < s->n_pairs; i++)
		add_pair(p, s, &s->pairs[i]);
	return keep_texts(q, p);
}

/* Events of one cgroup mostly follow each other, and there are few cgroups that have some. */
static void add_events(const struct perfsnap *s, struct query_rotation_phases *p)
{
	struct query_rotation_cgroup *last = NULL;

	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		const char *path = perfsnap_text(s, e->target_comm);
		if (!(e->flags & SNAP_CGROUP) || e->state < SNAP_INACTIVE)
			continue;
		if (!last || strcmp(last->path, path) != 0)
			last = cgroup_of(p, 0, path);
		if (last)
			last->events++;
	}
}

static bool is_before(const struct query_rotation_cgroup *a, const struct query_rotation_cgroup *b)
{
	return a->to_ns != b->to_ns ? a->to_ns > b->to_ns : a->events > b->events;
}

static void sort(struct query_rotation_phases *p)
{
	for (size_t i = 1; i < p->n_cgroups; i++) {
		struct query_rotation_cgroup c = p->cgroups[i];
		size_t k = i;
		for (; k > 0 && is_before(&c, &p->cgroups[k - 1]); k--)
			p->cgroups[k] = p->cgroups[k - 1];
		p->cgroups[k] = c;
	}
}

int query_rotation_phases(struct query *q, struct query_rotation_phases *ret)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_PHASES);
	struct query_rotation_phases p = {.reason = "", .cgroup_reason = ""};
	struct query_perf perf = {0};
	struct phasesnap snap = {0};
	int code = s ? phasesnap_decode(&snap, s->bytes, s->len) : 0;

	p.cgroups = arena_alloc(&q->arena, CGROUPS * sizeof(*p.cgroups));
	if (!p.cgroups)
		code = -ENOMEM;
	if (s && code == 0)
		code = take_phases(q, &snap, &p);
	phasesnap_deinit(&snap);
	if (code == -ENOMEM || query_perf(q, QUERY_PERF_EVENTS, &perf) == -ENOMEM)
		return -ENOMEM;
	if (perf.snap)
		add_events(perf.snap, &p);
	for (size_t i = 0; i < p.n_cgroups; i++) {
		struct query_rotation_cgroup *c = &p.cgroups[i];
		c->to_avg_ns = average(c->to_ns, c->to_n);
		c->from_avg_ns = average(c->from_ns, c->from_n);
	}
	sort(&p);
	*ret = p;
	return 0;
}

const char *query_rotation_phases_text(const struct query_rotation_phase *p, char *buf, size_t size)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF], d[UNITS_BUF], n[UNITS_BUF];

	snprintf(buf, size, "scheduling out %s (p99 %s), in %s (p99 %s), of %s rotations",
		 units_ns(a, p->out_p50_ns), units_ns(b, p->out_p99_ns), units_ns(c, p->in_p50_ns),
		 units_ns(d, p->in_p99_ns), units_count(n, p->n));
	return buf;
}
