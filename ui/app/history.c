// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pause of a live session, and the way back to earlier moments such as incidents.
 *
 * With a history, the engine stops at a tick while the history goes on collecting records. The
 * first command that moves in time makes a timeline of the kept minutes. Going on drops the
 * timeline, and the engine catches up from where it stopped. Without a history, nothing pumps the
 * engine during a pause, and records wait in the queue of the source.
 */
#include "priv.h"

#include "kontend/damage.h"
#include "kontend/history.h"
#include "kontend/mem.h"
#include "kontend/query-incidents.h"

static void pause_now(struct app *a)
{
	const struct model_damage *d = a->engine->model->damage;
	struct error err = {0};

	if (a->history && history_freeze(a->history, a->engine, &err) < 0) {
		app_say(a, ROLE_ERROR, "Not paused: %s", err.text);
		return;
	}
	a->paused = true;
	a->paused_losses = d->lost + d->dropped;
}

static void go_on(struct app *a)
{
	struct error err = {0};

	app_history_leave(a);
	if (a->history && history_thaw(a->history, a->engine, &err) < 0) {
		app_say(a, ROLE_ERROR, "Not gone on yet: %s", err.text);
		return;
	}
	/* The refresh may have been changed in the pause. */
	if (a->history)
		source_set_tick(a->engine->source, a->delay_ns);
	a->paused = false;
	a->catching_up = true;
}

void app_history_pause(struct app *a)
{
	if (a->paused)
		go_on(a);
	else
		pause_now(a);
}

static void forget_figures(struct app *a)
{
	query_ribbon_deinit(&a->kept_figures);
	a->time.figures = NULL;
}

static int make_line(struct app *a, struct error *err)
{
	const struct timeline_options o = {.watch = &a->kept_figures.watch};

	query_ribbon_init(&a->kept_figures);
	a->time.figures = &a->kept_figures;
	const int r = timeline_new(&a->time.line, a->engine, &o, err);
	if (r)
		forget_figures(a);
	return r;
}

bool app_history_travel(struct app *a)
{
	struct error err = {0};
	int r;

	if (!a->history)
		return false;
	if (!a->paused)
		pause_now(a);
	if (!a->paused)
		return false;
	r = history_travel(a->history, a->engine, &err);
	if (r == HISTORY_EMPTY)
		app_say(a, ROLE_DIM, "There is nothing to go back to yet");
	else if (r < 0 || make_line(a, &err) < 0)
		app_say(a, ROLE_ERROR, "%s", err.text);
	return a->time.line != NULL;
}

void app_history_leave(struct app *a)
{
	if (!a->history || !a->time.line)
		return;
	timeline_free(a->time.line);
	a->time.line = NULL;
	a->time.from_ns = a->time.to_ns = 0;
	forget_figures(a);
}

bool app_history_collects(const struct app *a)
{
	return a->history && a->paused && !a->collected;
}

int app_history_collect(struct app *a, struct error *err)
{
	int r = history_collect(a->history, err);

	a->collected = r == SOURCE_END;
	return r;
}

void app_history_tick(struct app *a)
{
	if (!a->history)
		return;
	history_note(a->history, a->engine);
	mem_trim_at_tick(a->engine->model->n_ticks);
}

uint64_t app_history_ns(const struct app *a)
{
	struct history_stat st;

	if (!a->history)
		return 0;
	history_stat(a->history, &st);
	return st.begin_ns && st.begin_ns < a->engine->model->now_ns
		       ? a->engine->model->now_ns - st.begin_ns
		       : 0;
}

/* Shows a line when the catcher has a new incident. */
void app_incidents_take(struct app *a)
{
	const struct query_incidents *all = a->query.incidents;
	size_t n = a->catcher ? a->catcher->take(a->catcher->arg) : 0;

	a->dirty |= n != 0;
	if (!n || a->time.is_replay)
		return;
	const struct incident *in = &all->list[all->n - 1];
	app_say(a, ROLE_WARN, "incident: %s%s%s%s%s; I has %s", in->fired,
		*in->lock_name ? " for " : "", in->lock_name, *in->because ? ", held by " : "",
		in->because, all->n == 1 ? "it" : "them all");
}

void app_go_to(struct app *a, uint64_t ns, const char *view)
{
	if (!a->time.line && !app_history_travel(a)) {
		if (!a->history)
			app_say(a, ROLE_DIM, "Nothing of before is kept here");
		return;
	}
	if (ns < timeline_begin_ns(a->time.line))
		app_say(a, ROLE_WARN, "That moment is not kept any more: this is the earliest");
	app_time_go(a, ns);
	app_command(a, CMD_VIEW, &(struct command_arg){.text = view});
}
