// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tour: ten callouts below the real views, each of which says what to look at, what it means,
 * and which key leads there. A step is a view and the commands that a user would give in it; while
 * a callout is shown all keys but those that go through the tour do what they always do.
 */
#include "tour.h"
#include "kontend/view.h"
#include "priv.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

enum { LOW_H = 20 }; /* below, the overview has no room for locks */

static const struct stop {
	const char *view;
	enum command then; /* CMD_NONE: nothing */
	const char *title, *text;
	bool is_locks; /* what it is about is in the overview where there is room */
} stops[] = {
	{"overview", CMD_NONE, "the verdict",
	 "The line below the first says what is wrong now: who waits, for what, for how long, and "
	 "who holds it. ! or a click opens what it is about."},
	{"overview", CMD_NONE, "the first line",
	 "How long it has been measured, events per second, what was lost (figures are lower "
	 "bounds then), and what kontend itself costs. ? explains each word."},
	{"overview", CMD_NONE, "worst locks",
	 "Locks by WAIT/s: how much time all tasks lose to it in a second. 2s/s are two tasks that "
	 "do nothing but wait. Up and Down choose a row, Enter opens it.",
	 true},
	{"locks", CMD_NONE, "locks, and by what",
	 "2 has all of them; b groups by caller, task, process, type, CPU or cgroup; > and < "
	 "choose "
	 "the column to sort by, / keeps the rows or waits that are meant, w the last 1s to all."},
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
	 "taken. 5 are perf events by context, which of them are short of time and why."},
	{"rotation", CMD_NONE, "rotation and uprobes",
	 "6 says what it costs that perf events take turns, 7 which uprobes there are, what a hit "
	 "costs, and which processes have taken all slots for out-of-line steps."},
	{"overview", CMD_NONE, "time",
	 "Space pauses; T then goes back in what has been measured, @ to a moment, [ and ] mark a "
	 "range. kontend record writes a file, kontend replay shows it like this screen. :tour "
	 "begins again."},
};

enum { STOPS = sizeof(stops) / sizeof(*stops) };

static void show(struct app *a, unsigned step)
{
	const struct stop *s = &stops[step - 1];
	const struct command_arg none = {0};

	bool is_low = a->screen.h < LOW_H && s->is_locks;

	a->tour.step = step;
	app_command(a, CMD_VIEW, &(struct command_arg){.text = is_low ? "locks" : s->view});
	if (!s->then)
		return;
	/* Rows of a view exist once it is drawn. */
	app_draw(a);
	app_command(a, s->then, &none);
}

void app_tour_begin(struct app *a)
{
	const struct app_workload *w = a->tour.workload;
	struct error err = {0};

	show(a, 1);
	if (!w || a->time.is_replay)
		return;
	if (w->start(w->arg, &err) < 0)
		app_say(a, ROLE_ERROR, "The demo cannot be started: %s", err.text);
}

bool app_tour_is_offered(const struct app *a)
{
	return !a->tour.step && !a->time.line && !a->paused && a->tour.workload &&
	       a->verdict.level < VERDICT_LOOK;
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
		if (step < STOPS)
			show(a, step + 1);
		else
			a->tour.step = 0;
		return true;
	case KEY_K_LEFT:
	case KEY_K_BACKSPACE:
		show(a, step > 1 ? step - 1 : 1);
		return true;
	case KEY_K_ESC:
	case 'q':
		a->tour.step = 0;
		app_say(a, ROLE_DIM, "The tour is over; :tour begins it again, q leaves kontend");
		return true;
	default:
		return false;
	}
}

int app_tour_lines(const struct app *a, struct rect body)
{
	const char *text = a->tour.step ? stops[a->tour.step - 1].text : "";
	int n = 0;

	for (; *text; n++) {
		text += view_wrap(text, body.w < 100 ? (size_t)body.w - 2 : 98);
		text += strspn(text, " ");
	}
	return n ? n + 2 : 0;
}

void app_tour_draw(struct app *a, struct rect r)
{
	const struct stop *s = &stops[a->tour.step - 1];
	struct rect text = {r.x, r.y + 1, r.w, r.h - 2};
	char title[80];

	snprintf(title, sizeof(title), "tour %u/%u · %s", a->tour.step, (unsigned)STOPS, s->title);
	widget_rule(&a->screen, r, 0, title);
	view_draw_text(&a->screen, text, ROLE_BOLD, s->text);
	screen_put(&a->screen, r, 1, r.h - 1, ROLE_DIM,
		   a->tour.step < STOPS ? "Enter next   ← back   q leaves the tour"
					: "Enter ends the tour   ← back");
}
