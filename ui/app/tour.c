// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tour: callouts below the real views, each of which says what to look at, what it means, and
 * which key leads there. A step is a view and the commands that a user would give in it, at a
 * moment that has something to see; while a callout is shown all keys but those that go through the
 * tour do what they always do. A recording stands still, from the first step on, where the worst of
 * what its triggers have caught was going on; a live session goes on until the steps that are about
 * the past.
 */
#include "tour.h"
#include "../views/list.h"
#include "kontend/query-chains.h"
#include "kontend/query-incidents.h"
#include "kontend/query-perf.h"
#include "kontend/query-uprobe.h"
#include "kontend/view.h"
#include "priv.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

enum { LOW_H = 20 /* below, the overview has no room for locks */, TEXT = 800 };

struct stop {
	const char *view;
	enum command then; /* CMD_NONE: nothing */
	const char *title, *text;
	bool is_locks; /* is in the overview where there is room */
	void (*set_up)(
		struct app *a); /* before the view is opened: goes to a moment; NULL: stays */
	void (*report)(struct app *a); /* the fact; NULL: none */
};

/* The longest of all waits that have fired a trigger; else the first that fired; NULL: none. */
static const struct incident *worst(const struct app *a)
{
	const struct query_incidents *all = a->query.incidents;
	const struct incident *in = NULL;

	for (size_t i = 0; all && i < all->n; i++)
		if (!in || all->list[i].worst_ns > in->worst_ns)
			in = &all->list[i];
	return in;
}

static void stand_at(struct app *a, uint64_t ns)
{
	a->time.playing = false;
	app_time_clear(a);
	app_time_go(a, ns);
}

/* While that wait lasts, and late enough that snapshots have its lock and its holder. */
static uint64_t worst_ns(const struct incident *in)
{
	uint64_t late = in->begin_ns + in->worst_ns / 4 * 3;

	return late > in->fired_ns ? late : in->fired_ns;
}

static void go_to_worst(struct app *a)
{
	const struct incident *in = worst(a);

	if (in && (a->time.line || app_history_travel(a)))
		stand_at(a, worst_ns(in));
}

static void report_worst(struct app *a)
{
	const struct query_incidents *all = a->query.incidents;
	const struct incident *in = worst(a);

	if (!in)
		return;
	for (size_t i = 0; i < a->n_roots; i++)
		if (a->roots[i].view->ops == &view_incidents)
			list_select(list_of(a->roots[i].view), (uint64_t)(in - all->list) + 1);
	snprintf(a->tour.fact, sizeof(a->tour.fact), " The worst is marked: %s.", in->fired);
}

static const char *text_of(const struct table *t, size_t row, const char *column)
{
	const struct value *v = table_cell(t, row, column);

	return v->known && v->s ? v->s : "";
}

/* The tree on top: its root, and the first lock that hangs there. */
static void report_root(struct app *a)
{
	const struct query_spec all = {0};
	struct table t;

	query_begin(&a->query);
	if (query_chains(&a->query, &all, &t, NULL) < 0 || t.n_rows < 2 ||
	    strcmp(text_of(&t, 0, "row"), "root") != 0 || !table_cell(&t, 0, "tid")->known)
		return;
	snprintf(a->tour.fact, sizeof(a->tour.fact), " Here %s has %s.", text_of(&t, 0, "what"),
		 text_of(&t, 1, "name"));
}

/*
 * Where least was waited before @b, on the average of a window: one that ends so long before that
 * both have nothing in common, and that is not much shorter than asked for, as nothing was before.
 */
static uint64_t quiet_before(const struct app *a, uint64_t b_ns)
{
	uint64_t begin = timeline_begin_ns(a->time.line);
	uint64_t half = b_ns > begin ? (b_ns - begin) / 2 : 0;
	uint64_t window = app_window_ns(a), best = begin + half / 2, sum = 0;
	double least = -1;
	size_t n, from = 0;
	const struct timeline_bucket *b = timeline_buckets(a->time.line, &n);

	if (!half)
		return begin;
	if (!window || window > half)
		window = half;
	for (size_t i = 0; i + 1 < n && b[i + 1].start_ns + window <= b_ns; i++) {
		uint64_t end = b[i + 1].start_ns;

		sum += b[i].wait_ns;
		while (b[from].start_ns + window < end)
			sum -= b[from++].wait_ns;
		double mean = (double)sum / (double)(end - b[from].start_ns);
		if (end >= begin + window / 2 && (least < 0 || mean < least)) {
			least = mean;
			best = end;
		}
	}
	return best;
}

/* The end of the bucket with most waiting, of those that end at @from_ns or after. */
static uint64_t busiest(const struct app *a, uint64_t from_ns)
{
	size_t n;
	const struct timeline_bucket *b = timeline_buckets(a->time.line, &n);
	uint64_t best = timeline_end_ns(a->time.line), most = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		if (b[i + 1].start_ns < from_ns || b[i].wait_ns <= most)
			continue;
		most = b[i].wait_ns;
		best = b[i + 1].start_ns;
	}
	return best;
}

/* The worst, unless hardly anything was before it that it can be compared with. */
static uint64_t moment_b(const struct app *a)
{
	const struct incident *in = worst(a);
	uint64_t begin = timeline_begin_ns(a->time.line), end = timeline_end_ns(a->time.line);
	uint64_t early = begin + (end - begin) / 4;

	return in && worst_ns(in) >= early ? worst_ns(in) : busiest(a, early);
}

static void compare(struct app *a)
{
	if (!a->time.line && !app_history_travel(a)) {
		snprintf(a->tour.fact, sizeof(a->tour.fact),
			 " Nothing is compared here: nothing has been kept yet to go back to.");
		return;
	}
	uint64_t b = moment_b(a);
	stand_at(a, quiet_before(a, b));
	const uint64_t *now = &a->engine->model->now_ns, a_ns = *now;
	app_mark(a, "a");
	app_time_go(a, b);
	/* Moments are those of ticks: of what is short both may be one. */
	if (*now == a_ns)
		app_time_go(a, timeline_end_ns(a->time.line));
	bool same = *now == a_ns;
	app_mark(a, "b");
	a->tour.compares = app_compare_on(a);
	a->message[0] = 0;
	if (a->tour.compares)
		snprintf(a->tour.fact, sizeof(a->tour.fact), "%s",
			 same ? " Nothing has changed here: it is too short for two moments."
			      : " Here A is the quietest time before B.");
}

/* Why there is nothing in the view, where there is nothing: how to see something there. */
static void report_slots(struct app *a)
{
	struct query_perf_sum sum;

	query_begin(&a->query);
	if (query_perf_sum(&a->query, &sum) < 0)
		return;
	if (!sum.known || !sum.slots_known)
		snprintf(a->tour.fact, sizeof(a->tour.fact),
			 " Their holders are not known here%s%s.",
			 sum.reason && *sum.reason ? ": " : "", sum.reason ? sum.reason : "");
	else if (!sum.used)
		snprintf(a->tour.fact, sizeof(a->tour.fact),
			 " None is taken at this moment: 'kontend bench breakpoint' takes some.");
}

static void report_uprobes(struct app *a)
{
	struct query_uprobe_sum sum;

	query_begin(&a->query);
	if (query_uprobe_sum(&a->query, false, &sum) < 0)
		return;
	if (!sum.known)
		snprintf(a->tour.fact, sizeof(a->tour.fact), " Probes are not known here%s%s.",
			 sum.reason && *sum.reason ? ": " : "", sum.reason ? sum.reason : "");
	else if (!sum.probes)
		snprintf(a->tour.fact, sizeof(a->tour.fact),
			 " There is no probe at this moment: 'kontend bench uprobe' places some.");
}

static const struct stop stops[] = {
	{"overview", CMD_NONE, "the verdict",
	 "The line below the first says what is wrong now: who waits, for what, for how long, and "
	 "who holds it. ! or a click opens what it is about."},
	{"overview", CMD_NONE, "the first line",
	 "How long it has been measured, events per second, what was lost (figures are lower "
	 "bounds then), and what kontend itself costs. ? explains each word."},
	{"overview", CMD_NONE, "worst locks",
	 "Locks by WAIT/s: how many tasks wait for it on average. 2.00 are two tasks that "
	 "do nothing but wait. Up and Down choose a row, Enter opens it.",
	 .is_locks = true},
	{"locks", CMD_NONE, "locks, and by what",
	 "2 has all of them; b groups by caller, task, process, type, CPU or cgroup; > and < "
	 "choose the column to sort by, / filters rows or waits, w the last 1s to all."},
	{"locks", CMD_ENTER, "the page of a lock",
	 "How long its waits are (a histogram), which call paths they come from (+ opens, i turns "
	 "the tree over), and who waits now. f in the list draws the paths as a flame graph."},
	{"waiters", CMD_NONE, "who waits now",
	 "3 has each task that waits, and below, dimmed, the longest waits that have just ended. "
	 "HOLDER is who has the lock. Enter shows the calls of both side by side; Space freezes."},
	{"hot", CMD_NONE, "where CPUs spend their time",
	 "9 samples all CPUs: l keeps what is in lock paths, f is the flame graph, a the "
	 "instructions of a function. A spinning lock is seen here, a sleeping one in 2."},
	{"slots", CMD_NONE, "breakpoint slots",
	 "4 has the debug registers of each CPU and who holds them: ENOSPC comes when they are all "
	 "taken. 5 are perf events by context, which of them are short of time and why.",
	 .report = report_slots},
	{"uprobes", CMD_NONE, "uprobes and rotation",
	 "7 has the probes in programs, what a hit costs, and which processes have taken all slots "
	 "for out-of-line steps. 6 says what it costs that perf events take turns.",
	 .report = report_uprobes},
	{"incidents", CMD_NONE, "incidents",
	 "Incidents that a --trigger watches for: each of these is a row here, a ! on the "
	 "ribbon of a recording. Enter goes to that moment; kontend record writes a file of each.",
	 .report = report_worst},
	{"chains", CMD_NONE, "who are they waiting for?",
	 "0 has trees: who holds a lock and waits for none, the lock, who waits for it, and who "
	 "waits behind these, through any number of locks. 0 again leads to blame, the sums of "
	 "that.",
	 .set_up = go_to_worst, .report = report_root},
	{"locks", CMD_NONE, "B minus A",
	 "m marks a moment A, and m at another one B: then tables show how much more there was in "
	 "the window of B, with a sign. Esc leaves. kontend diff does so with two recordings.",
	 .set_up = compare},
	{"overview", CMD_NONE, "time",
	 "Space pauses; T then goes back in what has been measured, @ to a moment, [ and ] mark a "
	 "range. kontend record writes a file, kontend replay shows it like this screen. :tour "
	 "begins again."},
};

enum { STOPS = sizeof(stops) / sizeof(*stops) };

static unsigned n_stops(const struct app *a)
{
	return a->tour.walk ? (unsigned)a->tour.walk->n : STOPS;
}

/* Steps begin with 1. */
static struct stop stop_at(const struct app *a, unsigned step)
{
	if (!a->tour.walk)
		return stops[step - 1];
	const struct app_callout *c = &a->tour.walk->callouts[step - 1];
	return (struct stop){c->view, c->enter ? CMD_ENTER : CMD_NONE, c->title, c->text};
}

static void leave(struct app *a)
{
	if (a->tour.compares)
		app_marks_clear(a);
	a->tour.compares = false;
	a->tour.fact[0] = 0;
	a->tour.step = 0;
}

static void show_step(struct app *a, unsigned step)
{
	const struct stop s = stop_at(a, step);
	const struct command_arg none = {0};

	bool is_low = a->screen.h < LOW_H && s.is_locks;

	leave(a);
	a->tour.step = step;
	if (s.set_up)
		s.set_up(a);
	if (s.report)
		s.report(a);
	app_command(a, CMD_VIEW, &(struct command_arg){.text = is_low ? "locks" : s.view});
	if (!s.then)
		return;
	/* Rows of a view exist once it is drawn. */
	app_draw(a);
	app_command(a, s.then, &none);
}

void app_tour_begin(struct app *a)
{
	const struct app_workload *w = a->tour.workload;
	struct error err = {0};

	if (a->time.is_replay && a->tour.walk)
		a->time.playing = false;
	else if (a->time.is_replay)
		go_to_worst(a);
	show_step(a, 1);
	if (!w || a->time.is_replay)
		return;
	if (w->start(w->arg, &err) < 0)
		app_say(a, ROLE_ERROR, "The demo cannot be started: %s", err.text);
}

bool app_tour_is_offered(const struct app *a)
{
	return !a->tour.step && !a->time.line && !a->paused && a->tour.workload &&
	       a->verdict.worst.level < VERDICT_LOOK;
}

static void say_over(struct app *a)
{
	app_say(a, ROLE_DIM, "%s over; :tour begins %s again, q leaves kontend",
		a->tour.walk ? "The callouts are" : "The tour is", a->tour.walk ? "them" : "it");
}

/* A story ends with its figures, which are printed when the screen has gone. */
static void end(struct app *a)
{
	bool is_last = a->tour.step == n_stops(a);

	leave(a);
	if (a->tour.walk)
		a->done = true;
	else if (!is_last)
		say_over(a);
}

bool app_tour_key(struct app *a, uint32_t key)
{
	unsigned step = a->tour.step;

	if (!step || a->prompt.kind)
		return false;
	switch (key) {
	case KEY_K_ENTER:
	case KEY_K_RIGHT:
	case ' ':
		if (step < n_stops(a))
			show_step(a, step + 1);
		else
			end(a);
		return true;
	case KEY_K_LEFT:
	case KEY_K_BACKSPACE:
		show_step(a, step > 1 ? step - 1 : 1);
		return true;
	case 'q':
		end(a);
		return true;
	case KEY_K_ESC:
		leave(a);
		say_over(a);
		return true;
	default:
		return false;
	}
}

static const char *callout(const struct app *a, char buf[TEXT])
{
	const char *text = a->tour.step ? stop_at(a, a->tour.step).text : "";

	snprintf(buf, TEXT, "%s%s", text, a->tour.fact);
	return buf;
}

int app_tour_lines(const struct app *a, struct rect body)
{
	char buf[TEXT];
	const char *text = callout(a, buf);
	int n = 0;

	for (; *text; n++) {
		text += view_wrap(text, body.w < 100 ? (size_t)body.w - 2 : 98);
		text += strspn(text, " ");
	}
	return n ? n + 2 : 0;
}

void app_tour_draw(struct app *a, struct rect r)
{
	const struct stop s = stop_at(a, a->tour.step);
	const struct app_walk *w = a->tour.walk;
	bool is_last = a->tour.step == n_stops(a);
	struct rect text = {r.x, r.y + 1, r.w, r.h - 2};
	char title[80], buf[TEXT];

	snprintf(title, sizeof(title), "%s %u/%u · %s", w ? w->name : "tour", a->tour.step,
		 n_stops(a), s.title);
	widget_rule(&a->screen, r, 0, title);
	view_draw_text(&a->screen, text, ROLE_BOLD, callout(a, buf));
	screen_put(&a->screen, r, 1, r.h - 1, ROLE_DIM,
		   is_last && w ? "Enter or q leaves, and prints the figures   ← back"
		   : is_last	? "Enter ends the tour   ← back"
		   : w		? "Enter next   ← back   q leaves, and prints the figures"
				: "Enter next   ← back   q leaves the tour");
}
