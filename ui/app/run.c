// SPDX-License-Identifier: GPL-2.0-only
/*
 * The main loop: one poll() over the source, the keys, the measured command and the signals. It
 * draws after a tick, a key or a resize and not otherwise, and sleeps in between; a storm of
 * records does not keep keys waiting, since engine_pump() returns after a bounded amount of work,
 * and neither does a terminal that takes frames slowly: the next one is drawn when it has taken the
 * last one, and shows what there is by then.
 */
#include "kontend/clock.h"
#include "kontend/damage.h"
#include "kontend/ending.h"
#include "kontend/query-load.h"
#include "kontend/units.h"
#include "priv.h"
#include "signals.h"
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

enum { KEYS_AT_ONCE = 256 };

static const uint64_t AGAIN_NS = 200000000, LOAD_NS = 5000000;

static uint64_t system_now_ns(void *arg)
{
	(void)arg;
	return clock_now_ns();
}

static uint64_t system_cpu_ns(void *arg)
{
	struct rusage ru;

	(void)arg;
	getrusage(RUSAGE_SELF, &ru);
	return ((uint64_t)ru.ru_utime.tv_sec + (uint64_t)ru.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)ru.ru_utime.tv_usec + (uint64_t)ru.ru_stime.tv_usec) * 1000u;
}

const struct app_clock app_system_clock = {.now_ns = system_now_ns, .cpu_ns = system_cpu_ns};

void app_measure(struct app *a)
{
	uint64_t now = a->clock->now_ns(a->clock->arg), cpu = a->clock->cpu_ns(a->clock->arg);
	uint64_t wall = now - a->cost_now_ns;

	if (a->cost_now_ns && wall < APP_DELAY_MIN_NS / 2)
		return; /* too short to say anything: the ticks of a backlog */
	if (a->cost_now_ns) {
		a->cost_pct = 100.0 * (double)(cpu - a->cost_cpu_ns) / (double)wall;
		a->cost_known = true;
	}
	a->cost_now_ns = now;
	a->cost_cpu_ns = cpu;
}

static void caught_up(struct app *a)
{
	const struct model_damage *d = a->engine->model->damage;
	uint64_t losses = d->lost + d->dropped - a->paused_losses;
	char buf[UNITS_BUF];

	a->catching_up = false;
	if (losses)
		app_say(a, ROLE_WARN,
			"%s records were lost during the pause: it was longer than "
			"the queue holds",
			units_count(buf, losses));
}

/* One step of the engine: ENGINE_*, 0 or a negative errno. */
static int pump(struct app *a, struct error *err)
{
	int r = engine_pump(a->engine, 0, err);

	if (r >= 0)
		app_incidents_take(a);
	if (r == ENGINE_TICK)
		app_history_tick(a);
	if (r == ENGINE_TICK || r == ENGINE_END) {
		app_measure(a);
		a->dirty = true;
	}
	if (a->catching_up && (r == ENGINE_IDLE || r == ENGINE_END))
		caught_up(a);
	if (r == ENGINE_END)
		a->ended = true;
	if (r == ENGINE_TICK)
		app_stop_tick(a);
	return r;
}

/* A recording is read further. */
static int read_on(struct app *a, struct error *err)
{
	int r = app_time_read(a, err);

	app_incidents_take(a);
	return r;
}

int app_tick(struct app *a, struct error *err)
{
	int r;

	if (app_history_collects(a))
		return app_history_collect(a, err);
	if (app_time_reads(a))
		return read_on(a, err);
	if (a->time.line)
		return app_time_play(a) ? ENGINE_TICK : ENGINE_IDLE;
	if (a->paused || a->ended)
		return ENGINE_IDLE;
	do {
		r = pump(a, err);
	} while (r == 0);
	return r;
}

static void take_signals(struct app *a, struct signals *s)
{
	int sig;

	while ((sig = signals_next(s)) != 0) {
		a->dirty = true;
		switch (sig) {
		case SIGTSTP:
			a->display->ops->suspend(a->display);
			break;
		case SIGCONT:
			if (a->display->ops->redraw)
				a->display->ops->redraw(a->display);
			break;
		case SIGWINCH:
			break;
		default:
			a->signal = sig;
			a->end = ending_text(sig);
			a->done = true;
			break;
		}
	}
}

/* Of a flood of keys only so many at once: signals, events and frames come in between. */
static bool take_keys(struct app *a)
{
	struct display_input in;
	int n = 0;

	for (; n < KEYS_AT_ONCE && !a->done; n++) {
		a->display->ops->input(a->display, &in);
		if (!in.key)
			break;
		app_key(a, &in);
	}
	a->has_keys = n == KEYS_AT_ONCE; /* poll() knows nothing of those that curses has read */
	return n > 0;
}

enum { WAIT_SIGNALS, WAIT_KEYS, WAIT_CHILD, WAIT_SOURCE, WAIT_LINES, WAIT_DRAWN, WAITS };

static void take_child(struct app *a, const struct pollfd *p)
{
	if (!p->revents)
		return;
	a->child_exit_fd = -1;
	app_say(a, ROLE_BOLD, "The command has ended; q leaves");
}

/* Does the engine take what arrives? */
static bool is_pumping(const struct app *a)
{
	return !a->time.line && !a->paused && !a->ended;
}

/* All work apart from keys and signals. 0 or a negative errno. */
static int work(struct app *a, struct error *err)
{
	int r = 0;

	if (app_time_reads(a))
		r = read_on(a, err);
	else if (a->time.playing)
		app_time_play(a);
	else if (app_history_collects(a))
		r = app_history_collect(a, err);
	else if (is_pumping(a))
		r = pump(a, err);
	a->behind = r == 0 && is_pumping(a);
	return r < 0 ? r : 0;
}

/* Names that come one by one are not shown one by one: how long it takes until they are. */
static uint64_t again_ns(const struct app *a)
{
	uint64_t since = a->clock->now_ns(a->clock->arg) - a->drawn_ns;

	return since < AGAIN_NS ? AGAIN_NS - since : 0;
}

/* Loads names that the last frame lacked. True: there is more to do at once. */
static bool load_names(struct app *a)
{
	if (!a->again)
		return false;
	a->dirty |= !again_ns(a);
	return query_load_names(&a->query, LOAD_NS);
}

/* How long there may be nothing to do; -1: for ever. */
static int idle_ms(const struct app *a)
{
	uint64_t now = a->until_ns ? a->clock->now_ns(a->clock->arg) : 0;
	int ms = app_time_wait_ms(a);

	if (!a->until_ns)
		return ms;
	uint64_t left = now < a->until_ns ? (a->until_ns - now) / 1000000 + 1 : 0;
	return ms >= 0 && (uint64_t)ms < left ? ms : left < 60000 ? (int)left : 60000;
}

static int wait_ms(const struct app *a)
{
	int ms = idle_ms(a);
	int again = a->again && !a->dirty ? (int)(again_ns(a) / 1000000) + 1 : -1;

	return again >= 0 && (ms < 0 || again < ms) ? again : ms;
}

/* Waits for something to do, and does what users and signals ask for. */
static int wait_and_take(struct app *a, struct signals *s, int pending_fd, struct error *err)
{
	bool pumping = is_pumping(a) || app_history_collects(a) || app_time_reads(a);
	int source_fd_ = pumping ? source_fd(a->engine->source) : -1;
	struct pollfd p[WAITS] = {
		[WAIT_SIGNALS] = {.fd = s->fd, .events = POLLIN},
		[WAIT_KEYS] = {.fd = a->display->ops->fd(a->display), .events = POLLIN},
		[WAIT_CHILD] = {.fd = a->child_exit_fd, .events = POLLIN},
		[WAIT_SOURCE] = {.fd = source_fd_, .events = POLLIN},
		[WAIT_LINES] = {.fd = query_load_fd(&a->query), .events = POLLIN},
		[WAIT_DRAWN] = {.fd = pending_fd, .events = POLLOUT},
	};
	bool always_ready = load_names(a) || a->has_keys || (a->dirty && pending_fd < 0) ||
			    (pumping && (source_fd_ < 0 || a->behind));

	if (poll(p, WAITS, always_ready ? 0 : wait_ms(a)) < 0 && errno != EINTR)
		return error_errno(err, -errno, "Cannot wait for keys and events");
	take_signals(a, s);
	if (!take_keys(a) && p[WAIT_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		a->signal = SIGHUP; /* the terminal is gone, whether or not a signal comes */
		a->end = ending_text(SIGHUP);
		a->done = true;
	}
	take_child(a, &p[WAIT_CHILD]);
	if (p[WAIT_LINES].revents)
		a->dirty |= query_load_names(&a->query, 0);
	return 0;
}

/* True when --duration is over. */
static bool is_over(struct app *a)
{
	bool over = a->until_ns && a->clock->now_ns(a->clock->arg) >= a->until_ns;

	if (over && !a->done)
		a->end = "the time of --duration is over";
	return over;
}

static int run_loop(struct app *a, struct signals *s, struct error *err)
{
	int r = 0;

	while (!a->done && r >= 0 && !is_over(a)) {
		int pending_fd = app_pending(a);

		if (a->dirty && pending_fd < 0) {
			app_draw(a);
			pending_fd = app_pending(a);
		}
		r = wait_and_take(a, s, pending_fd, err);
		if (r >= 0 && !a->done)
			r = work(a, err);
	}
	return r;
}

int app_run(struct app *a, struct error *err)
{
	struct signals s;
	int r = signals_open(&s, a->mask, err);

	if (r < 0)
		return r;
	if (!a->time.is_replay)
		source_set_tick(a->engine->source, a->delay_ns);
	if (a->duration_ns)
		a->until_ns = a->clock->now_ns(a->clock->arg) + a->duration_ns;
	r = run_loop(a, &s, err);
	signals_close(&s);
	return r < 0 ? r : 0;
}
