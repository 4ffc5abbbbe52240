// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kontend's own CPU time. The live source reports it at each tick, by what it was used for; what is
 * neither draining nor looking is names, queries, drawing and writing.
 */
#include "internal.h"
#include "kontend/query-cost.h"
#include "kontend/units.h"

#include <stdio.h>
#include <string.h>

const struct figure query_cost_figures[] = {
	{FIGURE("cpu_ns", NS, struct query_cost, cpu_ns)},
	{FIGURE("drain_ns", NS, struct query_cost, drain_ns)},
	{FIGURE("looks_ns", NS, struct query_cost, looks_ns)},
	{FIGURE("rest_ns", NS, struct query_cost, rest_ns)},
	{FIGURE("cpu_pct", PCT, struct query_cost, pct)},
	FIGURE_END,
};

static double share(uint64_t ns, uint64_t of_ns)
{
	return of_ns ? 100.0 * (double)ns / (double)of_ns : 0;
}

struct query_cost query_cost(const struct query *q)
{
	const struct snapshot *s = snapshot_set_get(&q->model->snapshots, SNAPSHOT_COST);
	struct query_cost c = {0};
	struct record_cost r;

	if (!s || s->len < sizeof(r))
		return c;
	memcpy(&r, s->bytes, sizeof(r));
	uint64_t of_ns = r.to_ns - r.from_ns, parts = r.drain_ns + r.looks_ns;
	if (r.to_ns <= r.from_ns)
		return c;
	c = (struct query_cost){
		.known = true,
		.cpu_ns = r.cpu_ns,
		.drain_ns = r.drain_ns,
		.looks_ns = r.looks_ns,
		.rest_ns = r.cpu_ns > parts ? r.cpu_ns - parts : 0,
	};
	c.pct = share(c.cpu_ns, of_ns);
	c.drain_pct = share(c.drain_ns, of_ns);
	c.looks_pct = share(c.looks_ns, of_ns);
	c.rest_pct = share(c.rest_ns, of_ns);
	return c;
}

const char *query_cost_text(const struct query_cost *c, char *buf, size_t size)
{
	char all[UNITS_BUF], drain[UNITS_BUF], looks[UNITS_BUF], rest[UNITS_BUF];

	snprintf(buf, size, "%s%% of a CPU: draining rings %s%%, snapshots %s%%, the rest %s%%",
		 units_pct(all, c->pct), units_pct(drain, c->drain_pct),
		 units_pct(looks, c->looks_pct), units_pct(rest, c->rest_pct));
	return buf;
}
