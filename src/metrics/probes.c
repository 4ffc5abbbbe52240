// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds up hits of uprobes from snapshot to snapshot. The kernel counts since a probe was placed, so
 * the increase is added; for a new probe, all hits. If an earlier snapshot may have missed the
 * probe, its hits count from its first snapshot on. Hits between the last snapshot and the removal
 * of a probe are lost. A probe for one process also counts hits of other processes if they have a
 * probe at the same place: such hits are left out.
 */
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query-uprobe.h"
#include "sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int metrics_probes_init(struct metrics_probes *p)
{
	p->rows.most = METRICS_PROBES;
	p->rows.ends = true;
	return named_sums_other(&p->rows, NULL, NULL) ? 0 : -ENOMEM;
}

void metrics_probes_deinit(struct metrics_probes *p)
{
	named_sums_deinit(&p->rows);
	map64_deinit(&p->known);
	mem_free(p->hits);
}

/* Names the probe in perf's syntax. */
static void name_probe(const struct upsnap *s, const struct upsnap_probe *p,
		       char ret[NAMED_SUM_NAME])
{
	const char *back = p->flags & UPSNAP_RETURN ? "%return" : "";

	if (p->symbol)
		snprintf(ret, NAMED_SUM_NAME, "%s:%s%s", upsnap_text(s, p->binary),
			 upsnap_text(s, p->symbol), back);
	else
		snprintf(ret, NAMED_SUM_NAME, "%s:0x%" PRIx64 "%s", upsnap_text(s, p->binary),
			 p->offset, back);
}

static uint64_t hits_before(const struct metrics_probes *m, const struct upsnap *s,
			    const struct upsnap_probe *p)
{
	const uint32_t *known = map64_get(&m->known, p->id);

	if (known)
		return m->hits[*known];
	return p->first_ns > s->head.first_ns && !m->missed ? 0 : p->first_hits;
}

static int add_probe(struct metrics_probes *m, const struct upsnap *s, const struct upsnap_probe *p,
		     bool may_begin, uint64_t now_ns)
{
	uint64_t before = hits_before(m, s, p);
	char name[NAMED_SUM_NAME];
	const struct named_key key = {.name = name};

	name_probe(s, p, name);
	struct named_sum *r = named_sums_get(&m->rows, &key, may_begin, now_ns);
	if (!r)
		return -ENOMEM;
	named_sum_add(r, p->hits > before ? p->hits - before : 0, 0, 0, 0, now_ns);
	return 0;
}

static int remember(struct metrics_probes *m, const struct upsnap_probe *p)
{
	if (mem_grow(&m->hits, &m->cap_hits, m->n_hits, sizeof(*m->hits)) < 0 ||
	    map64_put(&m->known, p->id, (uint32_t)m->n_hits) < 0)
		return -ENOMEM;
	m->hits[m->n_hits++] = p->hits;
	return 0;
}

static bool counts(const struct upsnap_probe *p)
{
	return (p->flags & (UPSNAP_HITS | UPSNAP_SHARED)) == UPSNAP_HITS;
}

int metrics_probes_add(struct metrics_probes *m, struct query *q)
{
	const char *why;
	const struct upsnap *s = query_uprobe_snap(q, &why);
	int ret = 0;

	if (!s || s->head.time_ns == m->time_ns)
		return 0;
	m->time_ns = s->head.time_ns;
	for (size_t i = 0; i < s->n_probes && ret == 0; i++)
		if (counts(&s->probes[i]))
			ret = add_probe(m, s, &s->probes[i], i < METRICS_PROBES_BEGIN,
					q->model->now_ns);
	m->missed |= s->head.incomplete || s->head.dropped;
	map64_clear(&m->known);
	m->n_hits = 0;
	for (size_t i = 0; i < s->n_probes && ret == 0; i++)
		if (counts(&s->probes[i]))
			ret = remember(m, &s->probes[i]);
	return ret;
}
