// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is wrong, in a sentence. Each rule holds one figure against two limits; the worst level
 * wins, and of several the rule that comes first, as its cause is most often that of the others.
 * Waiting in all and the longest wait are two rules with one sentence: what waits and because of
 * whom.
 */
#include "internal.h"
#include "kontend/query-chains.h"
#include "kontend/query-knots.h"
#include "kontend/query-lock.h"
#include "kontend/query-verdict.h"
#include "kontend/units.h"
#include "reuse.h"

#include <errno.h>
#include <string.h>

enum { CELLS_MOST = 20000 };

#define SECOND 1e9

struct judge {
	struct query *q;
	const struct query_verdict_facts *f;
	struct table worst, slots; /* locks by WAIT/s and slots; no rows: none */
	size_t full;		   /* row of the CPU with the greatest share of slots taken */
	double values[VERDICT_RULES];
};

struct rule {
	const char *name;
	double (*value)(struct judge *j); /* below 0: not known */
	const char *(*say)(struct judge *j, struct query_verdict *v);
};

static const char *const level_names[VERDICT_LEVELS] = {
	[VERDICT_QUIET] = "quiet", [VERDICT_OK] = "ok",	  [VERDICT_LOOK] = "look",
	[VERDICT_LOST] = "lost",   [VERDICT_BAD] = "bad",
};

static const char *const level_words[VERDICT_LEVELS] = {
	[VERDICT_QUIET] = "OK", [VERDICT_OK] = "OK",   [VERDICT_LOOK] = "LOOK",
	[VERDICT_LOST] = "?",	[VERDICT_BAD] = "BAD",
};

const char *query_verdict_level(enum verdict_level l)
{
	return level_names[l];
}

const char *query_verdict_word(enum verdict_level l)
{
	return level_words[l];
}

static const struct value *cell(const struct table *t, size_t row, const char *key)
{
	return table_value(t, row, table_column(t, key));
}

static const char *text_of(const struct table *t, size_t row, const char *key)
{
	const struct value *v = cell(t, row, key);

	return v->known && v->s ? v->s : "-";
}

static double elapsed_s(const struct query_overview *o)
{
	return (double)o->elapsed_ns / SECOND;
}

/* Of a lock that has no name of its own: "rwsem:R in lock_mm_and_find_vma". */
static const char *short_name(struct judge *j, uint64_t id, const char *name, const char *kind)
{
	const char *class = query_lock_class(j->q, lock_by_id(&j->q->model->locks, id)), *text;

	if (!class)
		return name;
	if (class[0] != '(')
		return class;
	text = arena_printf(&j->q->arena, "%s in %.*s", kind, (int)strcspn(class + 1, ")"),
			    class + 1);
	return text ? text : name;
}

static const char *worst_name(struct judge *j)
{
	return short_name(j, j->worst.ids[0], text_of(&j->worst, 0, "name"),
			  text_of(&j->worst, 0, "kind"));
}

/* ns that were waited in each second. */
static double waited(const struct judge *j)
{
	const struct query_overview *o = j->f->now;

	if (!j->f->average)
		return o->wait_ns_per_s;
	return o->elapsed_ns ? (double)o->waited_ns / elapsed_s(o) : 0;
}

static double value_wait(struct judge *j)
{
	const struct query_overview *o = j->f->now;
	uint32_t cpus = o->host->cpus_online ? o->host->cpus_online : j->q->model->n_cpus;

	return cpus ? 100 * waited(j) / SECOND / cpus : -1;
}

static double value_longest(struct judge *j)
{
	const struct query_overview *o = j->f->now;
	double longest = o->any_longest ? (double)o->longest_ns : 0;

	if (j->f->average && j->worst.n_rows) {
		const struct value *max = cell(&j->worst, 0, "max_ns");
		if (max->known && (double)max->u > longest)
			longest = (double)max->u;
	}
	return longest;
}

static double value_slots(struct judge *j)
{
	double most = -1;

	for (size_t i = 0; i < j->slots.n_rows; i++) {
		const struct value *used = cell(&j->slots, i, "used"),
				   *slots = cell(&j->slots, i, "slots");
		if (!used->known || !slots->known || slots->i <= 0)
			continue;
		double pct = 100.0 * (double)used->i / (double)slots->i;
		if (pct > most) {
			most = pct;
			j->full = i;
		}
	}
	return most;
}

static double value_short(struct judge *j)
{
	const struct query_perf_sum *p = j->f->perf;

	return p->known && !(p->missing & SNAP_NO_EVENTS) ? (double)p->starved : -1;
}

static double value_rotation(struct judge *j)
{
	return 100 * j->f->rotation->ns_per_s / SECOND;
}

static double value_uprobes(struct judge *j)
{
	const struct query_uprobe_sum *u = j->f->uprobe;

	return u->known && u->cpu_known ? u->cpu_pct : -1;
}

static double value_xol(struct judge *j)
{
	const struct query_uprobe_sum *u = j->f->uprobe;

	return u->known ? (double)u->waiting : -1;
}

static double value_missing(struct judge *j)
{
	const struct query_overview *o = j->f->now;

	return (j->f->average ? &o->loss : &o->loss_now)->lost_pct;
}

/* "held 1.9s by mysqld/812 W, running on 1"; of one who waits, too, because of whom. */
static const char *say_holder(struct judge *j, uint64_t lock)
{
	struct query_lock_now now;
	char ns[UNITS_BUF];

	if (!query_lock_now_by_id(j->q, lock, &now) || !now.holder)
		return NULL;
	const char *root = query_chains_root(j->q, query_lock_addr(j->q, lock));
	if (root)
		return arena_printf(&j->q->arena, "held by %s, who waits behind %s", now.holder,
				    root);
	return arena_printf(&j->q->arena, "held %s%sby %s%s%s",
			    now.held_ns ? units_ns(ns, now.held_ns) : "", now.held_ns ? " " : "",
			    now.holder, now.is ? ", " : "", now.is ? now.is : "");
}

/* "at most 61% of the waiting ends with mysqld/801, running 72%", of the window. */
static const char *make_knot(struct judge *j)
{
	struct query_knots all;
	char pct[UNITS_BUF];

	if (query_knots(j->q, 1, &all) < 0 || !all.n)
		return NULL;
	const struct query_knot *k = &all.knots[0];
	const char *who = k->n_names ? k->names[0] : "-";
	if (k->tasks > 1)
		who = arena_printf(&j->q->arena, "%s and %llu more", who,
				   (unsigned long long)k->tasks - 1);
	bool is_followed = k->mostly && strcmp(k->mostly_state, "not_followed") != 0;
	return arena_printf(&j->q->arena, "at most %s%% of the waiting ends with %s%s%s",
			    units_pct(pct, k->at_most_pct), who, is_followed ? ", " : "",
			    is_followed ? k->mostly : "");
}

/* Once for each state of the model; on a screen not where that takes as long as all else. */
static const char *say_knot(struct judge *j)
{
	const struct model *m = j->q->model;
	const char *text;

	if (!m->blame.max || (!j->f->average && m->cells.n + m->blame.n > CELLS_MOST))
		return NULL;
	if (reuse_knot_find(j->q, &text))
		return text;
	text = make_knot(j);
	reuse_knot_put(j->q, text);
	return text;
}

/* Who has the lock now; where nobody is known to, with whom most of the waiting has ended. */
static const char *say_because(struct judge *j, uint64_t lock)
{
	const char *holder = say_holder(j, lock);

	return holder ? holder : say_knot(j);
}

/* The longest that a task has waited by now for the lock of that row; 0: nobody does. */
static uint64_t longest_of(const struct judge *j, uint64_t id)
{
	const struct model *m = j->q->model;
	const struct wait_pool *p = &m->waits;
	uint32_t lock = lock_by_id(&m->locks, id);
	uint64_t longest = 0;

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (!w->used || w->doubtful || w->lock != lock)
			continue;
		uint64_t ns = query_wait_ns(m, w);
		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/* "41 tasks wait for mmap_lock mysqld/800: avg 38.2, longest 2.1s" */
static const char *say_worst(struct judge *j, struct query_verdict *v)
{
	char r[UNITS_BUF], ns[UNITS_BUF];

	units_tasks(r, waited(j));
	if (!j->worst.n_rows)
		return arena_printf(&j->q->arena, "tasks waited for locks: avg %s", r);
	const struct value *rate = cell(&j->worst, 0, "wait_ns_per_s"),
			   *n = cell(&j->worst, 0, "waiting"), *max = cell(&j->worst, 0, "max_ns");
	const char *name = worst_name(j);
	uint64_t id = j->worst.ids[0], longest = longest_of(j, id);

	v->lock = id;
	v->name = name;
	v->because = say_because(j, id);
	units_tasks(r, rate->known ? rate->d : 0);
	if (!j->f->average && n->known && n->u && longest)
		return arena_printf(&j->q->arena, "%llu task%s for %s: avg %s, longest %s",
				    (unsigned long long)n->u, n->u == 1 ? " waits" : "s wait", name,
				    r, units_ns(ns, longest));
	return arena_printf(&j->q->arena, "tasks waited for %s: avg %s, longest %s", name, r,
			    max->known ? units_ns(ns, max->u) : "-");
}

/* "dd/8122 has waited for i_rwsem /var/x.img for 2.1s" */
static const char *say_longest(struct judge *j, struct query_verdict *v)
{
	const struct query_overview *o = j->f->now;
	char ns[UNITS_BUF];

	if (!o->any_longest || (j->f->average && (double)o->longest_ns < value_longest(j)))
		return say_worst(j, v);
	v->lock = o->longest_lock_id;
	v->name = short_name(j, v->lock, o->longest_lock, o->longest_type);
	v->because = say_because(j, v->lock);
	return arena_printf(&j->q->arena, "%s has waited for %s for %s%s", o->longest_task, v->name,
			    o->longest_approx ? "~" : "", units_ns(ns, o->longest_ns));
}

static const char *say_wait(struct judge *j, struct query_verdict *v)
{
	return j->worst.n_rows ? say_worst(j, v) : say_longest(j, v);
}

static const char *say_slots(struct judge *j, struct query_verdict *v)
{
	const struct value *used = cell(&j->slots, j->full, "used"),
			   *slots = cell(&j->slots, j->full, "slots"),
			   *cpu = cell(&j->slots, j->full, "cpu");
	bool all = used->i >= slots->i;

	(void)v;
	return arena_printf(&j->q->arena, "%lld of %lld breakpoint slots of CPU %lld are taken%s",
			    (long long)used->i, (long long)slots->i, (long long)cpu->i,
			    all ? ": the next one fails" : "");
}

static const char *say_short(struct judge *j, struct query_verdict *v)
{
	const struct query_perf_sum *p = j->f->perf;

	(void)v;
	return arena_printf(&j->q->arena, "%u of %u perf events get a part of their time only",
			    p->starved, p->events + p->own);
}

static const char *say_rotation(struct judge *j, struct query_verdict *v)
{
	char pct[UNITS_BUF];

	(void)v;
	return arena_printf(&j->q->arena, "rotation of perf events takes %s%% of a CPU",
			    units_pct(pct, value_rotation(j)));
}

static const char *say_uprobes(struct judge *j, struct query_verdict *v)
{
	char pct[UNITS_BUF];

	(void)v;
	return arena_printf(&j->q->arena, "uprobes take %s%% of a CPU",
			    units_pct(pct, value_uprobes(j)));
}

static const char *say_xol(struct judge *j, struct query_verdict *v)
{
	const struct query_uprobe_sum *u = j->f->uprobe;

	(void)v;
	return arena_printf(&j->q->arena, "%u task%s for an out-of-line slot of uprobes%s%s",
			    u->waiting, u->waiting == 1 ? " waits" : "s wait",
			    u->worst ? ", fullest is " : "", u->worst ? u->worst : "");
}

static const char *say_missing(struct judge *j, struct query_verdict *v)
{
	char pct[UNITS_BUF];

	(void)v;
	return arena_printf(&j->q->arena, "%s%% of the records were lost: figures are at least",
			    units_pct(pct, value_missing(j)));
}

static const struct rule rules[VERDICT_RULES] = {
	[VERDICT_WAIT] = {"wait", value_wait, say_wait},
	[VERDICT_LONGEST] = {"longest", value_longest, say_longest},
	[VERDICT_SLOTS] = {"slots", value_slots, say_slots},
	[VERDICT_SHORT] = {"short", value_short, say_short},
	[VERDICT_ROTATION] = {"rotation", value_rotation, say_rotation},
	[VERDICT_UPROBES] = {"uprobes", value_uprobes, say_uprobes},
	[VERDICT_XOL] = {"xol", value_xol, say_xol},
	[VERDICT_MISSING] = {"lost", value_missing, say_missing},
};

const char *query_verdict_rule(enum verdict_rule r)
{
	return rules[r].name;
}

static enum verdict_level level_of(double value, const struct verdict_limit *l)
{
	if (l->bad > 0 && value >= l->bad)
		return VERDICT_BAD;
	return l->look > 0 && value >= l->look ? VERDICT_LOOK : VERDICT_OK;
}

/* Waiting is one thing to say, whichever of both limits it is over. */
static bool is_waiting(unsigned rule)
{
	return rule == VERDICT_WAIT || rule == VERDICT_LONGEST;
}

static void find_worst(struct judge *j, struct query_verdict *v)
{
	const struct verdict_limits *l = j->f->limits ? j->f->limits : &verdict_defaults;
	uint32_t found = 0;
	bool waits = false;

	v->level = VERDICT_OK;
	for (unsigned i = 0; i < VERDICT_RULES; i++) {
		enum verdict_level is = level_of(rules[i].value(j), &l->of[i]);

		if (is < VERDICT_LOOK)
			continue;
		if (i == VERDICT_MISSING && is == VERDICT_BAD)
			is = VERDICT_LOST;
		found += !(is_waiting(i) && waits);
		waits |= is_waiting(i);
		if (is <= v->level)
			continue;
		v->level = is;
		v->rule = (enum verdict_rule)i;
	}
	v->more = found ? found - 1 : 0;
}

static const char *say_calm(struct judge *j, struct query_verdict *v)
{
	char r[UNITS_BUF];

	if (!waited(j) && !j->f->now->waiting) {
		v->level = VERDICT_QUIET;
		return "nothing waits for a lock";
	}
	units_tasks(r, waited(j));
	if (!j->worst.n_rows)
		return arena_printf(&j->q->arena, "%s tasks wait on average", r);
	v->lock = j->worst.ids[0];
	v->name = worst_name(j);
	return arena_printf(&j->q->arena, "%s tasks wait on average, most for %s", r, v->name);
}

static int ask(struct judge *j)
{
	struct query_spec locks = {.by = BY_LOCK,
				   .sort = "wait_ns_per_s",
				   .limit = 1,
				   .average = j->f->average},
			  slots = {0};
	struct error err;
	int r = query_locks(j->q, &locks, &j->worst, &err);

	if (r == 0 && j->f->perf->slots_known)
		r = query_perf_slots(j->q, &slots, &j->slots, &err);
	return r;
}

int query_verdict(struct query *q, const struct query_verdict_facts *f, struct query_verdict *ret)
{
	struct judge j = {.q = q, .f = f};

	*ret = (struct query_verdict){0};
	if (ask(&j) < 0)
		return -ENOMEM;
	find_worst(&j, ret);
	ret->text = ret->level >= VERDICT_LOOK ? rules[ret->rule].say(&j, ret) : say_calm(&j, ret);
	ret->level_name = level_names[ret->level];
	ret->rule_name = ret->level >= VERDICT_LOOK ? rules[ret->rule].name : NULL;
	return ret->text && !q->cache->failed ? 0 : -ENOMEM;
}

const struct figure query_verdict_figures[] = {
	{FIGURE("level", TEXT, struct query_verdict, level_name), .csv = "verdict",
	 .help = "bad, lost, look, ok or quiet"},
	{FIGURE("rule", TEXT, struct query_verdict, rule_name), .csv = "verdict_rule",
	 .help = "the rule that says so"},
	{FIGURE("text", TEXT, struct query_verdict, text), .csv = "verdict_text",
	 .help = "what is wrong, or that nothing is"},
	{FIGURE("because", TEXT, struct query_verdict, because), .csv = "verdict_because",
	 .help = "who holds the lock that is waited for, and what that task does"},
	{FIGURE("more", COUNT, struct query_verdict, more), .csv = "verdict_more",
	 .help = "how many other rules are worth a look"},
	FIGURE_END,
};
