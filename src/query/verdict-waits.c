// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits of tasks, in a sentence, and their cause, in a second one about the same lock. The
 * present tense is for waits of this frame alone. A cause that is not known is left out.
 */
#include "kontend/cell.h"
#include "kontend/filelock.h"
#include "kontend/lock.h"
#include "kontend/longest-recent.h"
#include "kontend/query-blame.h"
#include "kontend/query-chains.h"
#include "kontend/query-lock.h"
#include "kontend/query-no-locks.h"
#include "kontend/query-overview.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "locks/queues.h"
#include "names/names.h"
#include "reuse.h"
#include "verdict.h"

#include <inttypes.h>
#include <string.h>

/* More cells than this are not gone through for each frame. */
enum { CELLS_MOST = 20000 };

#define SECOND 1e9

/* ns in each second, of one CPU */
#define BURNS_LEAST 1e8
#define LOST_LEAST 1e6

double verdict_waited(const struct judge *j, bool user)
{
	const struct query_overview *o = j->f->now;
	uint64_t ns = user ? o->user_waited_ns : o->waited_ns - o->user_waited_ns;

	if (!j->f->average)
		return user ? o->user_ns_per_s : o->wait_ns_per_s - o->user_ns_per_s;
	return o->elapsed_ns ? (double)ns / ((double)o->elapsed_ns / SECOND) : 0;
}

/*
 * For an average: the longest wait that ended lately. Waits from before the measurement are in no
 * sum, as only their minimum length is known.
 */
static const struct longest_recent_wait *longest_past(const struct judge *j)
{
	const struct longest_recent_wait *past[LONGEST_MOST], *longest = NULL;
	uint32_t n = 0;

	if (j->f->average)
		n = longest_recent_list(j->q->model->past, j->q->model->now_ns, past);
	for (uint32_t i = 0; i < n; i++) {
		if (past[i]->wait.doubtful || query_is_kontend(j->q, past[i]->wait.task))
			continue;
		if (!longest || longest_recent_ns(past[i]) > longest_recent_ns(longest))
			longest = past[i];
	}
	return longest;
}

static double longest_ended(const struct judge *j)
{
	const struct value *max = j->longest.n_rows ? table_cell(&j->longest, 0, "max_ns") : NULL;
	const struct longest_recent_wait *past = longest_past(j);
	double ns = max && max->known ? (double)max->u : 0;

	return past && (double)longest_recent_ns(past) > ns ? (double)longest_recent_ns(past) : ns;
}

double verdict_longest(const struct judge *j)
{
	const struct query_overview *o = j->f->now;
	double now = o->any_longest ? (double)o->longest_ns : 0, ended = longest_ended(j);

	return now > ended ? now : ended;
}

bool verdict_longest_is_user(const struct judge *j)
{
	const struct query_overview *o = j->f->now;
	const struct longest_recent_wait *past = longest_past(j);
	uint64_t id = o->longest_lock_id;

	if (!o->any_longest || (double)o->longest_ns < longest_ended(j)) {
		if (past && (double)longest_recent_ns(past) >= longest_ended(j))
			return locktype_is_user(j->q->model->locks->locks[past->wait.lock].type);
		if (!j->longest.n_rows)
			return false;
		id = j->longest.ids[0];
	}
	uint32_t lock = lock_by_id(j->q->model->locks, id);
	return lock != UINT32_MAX && locktype_is_user(j->q->model->locks->locks[lock].type);
}

/* For a lock without a name of its own: "rwsem:R in lock_mm_and_find_vma". */
static void put_name(struct judge *j, struct query_finding *f, const char *name, const char *kind)
{
	struct arena *a = &j->q->arena;
	const char *class = query_lock_class(j->q, lock_by_id(j->q->model->locks, f->lock));

	f->name = class ? class : name;
	if (!class || class[0] != '(')
		return;
	f->word = arena_printf(a, "%.*s", (int)strcspn(class + 1, ")"), class + 1);
	f->name = arena_printf(a, "%s in %s", kind, f->word ? f->word : "");
}

static void put_row(struct judge *j, struct query_finding *f, const struct table *t)
{
	const char *name = table_text(t, 0, "name"), *kind = table_text(t, 0, "kind");

	f->lock = t->ids[0];
	put_name(j, f, name ? name : "a lock", kind ? kind : "lock");
}

/* The waits for the lock of that row at this moment. */
struct waits_now {
	uint32_t n;
	uint64_t longest_ns;
	bool approx; /* it may have begun earlier */
};

static struct waits_now waits_of(const struct judge *j, uint64_t id)
{
	const struct model *m = j->q->model;
	const struct wait_pool *p = m->waits;
	uint32_t lock = lock_by_id(m->locks, id);
	struct waits_now ret = {0};

	for (uint32_t i = 1; p->in_flight && i < p->high; i++) {
		const struct wait *w = &p->waits[i];
		if (!w->used || w->doubtful || w->lock != lock)
			continue;
		uint64_t ns = query_wait_ns(m, w);
		ret.n++;
		if (ns <= ret.longest_ns)
			continue;
		ret.longest_ns = ns;
		ret.approx = w->at_least;
	}
	return ret;
}

/* "held >=1.9s by mysqld/812 W, running on 1"; if it waits itself, the task that it waits for. */
static const char *say_holder(struct judge *j, uint64_t lock)
{
	struct query_lock_now now;
	char ns[UNITS_BUF];

	/* One of several readers says less than what all that waited has ended with. */
	if (!query_lock_now_by_id(j->q, lock, &now) || !now.holder ||
	    strcmp(now.certainty, "hint") == 0 || strcmp(now.certainty, "free") == 0)
		return NULL;
	const char *root = query_chains_root(j->q, query_lock_addr(j->q, lock));
	if (root)
		return arena_printf(&j->q->arena, "held by %s, which waits for %s",
				    query_in_words(j->q, now.holder), root);
	/* Looks have seen it so: it may have begun before the first of them. */
	return arena_printf(
		&j->q->arena, "held %s%s%sby %s%s%s", now.held_ns && !now.held_exact ? ">=" : "",
		now.held_ns ? units_ns(ns, now.held_ns) : "", now.held_ns ? " " : "",
		query_in_words(j->q, now.holder), now.is ? ", " : "", now.is ? now.is : "");
}

/* "because of fault/5825 and 23 of its threads (48%), running" */
static struct reuse_cause make_cause(struct judge *j, uint64_t lock)
{
	struct reuse_cause ret = {.lock = lock};
	struct query_blame_cause c;
	char pct[UNITS_BUF];

	if (query_blame_cause(j->q, lock, &c) < 0 || !c.who)
		return ret;
	ret.at = c.at;
	ret.text = arena_printf(&j->q->arena, "because of %s (%s%%)%s%s", c.who,
				units_pct(pct, c.pct), c.did ? ", " : "", c.did ? c.did : "");
	return ret;
}

/* On a screen not where it takes as long as all else. */
bool verdict_has_time(const struct judge *j)
{
	return j->f->average || j->q->model->cells->n + j->q->model->blame->n <= CELLS_MOST;
}

/* Once for each state of the model. */
static struct reuse_cause cause_of(struct judge *j, uint64_t lock)
{
	const struct reuse_cause *known;

	if (!j->q->model->blame->max || !verdict_has_time(j))
		return (struct reuse_cause){.lock = lock};
	known = reuse_cause_find(j->q, lock);
	if (known)
		return *known;
	const struct reuse_cause made = make_cause(j, lock);
	reuse_cause_put(j->q, &made);
	return made;
}

static const char *say_cause(struct judge *j, uint64_t lock)
{
	return cause_of(j, lock).text;
}

const char *verdict_cause_at(struct judge *j, uint64_t lock)
{
	return cause_of(j, lock).at;
}

/*
 * The holder at this moment, if tasks wait for the lock now, else those for which they have
 * waited. An average is about all the time, so there it is the other way round.
 */
static const char *say_who(struct judge *j, uint64_t lock, bool waits)
{
	const char *first = j->f->average ? say_cause(j, lock) : NULL;

	if (!first && waits)
		first = say_holder(j, lock);
	return first || j->f->average ? first : say_cause(j, lock);
}

/* The name of the process that waits for the lock at @addr, or has waited lately; "a program". */
static const char *program_of(const struct judge *j, uint64_t addr)
{
	const struct longest_recent_wait *past[LONGEST_MOST];
	const struct model *m = j->q->model;
	const struct wait *longest = NULL;

	for (uint32_t i = 1; m->waits->in_flight && i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && w->addr == addr && (!longest || w->begin_ns < longest->begin_ns))
			longest = w;
	}
	uint32_t n = longest ? 0 : longest_recent_list(m->past, m->now_ns, past);
	for (uint32_t i = 0; i < n && !longest; i++)
		longest = past[i]->wait.addr == addr ? &past[i]->wait : NULL;
	const char *comm = longest ? query_process_comm(j->q, longest->task) : NULL;
	return comm && *comm ? comm : "a program";
}

/* A program that locks a file wants others to wait: the kernel is not to blame. */
static const char *say_because(struct judge *j, uint64_t lock, bool waits)
{
	const char *who = say_who(j, lock, waits);
	uint64_t addr = query_lock_addr(j->q, lock);

	if (!filelock_is(addr))
		return who;
	return arena_printf(&j->q->arena, "%s locks this file by design%s%s",
			    query_in_words(j->q, program_of(j, addr)), who ? "; " : "",
			    who ? who : "");
}

/* ", longest 2.1s": of those that wait, or of those that have; "" if it is not known. */
static const char *say_length(struct judge *j, const struct waits_now *now, const struct value *max)
{
	uint64_t longest = max->known ? max->u : 0;
	char ns[UNITS_BUF];

	if (!j->f->average && now->n)
		return arena_printf(&j->q->arena, ", longest %s%s", now->approx ? ">=" : "",
				    units_ns(ns, now->longest_ns));
	if (!longest && !now->n)
		return "";
	/* The row has waits in flight, too. The present one will have been longer. */
	bool goes_on = now->n && now->longest_ns >= longest;
	return arena_printf(&j->q->arena, ", longest %s%s", goes_on || max->at_least ? ">=" : "",
			    units_ns(ns, goes_on ? now->longest_ns : longest));
}

/* ", spinning burns 1.3 CPUs"; "" where it is not worth a word. */
static const char *say_burns(struct judge *j, const struct table *worst)
{
	const struct value *spins = table_cell(worst, 0, "spin_ns_per_s");
	char r[UNITS_BUF];

	if (!spins->known || spins->d < BURNS_LEAST)
		return "";
	return arena_printf(&j->q->arena, ", spinning burns %s%s CPUs", spins->at_least ? ">=" : "",
			    units_tasks(r, spins->d));
}

/* ", of it 1.2 while a CPU was idle": the rest cost nothing; "" if it is not known. */
static const char *say_lost(struct judge *j, const struct table *worst)
{
	const struct value *lost = table_cell(worst, 0, "wait_lost_ns_per_s");
	char r[UNITS_BUF];

	/* At least nearly nothing says nothing. */
	if (!lost->known || (lost->at_least && lost->d < LOST_LEAST))
		return "";
	return arena_printf(&j->q->arena, ", of it %s%s while a CPU was idle",
			    lost->at_least ? ">=" : "", units_tasks(r, lost->d));
}

/* "41 tasks wait for mmap_lock mysqld/800, avg 38.2, longest 2.1s" */
static const char *say_worst(struct judge *j, struct query_finding *f, const struct table *worst)
{
	const struct value *rate = table_cell(worst, 0, "wait_ns_per_s");
	char r[UNITS_BUF];

	put_row(j, f, worst);
	const struct waits_now now = waits_of(j, f->lock);
	f->because = say_because(j, f->lock, now.n);
	units_tasks(r, rate->known ? rate->d : 0);
	const char *length = say_length(j, &now, table_cell(worst, 0, "max_ns"));
	const char *lost = say_lost(j, worst), *burns = say_burns(j, worst);
	const char *average = lost ? arena_printf(&j->q->arena, ", avg %s%s", r, lost) : NULL;
	if (!average || !burns)
		return NULL;
	f->longest = length;
	f->spare = lost; /* the second sentence is shorter than this one */
	if (j->f->average || !now.n)
		return arena_printf(&j->q->arena, "tasks waited for %s%s%s%s", f->name, average,
				    burns, length);
	f->spare = average; /* nearly the number of tasks */
	return arena_printf(&j->q->arena, "%u task%s for %s%s%s%s", now.n,
			    now.n == 1 ? " waits" : "s wait", f->name, average, burns, length);
}

/* For an average. Tasks of waits that ended lately are known. */
static const char *say_longest_ended(struct judge *j, struct query_finding *f)
{
	const struct longest_recent_wait *past = longest_past(j);
	uint64_t ns = (uint64_t)longest_ended(j);
	char text[UNITS_BUF];

	units_ns(text, ns);
	if (!past || longest_recent_ns(past) < ns) {
		put_row(j, f, &j->longest);
		f->because = say_because(j, f->lock, false);
		return arena_printf(&j->q->arena, "a task waited for %s for %s", f->name, text);
	}
	const struct query_where where = query_wait_where(&past->wait);
	const char *name = query_lock_name(j->q, past->wait.lock);
	const char *task = query_in_words(j->q, query_task_name(j->q, past->wait.task));
	f->lock = query_id(j->q, BY_LOCK, &where);
	put_name(j, f, name ? name : "a lock",
		 locktype_name((enum lock_type)j->q->model->locks->locks[past->wait.lock].type));
	f->because = say_because(j, f->lock, false);
	return arena_printf(&j->q->arena, "%s waited for %s for %s%s", task ? task : "a task",
			    f->name, past->wait.at_least ? ">=" : "", text);
}

/* "dd/8122 has waited for i_rwsem /var/x.img for 2.1s", "50 tasks wait for it, longest 2.1s" */
const char *verdict_say_longest(struct judge *j, struct query_finding *f)
{
	const struct query_overview *o = j->f->now;
	char ns[UNITS_BUF];

	if (!o->any_longest || (double)o->longest_ns < longest_ended(j))
		return longest_ended(j) > 0 ? say_longest_ended(j, f) : verdict_say_wait(j, f);
	f->lock = o->longest_lock_id;
	put_name(j, f, o->longest_lock ? o->longest_lock : "a lock", o->longest_type);
	f->because = say_because(j, f->lock, true);
	const struct waits_now now = waits_of(j, f->lock);
	if (now.n > 1) {
		f->longest =
			arena_printf(&j->q->arena, ", longest %s%s", o->longest_approx ? ">=" : "",
				     units_ns(ns, o->longest_ns));
		return f->longest ? arena_printf(&j->q->arena, "%u tasks wait for %s%s", now.n,
						 f->name, f->longest)
				  : NULL;
	}
	return arena_printf(&j->q->arena, "%s has waited for %s for %s%s",
			    query_in_words(j->q, o->longest_task), f->name,
			    o->longest_approx ? ">=" : "", units_ns(ns, o->longest_ns));
}

static const char *say_waiting(struct judge *j, struct query_finding *f, bool user)
{
	const struct table *worst = user ? &j->worst_user : &j->worst;
	char r[UNITS_BUF];

	if (worst->n_rows)
		return say_worst(j, f, worst);
	return arena_printf(&j->q->arena, "tasks waited for locks%s, avg %s",
			    user ? " of programs" : "", units_tasks(r, verdict_waited(j, user)));
}

const char *verdict_say_wait(struct judge *j, struct query_finding *f)
{
	return say_waiting(j, f, false);
}

const char *verdict_say_user(struct judge *j, struct query_finding *f)
{
	return say_waiting(j, f, true);
}

/*
 * "0.31 tasks wait for kernel locks on average, most for rq_lock cpu 0"; NULL: no memory. The
 * second line is never shortened: it has only the function of a lock that has no name of its own.
 */
static const char *say_rate(struct judge *j, struct query_finding *f, bool is_second)
{
	const struct query_overview *o = j->f->now;
	char r[UNITS_BUF];

	if (!verdict_waited(j, false) && o->waiting == o->user_waiting) {
		if (!o->waiting && !verdict_waited(j, true))
			f->level = VERDICT_QUIET;
		return "nothing waits for a kernel lock";
	}
	units_tasks(r, verdict_waited(j, false));
	if (!j->worst.n_rows)
		return arena_printf(&j->q->arena, "%s tasks wait for kernel locks on average", r);
	put_row(j, f, &j->worst);
	return arena_printf(&j->q->arena, "%s tasks wait for kernel locks on average, most for %s",
			    r, is_second && f->word ? f->word : f->name);
}

/* "priority inversion: ...", "rt/7 runs on CPU 1; audio/12 has waited for i_rwsem /a for 1.2s" */
const char *verdict_say_inversion(struct judge *j, struct query_finding *f)
{
	const struct query_inversion *i = &j->inversion;
	char ns[UNITS_BUF], n[UNITS_BUF];
	const char *others = "";

	for (size_t k = 0; k < j->q->model->locks->n; k++)
		if (j->q->model->locks->locks[k].addr == i->queue->addr &&
		    !j->q->model->locks->locks[k].over)
			f->lock = j->q->model->locks->locks[k].id;
	uint32_t lock = lock_by_id(j->q->model->locks, f->lock);
	const char *name = lock == UINT32_MAX ? NULL : query_lock_name(j->q, lock);
	if (j->n_inversions > 1)
		others = arena_printf(&j->q->arena, "; %s other task%s, too",
				      units_count(n, j->n_inversions - 1),
				      j->n_inversions == 2 ? "" : "s");
	const char *who =
		query_slash(&j->q->arena, locksnap_text(query_queues(j->q), i->waiter->comm),
			    i->waiter->tid, "-");
	f->because = arena_printf(&j->q->arena,
				  "%s runs on CPU %" PRId32 "; %s has waited for %s for %s%s",
				  query_run_off_name(j->q, i->low), i->low->cpu, who,
				  name ? name : "a lock", units_ns(ns, i->ns), others);
	return query_inversion_text(j->q, i);
}

/* Calm are the locks of the kernel: tasks may wait for others, of which no event reports. */
const char *verdict_say_calm(struct judge *j, struct query_finding *f)
{
	if (j->q->model->no_locks) {
		f->level = VERDICT_NONE;
		return query_no_locks(j->q);
	}
	const char *name, *most = query_elsewhere_most(j->q, j->elsewhere, &name);
	const char *rate = say_rate(j, f, most);

	if (!most || !rate)
		return rate;
	f->name = name;
	f->word = NULL;
	f->because = rate;
	return arena_printf(&j->q->arena, "kernel locks; %s", most);
}
