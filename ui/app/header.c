// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first line, which says whether the rest can be trusted: what is measured, since when, how
 * much arrives, what was lost, what it costs. It is a list of segments with priorities; those that
 * do not fit are left out from the least important upwards. Damage has the highest priority and
 * says its name, so it is seen on the narrowest screen and without colours.
 */
#include "kontend/model-cpu.h"
#include "kontend/query-damage.h"
#include "kontend/query-incidents.h"
#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-shorts.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "priv.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENTS = 32, SEGMENT_TEXT = 80 };

struct segments {
	struct segment {
		char text[SEGMENT_TEXT];
		enum role role;
		int priority; /* 0: never left out */
	} list[SEGMENTS];
	size_t n;
};

__attribute__((format(printf, 4, 5))) static void add(struct segments *s, int priority,
						      enum role role, const char *fmt, ...)
{
	struct segment *g = &s->list[s->n];
	va_list ap;

	if (s->n == SEGMENTS)
		return;
	va_start(ap, fmt);
	vsnprintf(g->text, sizeof(g->text), fmt, ap);
	va_end(ap);
	g->priority = priority;
	g->role = role;
	s->n++;
}

/* "reading 34%", or "read 34%" while one is elsewhere and it does not go on. */
static void add_reading(struct segments *s, const struct app_time *t)
{
	const char *what = t->follows ? "reading" : "read";
	unsigned per_mille = timeline_per_mille(t->line);

	if (per_mille)
		add(s, 0, ROLE_WARN, "%s %u%%", what, per_mille / 10);
	else
		add(s, 0, ROLE_WARN, "%s", t->follows ? what : "read in part");
}

/* "x4 PAUSED": how fast it would go on. */
static void add_playing(struct segments *s, const struct app *a)
{
	const struct app_time *t = &a->time;
	bool at_end = timeline_now_ns(t->line) >= timeline_end_ns(t->line);
	const char *state = t->playing ? "▶" : at_end ? "END" : "PAUSED";

	if (!timeline_is_read(t->line))
		add_reading(s, t);
	if (app_time_reads(a))
		return;
	add(s, 0, t->playing ? ROLE_HEADER : ROLE_WARN, t->speed < 0 ? "x1/%d %s" : "x%d %s",
	    1 << (t->speed < 0 ? -t->speed : t->speed), state);
}

static bool is_whole_in(uint64_t ns, int digits)
{
	return ns % (digits == 0 ? 1000000000 : digits == 1 ? 100000000 : 1000000) == 0;
}

/* The ends of a range are said so that a report of them is about the same time. */
static int digits_of(const struct app *a, const struct when *w)
{
	int digits = app_time_digits(a);

	if (!app_shows_range(a) || (is_whole_in(w->now_ns - w->begin_ns, digits) &&
				    is_whole_in(a->time.from_ns - w->begin_ns, digits)))
		return digits;
	return 3;
}

/* Of a recording: its name, where one is in it, by its own clock too, and what is counted. */
static void add_when(struct segments *s, const struct app *a)
{
	const struct when w = app_time_when(a);
	int digits = digits_of(a, &w);
	char marks[APP_MARKS_TEXT], date[WHEN_BUF], from[WHEN_BUF], now[WHEN_BUF], end[WHEN_BUF];

	add(s, 0, a->paused ? ROLE_WARN : ROLE_HEADER, a->paused ? "PAUSED" : "replay");
	if (a->time.is_replay)
		add(s, 2, ROLE_BOLD, "%.24s", a->time.name);
	when_date(date, when_wall_ns(&w, w.now_ns), digits ? 3 : 0);
	if (*date) {
		add(s, 6, ROLE_HEADER, "%.10s", date);
		add(s, 1, ROLE_HEADER, "%s", date + 11);
	}
	when_elapsed(now, w.now_ns - w.begin_ns, digits);
	when_elapsed(end, w.end_ns - w.begin_ns, digits);
	when_elapsed(from, a->time.from_ns - w.begin_ns, digits);
	if (app_marks_text(a, marks))
		add(s, 0, ROLE_WARN, "%s", marks);
	else if (app_shows_range(a))
		add(s, 0, ROLE_WARN, "RANGE +%s to +%s", from, now);
	else if (a->time.from_ns && a->time.from_ns < w.now_ns)
		add(s, 0, ROLE_WARN, "+%s, counted from +%s", now, from);
	else
		add(s, 0, ROLE_HEADER, "+%s of %s", now, end);
	if (a->time.is_replay)
		add_playing(s, a);
}

static void add_what(struct segments *s, const struct app *a, const struct query_overview *o)
{
	const char *state = a->paused ? "PAUSED" : a->ended ? "ended" : "live";
	char time[WHEN_BUF], marks[APP_MARKS_TEXT], note[200];
	bool whole = !o->host || !strcmp(o->host->targets, "all CPUs");

	add(s, 0, ROLE_HEADER, "kontend");
	if (a->time.line)
		add_when(s, a);
	else
		add(s, 0, a->paused ? ROLE_WARN : ROLE_HEADER, "%s %s", state,
		    when_elapsed(time, o->elapsed_ns, 0));
	if (!a->time.line && app_marks_text(a, marks))
		add(s, 0, ROLE_WARN, "%s", marks);
	else if (a->paused && !a->time.line && app_history_ns(a))
		add(s, 1, ROLE_HEADER, "T goes back %s", when_elapsed(time, app_history_ns(a), 0));
	if (sandbox_note(a->engine->sandbox, note, sizeof(note)))
		add(s, 1, ROLE_WARN, "%.60s", note);
	if (a->only_words && *a->only_words)
		add(s, 1, ROLE_MATCH, "only %s", a->only_words);
	if (!o->host)
		return;
	add(s, whole ? 8 : a->time.line ? 4 : 1, ROLE_HEADER, "%.40s", o->host->targets);
	add(s, 5, ROLE_HEADER, "%.40s", o->host->release);
	add(s, 7, ROLE_HEADER, "%.20s", o->host->machine);
	add(s, 6, ROLE_HEADER, "%u cpu%s", o->host->cpus_online,
	    o->host->cpus_online == 1 ? "" : "s");
}

/* "lost 5.1k (now 3.2%)  figures are lower bounds"; later "lost 5.1k (0.4%)  totals are ...". */
static void add_lost(struct segments *s, uint64_t n, const struct query_overview *o, bool rates,
		     bool ascii)
{
	bool now = rates && o->loss_now.at_least;
	double pct = now ? o->loss_now.lost_pct : o->loss.lost_pct;
	char count[UNITS_BUF], share[UNITS_BUF];

	if (!n && !o->loss.at_least)
		add(s, 0, ROLE_HEADER, "lost %s", ascii ? "." : "·");
	else if (pct > 0)
		add(s, 0, ROLE_WARN, "lost %s (%s%s%%)", units_count(count, n), now ? "now " : "",
		    units_pct(share, pct));
	else
		add(s, 0, ROLE_WARN, "lost %s", n ? units_count(count, n) : "some");
	if (now || o->loss.at_least)
		add(s, 1, ROLE_WARN, "%s are lower bounds", now ? "figures" : "totals");
}

/* The count of lost records is always shown, the other counters when they are not 0. */
static void add_damage(struct segments *s, const struct query_overview *o, bool rates, bool ascii)
{
	const struct figure *list = query_damage_figures;
	char buf[UNITS_BUF];

	for (const struct figure *f = list; f->key; f++) {
		uint64_t n = figure_value(f, &o->damage, 0).u;
		bool bad = o->unmatched_pct >= 1;
		if (f == &list[DAMAGE_LOST])
			add_lost(s, n, o, rates, ascii);
		else if (f == &list[DAMAGE_UNMATCHED])
			add(s, bad ? 1 : 3, bad ? ROLE_WARN : ROLE_HEADER, "unmatched %s%%",
			    units_pct(buf, o->unmatched_pct));
		else if (f->title && n)
			add(s, f < &list[DAMAGE_NO_STACK] ? 1 : 2, ROLE_WARN, "%s %s", f->title,
			    units_count(buf, n));
	}
	if (o->no_ends)
		add(s, 0, ROLE_WARN, "no ends");
	if (o->loss.no_locks)
		add(s, 0, ROLE_WARN, "no lock events");
	if (o->fill_pct >= 75)
		add(s, 1, ROLE_WARN, "rings %u%% full", o->fill_pct);
	if (o->no_kernel_names)
		add(s, 1, ROLE_WARN, "no symbols");
}

/* CPU time of snapshots of slots and of all perf events: "slots 72us/s, events 1.9ms/s". */
static void add_looks(struct segments *s, struct app *a)
{
	static const char front[] = "cost ";
	struct query_perf_sum p;
	char cost[96];

	if (query_perf_sum(&a->query, &p) < 0 || !p.known)
		return;
	query_perf_cost_text(&p, QUERY_PERF_SLOTS, true, cost, sizeof(cost));
	add(s, 8, ROLE_HEADER, "%s%s", p.is_one ? "looks " : "", cost + sizeof(front) - 1);
}

/* Short waits, which BPF reports as sums only. */
static void add_shorts(struct segments *s, struct app *a)
{
	struct query_shorts shorts = query_shorts(&a->query);
	char mark[64];

	if (*query_shorts_mark(&shorts, mark, sizeof(mark)))
		add(s, 1, ROLE_WARN, "%s", mark);
}

/* Of a range it is the average: its last bucket may be short, and have the sums of a second. */
static double rate_of(const struct app *a, const struct query_overview *o)
{
	const struct model *m = a->engine->model;
	uint64_t n = 0;

	if (!app_shows_range(a) || m->now_ns <= m->zero_ns)
		return o->events_per_s;
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		n += m->types[i].contended;
	return (double)n * 1e9 / (double)(m->now_ns - m->zero_ns);
}

static void collect(struct segments *s, struct app *a, const struct query_overview *o)
{
	const struct query_incidents *caught = a->query.incidents;
	char buf[UNITS_BUF];

	add_what(s, a, o);
	if (caught && caught->n)
		add(s, 1, ROLE_WARN, "incidents %s", units_count(buf, caught->n));
	add(s, a->time.line ? 3 : 2, ROLE_HEADER, "%s ev/s", units_rate(buf, rate_of(a, o)));
	add_damage(s, o, !app_shows_range(a), a->screen.ascii);
	add_shorts(s, a);
	if (a->time.is_replay) {
		add(s, 9, ROLE_HEADER, "%s events", units_count(buf, a->engine->model->n_events));
		return;
	}
	if (a->cost_known)
		add(s, 4, ROLE_HEADER, "cost %s%%", units_pct(buf, a->cost_pct));
	add_looks(s, a);
	add(s, 10, ROLE_HEADER, "every %gs", (double)a->delay_ns / 1e9);
	if (o->host && o->host->method[0])
		add(s, 9, ROLE_HEADER, "%.30s", o->host->method);
}

static int width_up_to(const struct segments *s, int priority)
{
	int width = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].priority <= priority)
			width += text_width(s->list[i].text) + 2;
	return width - 2;
}

/* Where not all damage has room, as much of it as has. */
static bool is_shown(const struct segments *s, size_t i, int priority, int width)
{
	int used = width_up_to(s, 0);

	if (priority || s->list[i].priority != 1)
		return s->list[i].priority <= priority;
	for (size_t k = 0; k <= i; k++) {
		int more = text_width(s->list[k].text) + 2;
		if (s->list[k].priority == 1 && used + more <= width)
			used += more;
		else if (k == i)
			return false;
	}
	return true;
}

void header_draw(struct app *a, struct rect r, const struct query_overview *o)
{
	struct segments s = {.n = 0};
	int priority = 10, x = 0;

	collect(&s, a, o);
	while (priority > 0 && width_up_to(&s, priority) > r.w)
		priority--;
	for (size_t i = 0; i < s.n; i++)
		if (is_shown(&s, i, priority, r.w))
			x = screen_put(&a->screen, r, x, 0, s.list[i].role, s.list[i].text) + 2;
}
