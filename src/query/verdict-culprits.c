// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second line of findings that are not about locks names the processes that hold breakpoint
 * slots or have opened perf events, and the probe that costs most. All of it is of the latest
 * looks, as the views have it.
 */
#include "kontend/query-hot.h"
#include "perf/snapshot.h"
#include "uprobes/snapshot.h"
#include "verdict.h"

#include <string.h>

enum { NAMED_MOST = 3, SAMPLES_LEAST = 5 };

/* Shares of a few owners; names are compared by their text. */
struct shares {
	struct share {
		const char *who;
		uint32_t n;
	} * v;
	size_t n, cap;
};

static void add_share(struct shares *s, const char *who)
{
	if (!who || !*who)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].who, who) == 0) {
			s->v[i].n++;
			return;
		}
	if (s->n < s->cap)
		s->v[s->n++] = (struct share){who, 1};
}

/* "gdb/812 (3), perf/31 (1) and 2 more": those with most first. */
static const char *say_shares(struct judge *j, struct shares *s)
{
	const char *text = NULL;
	size_t n = s->n < NAMED_MOST ? s->n : NAMED_MOST;

	for (size_t i = 0; i < n; i++) {
		size_t best = i;
		for (size_t k = i + 1; k < s->n; k++)
			best = s->v[k].n > s->v[best].n ? k : best;
		struct share most = s->v[best];
		s->v[best] = s->v[i];
		s->v[i] = most;
		text = arena_printf(&j->q->arena, "%s%s%s (%u)", text ? text : "", text ? ", " : "",
				    most.who, most.n);
	}
	return s->n > n ? arena_printf(&j->q->arena, "%s and %zu more", text ? text : "", s->n - n)
			: text;
}

/* Room for as many as there are. False: no memory. */
static bool shares_make(struct judge *j, struct shares *s, size_t most)
{
	*s = (struct shares){.v = arena_alloc(&j->q->arena, (most + 1) * sizeof(*s->v)),
			     .cap = most};
	return s->v != NULL;
}

const char *verdict_slots_culprit(struct judge *j)
{
	size_t n = 0;
	const struct query_cell *cells = query_perf_board(j->q, j->slots.ids[j->full], &n);
	struct shares s;

	if (!n || !shares_make(j, &s, n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (cells[i].kind != CELL_FREE)
			add_share(&s, cells[i].who);
	const char *text = say_shares(j, &s);
	return text ? arena_printf(&j->q->arena, "because of %s", text) : NULL;
}

const char *verdict_short_culprit(struct judge *j)
{
	struct query_perf p;
	struct shares s;

	if (query_perf(j->q, QUERY_PERF_EVENTS, &p) < 0 || !shares_make(j, &s, p.snap->n_events))
		return NULL;
	for (size_t i = 0; i < p.snap->n_events; i++) {
		const struct snap_event *e = &p.snap->events[i];
		if (e->state != SNAP_INACTIVE || !(e->flags & SNAP_ROTATES))
			continue;
		struct query_keeper k = query_perf_keeper(&p, i);
		bool known = e->owner_pid != 0;
		add_share(&s, query_perf_task(j->q, &p, known ? e->owner_comm : k.comm,
					      known ? e->owner_pid : k.pid));
	}
	const char *text = say_shares(j, &s);
	return text ? arena_printf(&j->q->arena, "they are of %s", text) : NULL;
}

/* The process that has opened most of the events on the CPU where rotation takes most. */
const char *verdict_rotation_culprit(struct judge *j)
{
	const struct query_spec spec = {.sort = "cpu_pct", .limit = 1, .average = j->f->average};
	struct table t;
	struct error err;

	if (query_rotation(j->q, &spec, &t, &err) < 0 || !t.n_rows)
		return NULL;
	const char *who = table_text(&t, 0, "culprit");
	const struct value *cpu = table_cell(&t, 0, "cpu");
	return who ? arena_printf(&j->q->arena, "most on CPU %lld, because of events of %s",
				  (long long)cpu->i, who)
		   : NULL;
}

/* The process whose tasks were in slots most often in the last looks: it pays. */
static const char *busiest_process(struct judge *j)
{
	const struct upsnap *s;
	uint64_t most = 0;
	size_t at = 0;

	if (query_uprobe(j->q, &s) < 0)
		return NULL;
	for (size_t i = 0; i < s->n_areas; i++) {
		const struct upsnap_area *a = &s->areas[i];
		uint64_t sum = a->waiting;
		for (uint32_t k = 0; k < a->n_recent && k < UPSNAP_RECENT; k++)
			sum += a->recent[k];
		if (sum <= most)
			continue;
		most = sum;
		at = i;
	}
	return most ? query_uprobe_task(j->q, s, s->areas[at].comm, s->areas[at].pid) : NULL;
}

/* The process of which most CPU samples are in the kernel's code of uprobes; NULL: none is. */
static const char *sampled_process(struct judge *j)
{
	const struct query_zoom in = {.terms = {{.kind = ZOOM_GROUP, .id = PATH_UPROBE}}, .n = 1};
	const struct query_hot_spec spec = {
		.rows = {.sort = "samples", .limit = 1}, .by = HOT_PROCESS, .zoom = &in};
	struct table t;
	struct error err;

	if (query_hot(j->q, &spec, &t, &err) < 0 || !t.n_rows)
		return NULL;
	const struct value *n = table_cell(&t, 0, "samples"), *pid = table_cell(&t, 0, "pid");
	const char *name = table_text(&t, 0, "process");
	if (!n->known || n->u < SAMPLES_LEAST || !pid->known)
		return NULL;
	return query_slash(&j->q->arena, name ? name : "", (int32_t)pid->i, "-");
}

const char *verdict_uprobes_culprit(struct judge *j)
{
	const struct query_spec spec = {.sort = "cpu_pct", .limit = 1, .average = j->f->average};
	const char *pays = busiest_process(j), *owner, *probe;
	struct table t;
	struct error err;

	pays = pays ? pays : sampled_process(j);

	if (query_uprobe_probes(j->q, &spec, &t, &err) < 0 || !t.n_rows)
		return NULL;
	owner = table_text(&t, 0, "owner");
	probe = table_text(&t, 0, "probe");
	if (!probe)
		return NULL;
	return arena_printf(&j->q->arena, "probe %s%s%s%s%s", probe, owner ? " of " : "",
			    owner ? owner : "", pays ? ", hit in " : "", pays ? pays : "");
}
