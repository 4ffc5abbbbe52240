// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kontend's own CPU time. The live source reports it at each tick, by its use; time for neither
 * draining nor looking is names, queries, drawing and writing.
 */
#include "internal.h"
#include "kontend/query-cost.h"
#include "kontend/query-load.h"
#include "kontend/snapshot.h"
#include "kontend/units.h"

#include <stdio.h>
#include <string.h>

const struct figure query_cost_figures[] = {
	{FIGURE("cpu_ns", NS, struct query_cost, cpu_ns)},
	{FIGURE("drain_ns", NS, struct query_cost, drain_ns)},
	{FIGURE("looks_ns", NS, struct query_cost, looks_ns)},
	{FIGURE("rest_ns", NS, struct query_cost, rest_ns)},
	{FIGURE("cpu_pct", PCT, struct query_cost, pct)},
	{FIGURE_IF("resident_bytes", COUNT, struct query_cost, resident, resident)},
	{FIGURE("symbols_dropped", COUNT, struct query_cost, symbols_dropped)},
	{FIGURE_IF("perf_rings_bytes", COUNT, struct query_cost, perf_rings, kernel)},
	{FIGURE_IF("bpf_rings_bytes", COUNT, struct query_cost, bpf_rings, kernel)},
	{FIGURE_IF("bpf_maps_bytes", COUNT, struct query_cost, bpf_maps, kernel)},
	{FIGURE_IF("follow_ns", NS, struct query_cost, follow_ns, follow)},
	{FIGURE_IF("follow_attached_ns", NS, struct query_cost, follow_attached_ns, follow)},
	{FIGURE_IF("follow_times", COUNT, struct query_cost, follow_times, follow)},
	{FIGURE_IF("follow_records", COUNT, struct query_cost, follow_records, follow)},
	{FIGURE_IF("follow_missed", COUNT, struct query_cost, follow_missed, follow)},
	FIGURE_END,
};

/* The size of the figures in a record of @len bytes: versions have only added figures. */
static size_t known_bytes(size_t len)
{
	if (len >= sizeof(struct record_cost))
		return sizeof(struct record_cost);
	if (len >= RECORD_COST_FOLLOW)
		return RECORD_COST_FOLLOW;
	return len >= RECORD_COST_MEMORY ? RECORD_COST_MEMORY : RECORD_COST_LEAST;
}

static void add_follow(struct query_cost *c, const struct record_cost *r)
{
	c->follow = r->follow_ns != 0;
	c->follow_ns = r->follow_ns;
	c->follow_records = r->follow_records;
	c->follow_missed = r->follow_missed;
	c->follow_times = r->follow_times;
	c->follow_attached_ns = r->follow_attached_ns;
}

struct query_cost query_cost(const struct query *q)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_COST);
	struct query_cost c = {0};
	struct record_cost r = {0};

	if (!s || s->len < RECORD_COST_LEAST)
		return c;
	memcpy(&r, s->bytes, known_bytes(s->len));
	uint64_t of_ns = r.to_ns - r.from_ns, parts = r.drain_ns + r.looks_ns;
	if (r.to_ns <= r.from_ns)
		return c;
	c = (struct query_cost){
		.known = true,
		.cpu_ns = r.cpu_ns,
		.drain_ns = r.drain_ns,
		.looks_ns = r.looks_ns,
		.rest_ns = r.cpu_ns > parts ? r.cpu_ns - parts : 0,
		.perf_rings = r.perf_rings,
		.bpf_rings = r.bpf_rings,
		.bpf_maps = r.bpf_maps,
		.kernel = r.perf_rings + r.bpf_rings + r.bpf_maps,
		.resident = r.resident,
		.symbols_dropped = query_load_dropped(q),
	};
	add_follow(&c, &r);
	c.pct = units_percent(c.cpu_ns, of_ns);
	c.drain_pct = units_percent(c.drain_ns, of_ns);
	c.looks_pct = units_percent(c.looks_ns, of_ns);
	c.rest_pct = units_percent(c.rest_ns, of_ns);
	return c;
}

static void put_follow(const struct query_cost *c, char *buf, size_t size)
{
	char time[UNITS_BUF], records[UNITS_BUF], missed[UNITS_BUF];
	size_t n = strlen(buf);

	if (!c->follow_times)
		return;
	snprintf(buf + n, size - n,
		 "; holders of locks followed for %s: %s records, %s not followed",
		 units_ns(time, c->follow_attached_ns), units_count(records, c->follow_records),
		 units_count(missed, c->follow_missed));
}

static void put_memory(const struct query_cost *c, char *buf, size_t size)
{
	char own[UNITS_BUF], dropped[UNITS_BUF], kernel[UNITS_BUF];
	size_t n = strlen(buf);

	if (c->resident)
		snprintf(buf + n, size - n, "; %s of memory", units_bytes(own, c->resident));
	n = strlen(buf);
	if (c->symbols_dropped)
		snprintf(buf + n, size - n, ", %s tables of symbols dropped",
			 units_count(dropped, c->symbols_dropped));
	n = strlen(buf);
	if (c->kernel)
		snprintf(buf + n, size - n, "; %s of the kernel's memory",
			 units_bytes(kernel, c->kernel));
}

const char *query_cost_text(const struct query_cost *c, char *buf, size_t size)
{
	char all[UNITS_BUF], drain[UNITS_BUF], looks[UNITS_BUF], rest[UNITS_BUF];

	snprintf(buf, size, "%s%% of a CPU: draining rings %s%%, snapshots %s%%, the rest %s%%",
		 units_pct(all, c->pct), units_pct(drain, c->drain_pct),
		 units_pct(looks, c->looks_pct), units_pct(rest, c->rest_pct));
	put_memory(c, buf, size);
	put_follow(c, buf, size);
	return buf;
}
