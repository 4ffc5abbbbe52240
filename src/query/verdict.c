// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worst problem, in a sentence. Each rule holds one figure against two limits; the worst level
 * wins, and of several the rule that comes first, as its cause is most often that of the others.
 * Waiting in all and the longest wait are two rules with one sentence: the waits and their cause.
 * Waits for locks of programs have a rule of their own, with which the longest wait goes if it is
 * one of them.
 */
#include "verdict.h"
#include "kontend/engine.h"
#include "kontend/query-overview.h"
#include "kontend/units.h"
#include "kontend/wait.h"

#include <errno.h>
#include <string.h>

#define SECOND 1e9

struct rule {
	const char *name;
	double (*value)(struct judge *j); /* below 0: not known */
	const char *(*say)(struct judge *j, struct query_finding *f);
};

static const char *const level_names[VERDICT_LEVELS] = {
	[VERDICT_NONE] = "none", [VERDICT_QUIET] = "quiet", [VERDICT_OK] = "ok",
	[VERDICT_LOOK] = "look", [VERDICT_LOST] = "lost",   [VERDICT_BAD] = "bad",
};

static const char *const level_words[VERDICT_LEVELS] = {
	[VERDICT_NONE] = "NONE", [VERDICT_QUIET] = "OK", [VERDICT_OK] = "OK",
	[VERDICT_LOOK] = "LOOK", [VERDICT_LOST] = "?",	 [VERDICT_BAD] = "BAD",
};

const char *query_verdict_level(enum verdict_level l)
{
	return level_names[l];
}

const char *query_verdict_word(enum verdict_level l)
{
	return level_words[l];
}

static double value_deadlock(struct judge *j)
{
	return j->deadlock.n;
}

static double share_of_cpus(const struct judge *j, bool user)
{
	const struct query_overview *o = j->f->now;
	uint32_t cpus = o->host->cpus_online ? o->host->cpus_online : j->q->model->n_cpus;

	return cpus ? 100 * verdict_waited(j, user) / SECOND / cpus : -1;
}

static double value_wait(struct judge *j)
{
	return share_of_cpus(j, false);
}

static double value_user(struct judge *j)
{
	return share_of_cpus(j, true);
}

static double value_longest(struct judge *j)
{
	return verdict_longest(j);
}

static double value_inversion(struct judge *j)
{
	return j->n_inversions ? (double)j->inversion.ns : -1;
}

static double value_blocked(struct judge *j)
{
	return j->blocked.tasks ? (double)j->blocked.longest_ns : -1;
}

static double value_spin(struct judge *j)
{
	return j->spin.cpus > 0 ? 100 * j->spin.cpus : -1;
}

static double value_slots(struct judge *j)
{
	double most = -1;

	for (size_t i = 0; i < j->slots.n_rows; i++) {
		const struct value *used = table_cell(&j->slots, i, "used"),
				   *slots = table_cell(&j->slots, i, "slots");
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

	return (j->f->average ? &o->loss : &o->loss_now)->waits_lost_pct;
}

static double value_damage(struct judge *j)
{
	return (double)j->q->engine->notes.n_damage;
}

/* "deadlock of 2 tasks for 8.9s: a/100, b/101" */
static const char *say_deadlock(struct judge *j, struct query_finding *f)
{
	const struct query_deadlock *d = &j->deadlock;
	char ns[UNITS_BUF];

	f->because = d->have;
	f->name = d->who;
	return arena_printf(&j->q->arena, "deadlock of %u tasks for %s%s: %s", d->tasks,
			    d->approx ? ">=" : "", units_ns(ns, d->longest_ns), d->who);
}

/* "12 tasks are blocked, jbd2 commit vda1, longest 4.1s" */
static const char *say_blocked(struct judge *j, struct query_finding *f)
{
	const struct query_blocked_worst *b = &j->blocked;
	char n[UNITS_BUF], ns[UNITS_BUF];

	f->because = b->because;
	f->name = b->cause;
	f->longest = arena_printf(&j->q->arena, ", longest %s", units_ns(ns, b->longest_ns));
	if (!f->longest)
		return NULL;
	return arena_printf(&j->q->arena, "%s task%s blocked: %s%s", units_count(n, b->tasks),
			    b->tasks == 1 ? " is" : "s are", b->cause, f->longest);
}

static const char *say_slots(struct judge *j, struct query_finding *f)
{
	const struct value *used = table_cell(&j->slots, j->full, "used"),
			   *slots = table_cell(&j->slots, j->full, "slots"),
			   *cpu = table_cell(&j->slots, j->full, "cpu");
	bool all = used->i >= slots->i;

	f->because = verdict_slots_culprit(j);
	return arena_printf(&j->q->arena, "%lld of %lld breakpoint slots of CPU %lld are taken%s",
			    (long long)used->i, (long long)slots->i, (long long)cpu->i,
			    all ? ": the next one fails" : "");
}

static const char *say_short(struct judge *j, struct query_finding *f)
{
	const struct query_perf_sum *p = j->f->perf;

	f->because = verdict_short_culprit(j);
	return arena_printf(&j->q->arena, "%u of %u perf events get a part of their time only",
			    p->starved, p->events + p->own);
}

static const char *say_rotation(struct judge *j, struct query_finding *f)
{
	char pct[UNITS_BUF];

	f->because = verdict_rotation_culprit(j);
	return arena_printf(&j->q->arena, "rotation of perf events takes %s%% of a CPU",
			    units_pct(pct, value_rotation(j)));
}

static const char *say_uprobes(struct judge *j, struct query_finding *f)
{
	char pct[UNITS_BUF];

	f->because = verdict_uprobes_culprit(j);
	return arena_printf(&j->q->arena, "uprobes take %s%% of a CPU",
			    units_pct(pct, value_uprobes(j)));
}

static const char *say_xol(struct judge *j, struct query_finding *f)
{
	const struct query_uprobe_sum *u = j->f->uprobe;

	f->because = verdict_uprobes_culprit(j);
	return arena_printf(&j->q->arena, "%u task%s for an out-of-line slot of uprobes%s%s",
			    u->waiting, u->waiting == 1 ? " waits" : "s wait",
			    u->worst ? ", fullest is " : "", u->worst ? u->worst : "");
}

static const char *say_damage(struct judge *j, struct query_finding *f)
{
	const struct notes *n = &j->q->engine->notes;

	f->because = n->n_damage > 1 ? arena_printf(&j->q->arena, "%s; %zu more notes of damage",
						    n->items[0].text, n->n_damage - 1)
				     : arena_printf(&j->q->arena, "%s", n->items[0].text);
	return "the recording is damaged: figures are lower bounds";
}

static const char *say_missing(struct judge *j, struct query_finding *f)
{
	char pct[UNITS_BUF];

	f->because =
		"the rings were full: -m makes them larger, --realtime has them emptied before "
		"others run";
	return arena_printf(&j->q->arena, "%s%% of the records were lost: figures are lower bounds",
			    units_pct(pct, value_missing(j)));
}

static const struct rule rules[VERDICT_RULES] = {
	[VERDICT_DEADLOCK] = {"deadlock", value_deadlock, say_deadlock},
	[VERDICT_INVERSION] = {"inversion", value_inversion, verdict_say_inversion},
	[VERDICT_WAIT] = {"wait", value_wait, verdict_say_wait},
	[VERDICT_USER] = {"user", value_user, verdict_say_user},
	[VERDICT_LONGEST] = {"longest", value_longest, verdict_say_longest},
	[VERDICT_BLOCKED] = {"blocked", value_blocked, say_blocked},
	[VERDICT_SPIN] = {"spin", value_spin, verdict_say_spin},
	[VERDICT_SLOTS] = {"slots", value_slots, say_slots},
	[VERDICT_SHORT] = {"short", value_short, say_short},
	[VERDICT_ROTATION] = {"rotation", value_rotation, say_rotation},
	[VERDICT_UPROBES] = {"uprobes", value_uprobes, say_uprobes},
	[VERDICT_XOL] = {"xol", value_xol, say_xol},
	[VERDICT_DAMAGE] = {"damage", value_damage, say_damage},
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

/* By level, the worst first; equal ones in the order in which they come. */
static void put_finding(struct query_verdict *v, enum verdict_rule rule, enum verdict_level level)
{
	uint32_t at = v->n_findings++;

	for (; at && v->findings[at - 1].level < level; at--)
		v->findings[at] = v->findings[at - 1];
	v->findings[at] = (struct query_finding){.level = level, .rule = rule};
}

static enum verdict_level level_by(struct judge *j, const struct verdict_limits *l,
				   enum verdict_rule rule)
{
	return level_of(rules[rule].value(j), &l->of[rule]);
}

/* Of the longest wait and the rule about waiting that it belongs to, the worse result. */
static void find_waiting(struct judge *j, const struct verdict_limits *l, enum verdict_rule rule,
			 struct query_verdict *v)
{
	bool goes_with = verdict_longest_is_user(j) == (rule == VERDICT_USER);
	enum verdict_level is = level_by(j, l, rule),
			   longest = goes_with ? level_by(j, l, VERDICT_LONGEST) : VERDICT_OK;

	if (is >= VERDICT_LOOK || longest >= VERDICT_LOOK)
		put_finding(v, longest > is ? VERDICT_LONGEST : rule, longest > is ? longest : is);
}

static void find_all(struct judge *j, struct query_verdict *v)
{
	const struct verdict_limits *l = j->f->limits ? j->f->limits : &verdict_defaults;

	/* First that for which tasks waited more. */
	bool user_first = verdict_waited(j, true) > verdict_waited(j, false);

	for (unsigned i = 0; i < VERDICT_RULES; i++) {
		if (i == VERDICT_WAIT || i == VERDICT_USER)
			find_waiting(
				j, l,
				(i == VERDICT_USER) != user_first ? VERDICT_USER : VERDICT_WAIT, v);
		if (i == VERDICT_WAIT || i == VERDICT_USER || i == VERDICT_LONGEST)
			continue;
		enum verdict_level is = level_by(j, l, (enum verdict_rule)i);

		if (is < VERDICT_LOOK)
			continue;
		if (i == VERDICT_DAMAGE || (i == VERDICT_MISSING && is == VERDICT_BAD))
			is = VERDICT_LOST;
		put_finding(v, (enum verdict_rule)i, is);
	}
	v->more = v->n_findings ? v->n_findings - 1 : 0;
}

/* Less is not worth a word: where all CPUs are busy, the lock with most time waited is meant. */
#define LOST_LEAST (SECOND / 20)

/*
 * The lock with most time waited; another one if more of its time was lost, as that of waits beside
 * which all CPUs were busy cost nothing. One whose LOST is not known may have lost it all.
 */
static int ask_by_cost(struct judge *j, struct query_spec locks, struct table *ret)
{
	struct table lost = {0};
	struct error err;
	int r = query_locks(j->q, &locks, ret, &err);

	if (r < 0 || !ret->n_rows)
		return r;
	const struct value waited = *table_cell(ret, 0, "wait_ns_per_s");
	const struct value first = *table_cell(ret, 0, "wait_lost_ns_per_s");
	if (!first.known || first.d >= waited.d)
		return 0;
	locks.sort = "wait_lost_ns_per_s";
	r = query_locks(j->q, &locks, &lost, &err);
	const struct value *most =
		r == 0 && lost.n_rows ? table_cell(&lost, 0, "wait_lost_ns_per_s") : NULL;
	if (most && most->known && most->d >= LOST_LEAST && most->d > first.d)
		*ret = lost;
	return r;
}

/* The worst lock of the kernel or of a file, and that of a program. */
static int ask_worst(struct judge *j, struct query_spec locks)
{
	int r = 0;

	if (j->f->now->user_waited_ns || j->f->now->user_waiting) {
		locks.filter = "kind:\"(u)\"";
		r = ask_by_cost(j, locks, &j->worst_user);
		locks.filter = "!kind:\"(u)\"";
	}
	return r < 0 ? r : ask_by_cost(j, locks, &j->worst);
}

static int ask_tables(struct judge *j)
{
	struct query_spec locks = {.by = BY_LOCK,
				   .sort = "wait_ns_per_s",
				   .limit = 1,
				   .average = j->f->average},
			  slots = {0};
	struct error err;
	int r = ask_worst(j, locks);

	r = r < 0 ? r : query_blocked_worst(j->q, &j->blocked);
	if (r == 0 && j->q->model->waits->in_flight > 1)
		r = query_chains_deadlock(j->q, &j->deadlock);
	if (r == 0)
		(void)query_inversion_worst(j->q, 0, &j->inversion, &j->n_inversions);
	r = r < 0 ? r : verdict_find_spin(j->q, j->f->average, &j->spin);
	locks.sort = "max_ns";
	if (r == 0 && j->f->average)
		r = query_locks(j->q, &locks, &j->longest, &err);
	if (r == 0 && j->f->perf->slots_known)
		r = query_perf_slots(j->q, &slots, &j->slots, &err);
	return r;
}

/* False: no memory. */
static bool say_finding(struct judge *j, struct query_finding *f)
{
	bool is_found = f->level >= VERDICT_LOOK;

	f->text = is_found ? rules[f->rule].say(j, f) : verdict_say_calm(j, f);
	f->level_name = level_names[f->level];
	f->rule_name = is_found ? rules[f->rule].name : NULL;
	return f->text && (!is_found || !f->lock || verdict_put_places(j, f) == 0);
}

int query_verdict(struct query *q, const struct query_verdict_facts *f, struct query_verdict *ret)
{
	struct judge j = {.q = q, .f = f, .elsewhere = &ret->elsewhere};
	bool said = true;

	*ret = (struct query_verdict){.worst.level = VERDICT_OK};
	if (ask_tables(&j) < 0)
		return -ENOMEM;
	find_all(&j, ret);
	if (query_elsewhere(q, &ret->elsewhere) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret->n_findings; i++)
		said &= say_finding(&j, &ret->findings[i]);
	if (ret->n_findings)
		ret->worst = ret->findings[0];
	else
		said = say_finding(&j, &ret->worst);
	return said && !q->cache->failed ? 0 : -ENOMEM;
}

const struct figure query_verdict_figures[] = {
	{FIGURE("level", TEXT, struct query_verdict, worst.level_name), .csv = "verdict",
	 .help = "bad, lost, look, ok, quiet or none"},
	{FIGURE("rule", TEXT, struct query_verdict, worst.rule_name), .csv = "verdict_rule",
	 .help = "the rule of the finding"},
	{FIGURE("text", TEXT, struct query_verdict, worst.text), .csv = "verdict_text",
	 .help = "what is wrong, or that nothing is"},
	{FIGURE("because", TEXT, struct query_verdict, worst.because), .csv = "verdict_because",
	 .help = "what or who causes it"},
	{FIGURE("at", TEXT, struct query_verdict, worst.at), .flags = FIGURE_JSON,
	 .help = "line of programs where most of the waiting for the lock is"},
	{FIGURE("syscall", TEXT, struct query_verdict, worst.syscall), .flags = FIGURE_JSON,
	 .help = "the system call in which that is"},
	{FIGURE("owner_at", TEXT, struct query_verdict, worst.owner_at), .flags = FIGURE_JSON,
	 .help = "line of the holder's program where the holder is"},
	{FIGURE("more", COUNT, struct query_verdict, more), .csv = "verdict_more",
	 .help = "how many other rules are worth a look"},
	FIGURE_END,
};

const struct figure query_finding_figures[] = {
	{FIGURE("level", TEXT, struct query_finding, level_name), .help = "bad, lost or look"},
	{FIGURE("rule", TEXT, struct query_finding, rule_name), .help = "the rule of the finding"},
	{FIGURE("text", TEXT, struct query_finding, text), .help = "what is wrong"},
	{FIGURE("because", TEXT, struct query_finding, because), .help = "what or who causes it"},
	{FIGURE("at", TEXT, struct query_finding, at),
	 .help = "line of programs where most of the waiting for the lock is"},
	{FIGURE("syscall", TEXT, struct query_finding, syscall),
	 .help = "the system call in which that is"},
	{FIGURE("owner_at", TEXT, struct query_finding, owner_at),
	 .help = "line of the holder's program where the holder is"},
	FIGURE_END,
};
