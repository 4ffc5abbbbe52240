// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving in time: the cursor, playing, the range, and the ribbon that shows them. All moves end in
 * go(), which keeps one rule: tables cover the time from the begin of the range to the cursor; if
 * no range begins before the cursor, from the begin of everything. The end of a range is a place
 * that the cursor jumps to, and limits other commands; so users change a range by moving and
 * marking again.
 *
 * Playing uses two clocks: the cursor is where the recording would be now if it had been at
 * `base_ns` when the app's clock showed `base_clock_ns`. So a slow step makes the next step longer,
 * and playing keeps its speed.
 */
#include "kontend/bisect.h"
#include "kontend/query-machine.h"
#include "priv.h"
#include "travel.h"

#include <stdio.h>

enum { SPEED_MIN = -3, SPEED_MAX = 6, FRAME_MS = 40, READ_MS = 200, READ_SHARE = 10 };

static const uint64_t ms_ns = 1000000;

static uint64_t clock_now(const struct app *a)
{
	return a->clock->now_ns(a->clock->arg);
}

static uint64_t scaled(uint64_t ns, int speed)
{
	return speed < 0 ? ns >> -speed : ns << speed;
}

/* From here on playing counts from where the cursor is. */
static void rebase(struct app *a)
{
	a->time.base_clock_ns = clock_now(a);
	a->time.base_ns = timeline_now_ns(a->time.line);
}

/* False: it said why not. */
static bool go_to(struct app *a, uint64_t ns)
{
	struct app_time *t = &a->time;
	struct error err = {0};
	int r;

	if (t->from_ns && t->from_ns < ns)
		r = timeline_range(t->line, t->from_ns, ns, &err);
	else
		r = timeline_seek(t->line, ns, &err);
	a->dirty = true;
	t->was_asked = true;
	t->follows = !t->from_ns && ns >= timeline_end_ns(t->line);
	if (r < 0) {
		t->playing = false;
		app_say(a, ROLE_ERROR, "%s", err.text);
	}
	return r >= 0;
}

/* Shows how far reading has come to a user who goes forward. */
static void say_read(struct app *a)
{
	char buf[WHEN_BUF];

	when_elapsed(buf, timeline_end_ns(a->time.line) - timeline_begin_ns(a->time.line),
		     app_time_digits(a));
	app_say(a, ROLE_DIM, "Read up to +%s so far; %s", buf,
		a->time.follows ? "reading continues" : "\\ forgets the range and reads on");
}

void app_time_go(struct app *a, uint64_t ns)
{
	bool is_beyond = ns > timeline_end_ns(a->time.line);

	if (go_to(a, ns) && is_beyond && !timeline_is_read(a->time.line))
		say_read(a);
	rebase(a);
}

/* The first stop after the cursor: where a bucket ends. The end, when there is none. */
static uint64_t next_stop(const struct app *a)
{
	size_t n;
	const struct timeline_bucket *b = timeline_buckets(a->time.line, &n);
	size_t at = BISECT(b, n, start_ns, timeline_now_ns(a->time.line));

	return at < n ? b[at].start_ns : timeline_end_ns(a->time.line);
}

static uint64_t stop_before(const struct app *a)
{
	uint64_t now = timeline_now_ns(a->time.line);
	size_t n;
	const struct timeline_bucket *b = timeline_buckets(a->time.line, &n);
	size_t at = now ? BISECT(b, n, start_ns, now - 1) : 0;

	return at ? b[at - 1].start_ns : timeline_begin_ns(a->time.line);
}

bool app_shows_range(const struct app *a)
{
	const struct app_time *t = &a->time;

	return t->line && t->to_ns && timeline_now_ns(t->line) == t->to_ns;
}

uint32_t app_buckets(const struct app *a)
{
	const struct app_time *t = &a->time;
	const struct timeline_bucket *b;
	uint32_t found = 0;
	size_t n;

	if (!app_shows_range(a))
		return 1;
	b = timeline_buckets(t->line, &n);
	for (size_t i = 0; i < n; i++)
		found += b[i].start_ns >= t->from_ns && b[i].start_ns < t->to_ns;
	return found ? found : 1;
}

bool app_time_play(struct app *a)
{
	struct app_time *t = &a->time;
	uint64_t target;

	if (!t->playing)
		return false;
	target = t->base_ns + scaled(clock_now(a) - t->base_clock_ns, t->speed);
	if (target < next_stop(a))
		return false;
	if (target >= timeline_end_ns(t->line)) {
		target = timeline_end_ns(t->line);
		t->playing = false;
	}
	if (!go_to(a, target))
		return false;
	app_stop_tick(a);
	return true;
}

int app_time_wait_ms(const struct app *a)
{
	const struct app_time *t = &a->time;
	uint64_t at, stop, left_ms;

	if (!t->playing)
		return -1;
	at = t->base_ns + scaled(clock_now(a) - t->base_clock_ns, t->speed);
	stop = next_stop(a);
	left_ms = stop > at ? scaled(stop - at, -t->speed) / ms_ns + 1 : 0;
	return left_ms < FRAME_MS ? FRAME_MS : left_ms > 60000 ? 60000 : (int)left_ms;
}

static void play(struct app *a)
{
	struct app_time *t = &a->time;

	t->playing = !t->playing;
	if (t->playing && timeline_now_ns(t->line) >= timeline_end_ns(t->line))
		go_to(a, timeline_begin_ns(t->line));
	rebase(a);
}

static void step_time(struct app *a, bool back)
{
	uint64_t now = timeline_now_ns(a->time.line), ns = back ? stop_before(a) : next_stop(a);

	a->time.playing = false;
	app_time_go(a, ns);
	if (timeline_now_ns(a->time.line) != now)
		return;
	if (!back && !timeline_is_read(a->time.line))
		say_read(a);
	else
		app_say(a, ROLE_DIM, back ? "This is the beginning" : "This is the end");
}

static void set_speed(struct app *a, int step)
{
	struct app_time *t = &a->time;
	int speed = t->speed + step;

	if (speed < SPEED_MIN || speed > SPEED_MAX)
		app_say(a, ROLE_DIM, "No %s: 1/8 to 64 times", step > 0 ? "faster" : "slower");
	else
		t->speed = speed;
	rebase(a);
}

static void jump(struct app *a, const char *text)
{
	struct when w = app_time_when(a);
	struct error err = {0};
	uint64_t ns;

	if (!text)
		prompt_open(&a->prompt, PROMPT_GO, "");
	else if (when_parse(text, &w, &ns, &err) < 0)
		app_say(a, ROLE_ERROR, "%s", err.text);
	else
		app_time_go(a, ns);
}

/* Both ends are marked: they may have been marked in any order. */
static void show_range(struct app *a)
{
	struct app_time *t = &a->time;
	uint64_t from = t->from_ns, to = t->to_ns;

	if (from > to) {
		t->from_ns = to;
		t->to_ns = from;
	}
	t->playing = false;
	app_time_go(a, t->to_ns);
}

static void mark_from(struct app *a)
{
	struct app_time *t = &a->time;
	uint64_t now = timeline_now_ns(t->line);
	char buf[WHEN_BUF];

	if (now == t->to_ns) {
		app_say(a, ROLE_DIM, "The range ends here: go elsewhere to begin it");
		return;
	}
	t->from_ns = now;
	if (t->to_ns) {
		show_range(a);
		return;
	}
	go_to(a, now);
	app_say(a, ROLE_NORMAL, "counting from %s on; ] ends the range, \\ forgets it",
		when_elapsed(buf, now - timeline_begin_ns(t->line), app_time_digits(a)));
}

static void mark_to(struct app *a)
{
	struct app_time *t = &a->time;
	uint64_t now = timeline_now_ns(t->line);

	if (now == t->from_ns) {
		app_say(a, ROLE_DIM, "The range begins here: go elsewhere to end it");
		return;
	}
	t->to_ns = now;
	if (!t->from_ns)
		t->from_ns = timeline_begin_ns(t->line);
	show_range(a);
}

bool app_time_clear(struct app *a)
{
	struct app_time *t = &a->time;

	if (!t->line || (!t->from_ns && !t->to_ns))
		return false;
	t->from_ns = t->to_ns = 0;
	app_time_go(a, timeline_now_ns(t->line));
	return true;
}

static void cut(struct app *a, const char *path)
{
	const struct app_time *t = &a->time;
	struct error err = {0};

	if (!t->cut)
		app_say(a, ROLE_DIM, "This cannot be cut");
	else if (!t->from_ns || !t->to_ns)
		app_say(a, ROLE_DIM, "Mark a range first: [ begins it, ] ends it");
	else if (!path)
		prompt_open(&a->prompt, PROMPT_CUT, "cut.data");
	else if (t->cut->write(t->cut->arg, path, t->from_ns, t->to_ns, &err) < 0)
		app_say(a, ROLE_ERROR, "%s", err.text);
	else
		app_say(a, ROLE_BOLD, "written to %s", path);
}

static bool goes_in_time(enum command c)
{
	return c >= CMD_STEP && c <= CMD_RANGE_CLEAR;
}

bool app_time_command(struct app *a, enum command c, const struct command_arg *arg)
{
	if (!a->time.line && (!goes_in_time(c) || !app_history_travel(a)))
		return goes_in_time(c);
	switch (c) {
	case CMD_PLAY:
		play(a);
		return true;
	case CMD_STEP:
	case CMD_STEP_BACK:
		step_time(a, c == CMD_STEP_BACK);
		return true;
	case CMD_JUMP:
		jump(a, arg->text);
		return true;
	case CMD_START:
		app_time_go(a, timeline_begin_ns(a->time.line));
		return true;
	case CMD_LAST:
		app_time_go(a, timeline_end_ns(a->time.line));
		return true;
	case CMD_CUT:
		cut(a, arg->text);
		return true;
	case CMD_RIBBON:
		app_ribbon_toggle(a);
		return true;
	case CMD_PLAY_FASTER:
	case CMD_PLAY_SLOWER:
		set_speed(a, c == CMD_PLAY_FASTER ? 1 : -1);
		return true;
	case CMD_RANGE_FROM:
	case CMD_ZERO:
		mark_from(a);
		return true;
	case CMD_RANGE_TO:
		mark_to(a);
		return true;
	case CMD_RANGE_CLEAR:
		if (!app_time_clear(a))
			app_say(a, ROLE_DIM, "No range is marked: [ begins one, ] ends it");
		return true;
	default:
		return false;
	}
}

int app_time_digits(const struct app *a)
{
	uint64_t tick = timeline_tick_ns(a->time.line);

	/* A tick is an average where the stream has its own: somewhat less than it says. */
	if (tick >= 700 * ms_ns)
		return 0;
	return tick >= 70 * ms_ns ? 1 : 3;
}

struct when app_time_when(const struct app *a)
{
	const struct record_host *h = a->engine->model->host;

	return (struct when){.begin_ns = timeline_begin_ns(a->time.line),
			     .end_ns = timeline_whole_ns(a->time.line),
			     .now_ns = timeline_now_ns(a->time.line),
			     .clock_ns = h->clock_ns,
			     .wall_ns = h->wall_ns};
}

/* Ends that were said as times are where the range is: it is what a report has of these times. */
static void begin_range(struct app *a, uint64_t from_ns, uint64_t to_ns)
{
	struct app_time *t = &a->time;
	uint64_t begin = timeline_begin_ns(t->line), end = timeline_end_ns(t->line);
	size_t n;
	const struct timeline_bucket *b = timeline_buckets(t->line, &n);

	/* The first bucket cannot be divided. */
	t->from_ns = n > 1 && from_ns >= b[1].start_ns ? from_ns : begin;
	t->to_ns = to_ns < end ? to_ns : end;
	show_range(a);
	t->to_ns = timeline_now_ns(t->line);
}

void app_time_begin(struct app *a, uint64_t from_ns, uint64_t to_ns)
{
	struct app_time *t = &a->time;

	if (to_ns) {
		begin_range(a, from_ns, to_ns);
		return;
	}
	t->follows = !timeline_is_read(t->line);
	t->playing = !t->follows && timeline_now_ns(t->line) < timeline_end_ns(t->line);
	rebase(a);
}

bool app_time_reads(const struct app *a)
{
	const struct app_time *t = &a->time;

	return t->line && t->follows && !timeline_is_read(t->line);
}

/* The whole recording is read: play it, unless the user has used the timeline meanwhile. */
static void end_reading(struct app *a)
{
	struct app_time *t = &a->time;

	const struct record_machine m = query_machine(&a->query);

	if (a->engine->notes.n)
		app_say(a, ROLE_WARN, "%s", a->engine->notes.items[0].text);
	else if (*m.refused)
		app_say(a, ROLE_WARN, "%s", m.refused);
	a->dirty = true;
	if (!t->was_asked && go_to(a, timeline_begin_ns(t->line)))
		app_time_begin(a, 0, 0);
}

int app_time_read(struct app *a, struct error *err)
{
	struct app_time *t = &a->time;
	int r = timeline_read(t->line, err);

	if (r < 0)
		return r;
	if (timeline_is_read(t->line)) {
		end_reading(a);
	} else if (clock_now(a) - a->drawn_ns >= READ_MS * ms_ns + READ_SHARE * a->draw_took_ns) {
		a->dirty = true;
	}
	return 0;
}

enum { RIBBON_TALL_H = 36 }; /* a screen of this height has room for all rows of the ribbon */

static struct ribbon ribbon_of(const struct app *a)
{
	const struct app_time *t = &a->time;
	struct ribbon b = {.begin_ns = timeline_begin_ns(t->line),
			   .read_ns = timeline_end_ns(t->line),
			   .end_ns = timeline_whole_ns(t->line),
			   .now_ns = timeline_now_ns(t->line),
			   .from_ns = t->from_ns,
			   .to_ns = t->to_ns,
			   .a_ns = a->marks.ns[MARK_A],
			   .b_ns = a->marks.ns[MARK_B],
			   .incidents = a->query.incidents,
			   .of = t->figures ? t->figures->of : NULL};

	b.buckets = timeline_buckets(t->line, &b.n);
	return b;
}

int app_ribbon_rows(const struct app *a)
{
	const struct app_time *t = &a->time;

	if (!t->line)
		return 0;
	if (t->rows == APP_RIBBON_ONE ||
	    (t->rows == APP_RIBBON_FITS && a->screen.h < RIBBON_TALL_H))
		return 1;
	const struct ribbon b = ribbon_of(a);
	return ribbon_rows(&b);
}

void app_ribbon_toggle(struct app *a)
{
	const struct ribbon b = ribbon_of(a);

	if (ribbon_rows(&b) == 1)
		app_say(a, ROLE_DIM, "The ribbon has nothing but waits to show here");
	a->time.rows = app_ribbon_rows(a) > 1 ? APP_RIBBON_ONE : APP_RIBBON_ALL;
}

void app_ribbon_draw(struct app *a, struct rect r)
{
	struct ribbon b;

	a->time.ribbon = r;
	if (!a->time.line || r.h < 1)
		return;
	b = ribbon_of(a);
	ribbon_draw(&b, &a->screen, r);
}

bool app_ribbon_click(struct app *a, int x, int y)
{
	struct rect r = a->time.ribbon;
	struct ribbon b;
	uint64_t ns;

	if (!a->time.line || y < r.y || y >= r.y + r.h)
		return false;
	b = ribbon_of(a);
	if (ribbon_time_at(&b, r, x, &ns))
		app_time_go(a, ns);
	return true;
}
