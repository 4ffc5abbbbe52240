// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables "uprobes", a row a probe, those that cost most first, and "uphits": the hits of a
 * probe by CPU. A cost is that of a hit as it was measured on the machine, so that the share of
 * CPU time is an estimate, marked as such.
 */
#include "../internal.h"
#include "../rows.h"
#include "../snapshots.h"
#include "kontend/columns-probes.h"
#include "kontend/uprobe.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	C_PROBE,
	C_BINARY,
	C_OFFSET,
	C_SYMBOL,
	C_RETURN,
	C_CLASS,
	C_HITS_PER_S,
	C_COST,
	C_CPU_PCT,
	C_OWNER,
	C_OWNER_PID,
	C_SOURCE,
	C_PID,
	C_HITS,
	C_MISSES,
	C_REF_CTR,
	C_NAME,
	C_BYTES,
	C_REASON,
	C_HINT,
	C_NOTE,
	C_ENDED,
	C_LAST_SEEN,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_PROBE] = {COL_PROBE, 24, 0, SR | W},
	[C_BINARY] = {"binary", "BINARY", "path of the binary", COLUMN_TEXT, 24, 9, R},
	[C_OFFSET] = {COL_PROBE_OFFSET, 10, 9, R},
	[C_SYMBOL] = {"symbol", "SYMBOL", "function and offset into it", COLUMN_TEXT, 16, 9, R},
	[C_RETURN] = {"return", "RET", "the probe is at the return of the function", COLUMN_BOOL, 3,
		      9, R},
	[C_CLASS] = {"class", "CLASS", "treatment of the instruction by the kernel", COLUMN_TEXT,
		     11, 0, SR},
	[C_HITS_PER_S] = {COL_HITS_PER_S, 6, 0, SR},
	[C_COST] = {"cost_ns", "COST", "cost of a hit, as measured by kontend bench uprobe",
		    COLUMN_NS, 7, 1, SR},
	[C_CPU_PCT] = {COL_HITS_CPU_PCT, 5, 1, SR},
	[C_OWNER] = {"owner", "OWNER", "process that placed it, as far as known", COLUMN_TEXT, 14,
		     2, SR},
	[C_OWNER_PID] = {COL_OPENER_PID, 7, 9, R},
	[C_SOURCE] = {"source", "SOURCE", "tracefs, perf or link: how it was placed", COLUMN_TEXT,
		      7, 4, SR},
	[C_PID] = {COL_PROBED_PID, 7, 9, R},
	[C_HITS] = {COL_HITS, 6, 5, SR},
	[C_MISSES] = {"misses", "MISSES", "hits for which the probe's program was not run",
		      COLUMN_COUNT, 6, 9, R},
	[C_REF_CTR] = {"ref_ctr", "REF-CTR", "offset of the USDT semaphore that the probe raises",
		       COLUMN_ADDR, 10, 9, R},
	[C_NAME] = {"name", "NAME", "name of the event, or of the BPF program", COLUMN_TEXT, 16, 9,
		    R},
	[C_BYTES] = {"bytes", "BYTES", "bytes of the instruction", COLUMN_TEXT, 12, 9, R},
	[C_REASON] = {"reason", "REASON", "reason for the class", COLUMN_TEXT, 30, 9, R},
	[C_HINT] = {"hint", "HINT", "place at which the probe would cost less", COLUMN_TEXT, 24, 9,
		    R},
	[C_NOTE] = {"note", "NOTE", "hint or reason", COLUMN_TEXT, 16, 3, S | W},
	[C_ENDED] = {COL_ENDED, 5, 9, R},
	[C_LAST_SEEN] = {COL_LAST_SEEN, 9, 0, R},
};

struct probes {
	struct query *q;
	const struct upsnap *s;
	bool average;
	struct query_ended ended; /* after those of @s */
};

static void fill_place(const struct probes *t, const struct upsnap_probe *p, struct value *v)
{
	const char *path = upsnap_text(t->s, p->binary), *symbol = upsnap_text(t->s, p->symbol);
	const char *base = strrchr(path, '/');
	const char *back = p->flags & UPSNAP_RETURN ? " (ret)" : "";

	base = base ? base + 1 : path;
	value_s(&v[C_PROBE],
		*symbol ? arena_printf(&t->q->arena, "%s:%s%s", base, symbol, back)
			: arena_printf(&t->q->arena, "%s+0x%" PRIx64 "%s", base, p->offset, back));
	value_s(&v[C_BINARY], path);
	value_u(&v[C_OFFSET], p->offset);
	v[C_SYMBOL] = (struct value){.s = symbol, .known = *symbol != '\0'};
	value_u(&v[C_RETURN], (p->flags & UPSNAP_RETURN) != 0);
	v[C_REF_CTR] = (struct value){.u = p->ref_ctr, .known = p->ref_ctr != 0};
}

static const char *bytes_text(struct query *q, const struct upsnap_probe *p)
{
	char buf[sizeof(p->bytes) * 3 + 1] = "";

	for (uint32_t i = 0; i < p->n_bytes; i++)
		snprintf(buf + 3 * i, 4, "%02x ", p->bytes[i]);
	if (p->n_bytes)
		buf[3 * p->n_bytes - 1] = '\0';
	return arena_printf(&q->arena, "%s", buf);
}

static void fill_class(const struct probes *t, const struct upsnap_probe *p, struct value *v)
{
	const char *reason = upsnap_text(t->s, p->reason), *hint = upsnap_text(t->s, p->hint);
	const char *name = upsnap_text(t->s, p->name);
	const char *note = *hint ? hint : reason;

	v[C_CLASS] = (struct value){.s = uprobe_class_name((enum upsnap_class)p->class_),
				    .known = p->class_ != UPSNAP_CLASS_UNKNOWN};
	if (p->flags & UPSNAP_DISABLED)
		note = "disabled: nothing uses it";
	value_s(&v[C_NOTE], note);
	v[C_REASON] = (struct value){.s = reason, .known = *reason != '\0'};
	v[C_HINT] = (struct value){.s = hint, .known = *hint != '\0'};
	v[C_NAME] = (struct value){.s = name, .known = *name != '\0'};
	v[C_BYTES] = (struct value){.s = bytes_text(t->q, p), .known = p->n_bytes != 0};
}

static const char *source_name(uint32_t source)
{
	return source == UPSNAP_TRACEFS ? "tracefs" : source == UPSNAP_PERF ? "perf" : "link";
}

static void fill_owner(const struct probes *t, const struct upsnap_probe *p, struct value *v)
{
	const char *owner = query_uprobe_task(t->q, t->s, p->owner_comm, p->owner_pid);

	if (!p->owner_pid && p->source == UPSNAP_TRACEFS)
		owner = "tracefs";
	v[C_OWNER] = (struct value){.s = owner, .known = owner && *owner};
	value_task(&v[C_OWNER_PID], p->owner_pid);
	value_task(&v[C_PID], p->filter_pid);
	value_s(&v[C_SOURCE], source_name(p->source));
}

static void fill_hits(const struct probes *t, const struct upsnap_probe *p, struct value *v)
{
	double rate = 0;
	bool known = query_uprobe_rate(t->s, p, t->average, &rate);

	bool shared = (p->flags & UPSNAP_SHARED) != 0;

	v[C_HITS] = (struct value){
		.u = p->hits, .known = (p->flags & UPSNAP_HITS) != 0, .approx = shared};
	v[C_MISSES] = (struct value){.u = p->misses, .known = (p->flags & UPSNAP_MISSES) != 0};
	v[C_HITS_PER_S] = (struct value){.d = rate, .known = known, .approx = shared};
	v[C_COST] = (struct value){.u = p->cost_ns, .known = p->cost_ns != 0, .approx = true};
	v[C_CPU_PCT] = (struct value){
		.d = rate * (double)p->cost_ns / 1e7, .known = known && p->cost_ns, .approx = true};
}

static void fill_probe(const struct probes *t, const struct upsnap_probe *p, struct value *v)
{
	fill_place(t, p, v);
	fill_class(t, p, v);
	fill_owner(t, p, v);
	fill_hits(t, p, v);
}

static void probes_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct probes *t = ctx;
	size_t n = t->s ? t->s->n_probes : 0;

	(void)want;
	if (row < n) {
		fill_probe(t, &t->s->probes[row], v);
		value_u(&v[C_ENDED], 0);
		return;
	}
	/* Rates are of the time in which it was seen. */
	struct upsnap s = query_ended_upsnap(t->q, &t->ended, row - n);
	struct probes then = {.q = t->q, .s = &s, .average = t->average};
	fill_probe(&then, &s.probes[t->ended.at[row - n]], v);
	query_ended_fill(t->q, &t->ended, row - n, &v[C_ENDED]);
}

/* By what they cost; where that is not known, by how often they are hit. */
static void probes_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct probes *t = ctx;
	size_t n = t->s ? t->s->n_probes : 0;
	const struct upsnap_probe *p =
		row < n ? &t->s->probes[row]
			: &t->q->model->ended->uprobes.probes[t->ended.at[row - n]];
	double rate = 0;

	if (row < n)
		query_uprobe_rate(t->s, p, t->average, &rate);
	double weight = rate * (double)(p->cost_ns ? p->cost_ns : 1);
	*ret = (struct row_rank){.id = p->id, .order = (uint64_t)weight, .tie = p->hits};
}

const struct table_kind query_uprobe_probes_kind = {"uprobes", columns, C_COLUMNS, probes_fill,
						    probes_rank};

int query_uprobe_probes(struct query *q, const struct query_spec *s, struct table *ret,
			struct error *err)
{
	struct probes t = {.q = q, .average = s->average};
	struct row_source src = {.kind = &query_uprobe_probes_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_uprobe(q, &t.s);

	if (code != -ENOMEM)
		code = query_ended(q, ENDED_PROBE, &t.ended);
	src.columns = query_ended_columns(q, &t.ended, &query_uprobe_probes_kind, C_ENDED);
	if (code == -ENOMEM || !src.columns)
		return query_enomem(err, "uprobes");
	src.n = (t.s ? t.s->n_probes : 0) + t.ended.n;
	return rows_answer(q, s, &src, ret, err);
}

enum { H_CPU, H_PROBE, H_HITS_PER_S, H_HITS, H_COLUMNS };

static const struct column hits_columns[H_COLUMNS] = {
	[H_CPU] = {COL_CPU, 4, 0, SR},
	[H_PROBE] = {COL_PROBE, 24, 9, R},
	[H_HITS_PER_S] = {COL_HITS_PER_S, 6, 0, SR},
	[H_HITS] = {COL_HITS, 6, 0, SR},
};

struct hits {
	struct probes p;
	const struct upsnap_hits **rows;
	size_t n;
};

static void hits_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct hits *t = ctx;
	const struct upsnap_hits *h = t->rows[row];
	const struct upsnap_probe *p = &t->p.s->probes[h->probe - 1];
	uint64_t ns = p->flags & UPSNAP_NEW ? 0 : t->p.s->head.interval_ns;
	struct value place[C_COLUMNS] = {0};

	(void)want;
	fill_place(&t->p, p, place);
	v[H_CPU] = (struct value){.i = h->cpu, .known = true};
	v[H_PROBE] = place[C_PROBE];
	v[H_HITS_PER_S] = (struct value){.d = query_per_s(h->new_hits, ns), .known = ns != 0};
	value_u(&v[H_HITS], h->hits);
	v[H_HITS].approx = v[H_HITS_PER_S].approx = (p->flags & UPSNAP_SHARED) != 0;
}

static void hits_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct hits *t = ctx;
	const struct upsnap_hits *h = t->rows[row];

	*ret = (struct row_rank){.id = (uint64_t)h->probe << 32 | h->cpu, .order = h->new_hits};
}

static int collect_hits(struct hits *t, uint64_t probe)
{
	const struct upsnap *s = t->p.s;

	t->rows = arena_alloc(&t->p.q->arena, (s->n_hits + 1) * sizeof(const struct upsnap_hits *));
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_hits; i++)
		if (s->hits[i].probe && (!probe || s->probes[s->hits[i].probe - 1].id == probe))
			t->rows[t->n++] = &s->hits[i];
	return 0;
}

const struct table_kind query_uprobe_hits_kind = {"uphits", hits_columns, H_COLUMNS, hits_fill,
						  hits_rank};

int query_uprobe_hits(struct query *q, uint64_t probe, const struct query_spec *s,
		      struct table *ret, struct error *err)
{
	struct hits t = {.p = {.q = q, .average = s->average}};
	struct row_source src = {.kind = &query_uprobe_hits_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_uprobe(q, &t.p.s);

	if (code == 0)
		code = collect_hits(&t, probe);
	if (code == -ENOMEM)
		return query_enomem(err, "hits of uprobes");
	src.n = t.n;
	return rows_answer(q, s, &src, ret, err);
}
