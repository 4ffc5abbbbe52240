// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as CSV: one table with a header line of keys, raw numbers, empty fields for what is
 * not known. A field is quoted where RFC 4180 asks for it (separator, quote, line break) and inner
 * quotes are doubled; text that a spreadsheet would take for a formula has a ' before it. Lines end
 * in one line feed, as Unix tools expect. Views that are no table are written as one: the overview
 * as key and value, the tree with the depth of every node.
 */
#include "kontend/jsonw.h"
#include "kontend/text.h"
#include "report-int.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	FILE *out;
	char separator;
	bool any; /* a field was written in this line */
};

static void put_field(struct csv *c, const char *s)
{
	char special[] = {'"', '\r', '\n', c->separator, '\0'};
	bool quote = s[strcspn(s, special)] != '\0';

	if (c->any)
		fputc(c->separator, c->out);
	c->any = true;
	if (quote)
		fputc('"', c->out);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', c->out);
		fputc(*s, c->out);
	}
	if (quote)
		fputc('"', c->out);
}

static void put_u64(struct csv *c, uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	put_field(c, buf);
}

static void put_double(struct csv *c, double v)
{
	char buf[340];

	jsonw_fixed(buf, sizeof(buf), v);
	put_field(c, buf);
}

static void end_line(struct csv *c)
{
	fputc('\n', c->out);
	c->any = false;
}

/*
 * Spreadsheets take a field that begins so for a formula, whoever has chosen that name, and quotes
 * do not change that. A login shell (-bash) is none.
 */
static bool is_formula(const char *s)
{
	return *s == '=' || *s == '+' || *s == '@' || (*s == '-' && s[strcspn(s, "(|!")]);
}

/* Text of any length in pieces: text_clean() works on a buffer. */
static void put_text(struct csv *c, const char *s)
{
	char buf[4096];

	buf[0] = '\'';
	text_clean(buf + 1, sizeof(buf) - 1, s);
	put_field(c, is_formula(buf + 1) ? buf : buf + 1);
}

/* A list is one field, its parts behind semicolons. */
static void put_list(struct csv *c, const char *s)
{
	char buf[4096];

	snprintf(buf, sizeof(buf), "%s", s);
	for (char *at = buf; *at; at++)
		*at = *at == '\n' ? ';' : *at;
	put_text(c, buf);
}

static void put_value(struct csv *c, const struct column *col, const struct value *v)
{
	char buf[24];

	if (!v->known) {
		put_field(c, "");
		return;
	}
	switch (col->type) {
	case COLUMN_TEXT:
		if (col->flags & COLUMN_LIST)
			put_list(c, v->s);
		else
			put_text(c, v->s);
		break;
	case COLUMN_INT:
		snprintf(buf, sizeof(buf), "%" PRId64, v->i);
		put_field(c, buf);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_PCT:
		put_double(c, v->d);
		break;
	case COLUMN_ADDR:
		snprintf(buf, sizeof(buf), "0x%" PRIx64, v->u);
		put_field(c, buf);
		break;
	default:
		put_u64(c, v->u);
	}
}

static void put_table(struct csv *c, const struct table *t)
{
	for (size_t col = 0; col < t->n_columns; col++)
		if (t->columns[col].flags & COLUMN_REPORT)
			put_field(c, t->columns[col].key);
	end_line(c);
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t col = 0; col < t->n_columns; col++)
			if (t->columns[col].flags & COLUMN_REPORT)
				put_value(c, &t->columns[col], table_value(t, row, col));
		end_line(c);
	}
}

void report_csv_table(const struct table *t, char separator, FILE *out)
{
	struct csv c = {.out = out, .separator = separator ? separator : ','};

	put_table(&c, t);
}

static void put_header(struct csv *c, const char *const *keys)
{
	for (; *keys; keys++)
		put_field(c, *keys);
	end_line(c);
}

static void put_pair(struct csv *c, const char *key, uint64_t v)
{
	put_field(c, key);
	put_u64(c, v);
	end_line(c);
}

static void put_perf(struct csv *c, const struct query_perf_sum *p)
{
	if (p->slots_known) {
		put_pair(c, "slots", p->slots);
		put_pair(c, "slots_used", p->used);
	}
	if (p->known && !(p->missing & SNAP_NO_EVENTS)) {
		put_pair(c, "perf_events", p->events);
		put_pair(c, "perf_events_own", p->own);
		put_pair(c, "perf_contexts", p->contexts);
		put_pair(c, "perf_events_starved", p->starved);
	}
}

static void put_rotation(struct csv *c, const struct query_rotation_sum *s)
{
	if (!s->known)
		return;
	put_pair(c, "rotating_pmus", s->pmus);
	put_pair(c, "rotations", s->rotations);
	put_pair(c, "rotation_total_ns", s->total_ns);
}

static void put_overview(struct csv *c, const struct report_data *d)
{
	static const char *const keys[] = {"key", "value", NULL};
	const struct query_overview *o = &d->overview;
	const struct model_damage *m = &o->damage;

	put_header(c, keys);
	put_pair(c, "duration_ns", o->elapsed_ns);
	put_pair(c, "events", o->n_events);
	put_pair(c, "contended", o->contended);
	put_pair(c, "total_ns", o->total_ns);
	put_pair(c, "waiting", o->waiting);
	put_pair(c, "waiting_rwsem_r", o->waiting_rwsem_r);
	put_pair(c, "waiting_rwsem_w", o->waiting_rwsem_w);
	if (o->any_longest)
		put_pair(c, "longest_ns", o->longest_ns);
	put_pair(c, "lost", m->lost);
	put_pair(c, "dropped", m->dropped);
	put_pair(c, "throttled", m->throttled);
	put_pair(c, "unmatched", m->unmatched_begin + m->unmatched_end);
	put_pair(c, "doubtful", m->doubtful);
	put_pair(c, "late", m->late);
	put_pair(c, "bad", m->bad);
	put_pair(c, "folded", m->folded);
	put_pair(c, "no_stack", m->no_stack);
	put_pair(c, "deep", m->deep);
	put_pair(c, "snapshots_lost", m->snapshot_lost);
	put_pair(c, "snapshots_unknown", m->snapshot_unknown);
	put_perf(c, &d->perf);
	put_rotation(c, &d->rotation_sum);
}

static void put_tree(struct csv *c, const struct query_tree *t, double percent_limit)
{
	static const char *const keys[] = {"depth",  "name", "waits",	   "total_ns",
					   "max_ns", "pct",  "pct_parent", NULL};

	put_header(c, keys);
	for (size_t i = 0; i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		if (n->pct < percent_limit)
			continue;
		put_u64(c, n->depth);
		put_text(c, n->name);
		put_u64(c, n->n);
		put_u64(c, n->total_ns);
		put_u64(c, n->max_ns);
		put_double(c, n->pct);
		put_double(c, n->pct_parent);
		end_line(c);
	}
}

static void put_hist(struct csv *c, const struct query_hist *h)
{
	static const char *const keys[] = {"lower_ns", "upper_ns", "waits", "pct", NULL};

	put_header(c, keys);
	for (size_t i = 0; i < h->n; i++) {
		put_u64(c, h->bars[i].lower_ns);
		put_u64(c, h->bars[i].upper_ns);
		put_u64(c, h->bars[i].n);
		put_double(c, h->bars[i].pct);
		end_line(c);
	}
}

void report_csv(const struct report_data *d, FILE *out)
{
	char separator = d->spec->csv_separator ? d->spec->csv_separator : ',';
	struct csv c = {.out = out, .separator = separator};

	if (report_has(d, REPORT_OVERVIEW))
		put_overview(&c, d);
	if (report_has(d, REPORT_LOCKS))
		put_table(&c, &d->locks);
	if (report_has(d, REPORT_WAITERS))
		put_table(&c, &d->waiters);
	if (report_has(d, REPORT_MMAP))
		put_table(&c, &d->mmap);
	if (report_has(d, REPORT_SLOTS))
		put_table(&c, &d->slots);
	if (report_has(d, REPORT_HOLDERS))
		put_table(&c, &d->holders);
	if (report_has(d, REPORT_CONTEXTS))
		put_table(&c, &d->contexts);
	if (report_has(d, REPORT_EVENTS))
		put_table(&c, &d->events);
	if (report_has(d, REPORT_ROTATION))
		put_table(&c, &d->rotation);
	if (report_has(d, REPORT_HOT))
		put_table(&c, &d->hot);
	if (report_has(d, REPORT_FLAME))
		put_table(&c, &d->flame.table);
	if (report_has(d, REPORT_UPROBES))
		put_table(&c, &d->uprobes);
	if (report_has(d, REPORT_XOL))
		put_table(&c, &d->xol);
	if (report_has(d, REPORT_TREE))
		put_tree(&c, &d->tree, d->spec->percent_limit);
	if (report_has(d, REPORT_HIST))
		put_hist(&c, &d->hist);
}
