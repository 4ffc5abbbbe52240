// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invariants of every screen, whatever keys led to it: the first line is the header and the
 * last one the key bar, a prompt or a message; one row at most is selected; nothing crashes (the
 * suite runs under sanitizers as well). A walk presses keys drawn from a generator of fixed seed on
 * each canned stream, at sizes drawn likewise, with ticks in between; another one presses each key
 * when the model is ahead of the frame; one goes through all small sizes in every view; another one
 * lets every allocation fail in turn.
 */
#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/screen.h"
#include "kontend/view.h"
#include "streams.h"
#include "widgets/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	const char *stream;
	struct synth *synth;
	struct engine engine;
	struct display *display;
	struct app *app;
	uint64_t seed;
	int step;
	uint32_t key;
};

static const char *const streams[] = {"storm",	      "idle",	   "lossy",	 "many",
				      "odd",	      "slots-x86", "slots-many", "slots-probe",
				      "uprobes-busy", "hot",	   "followed"};

static uint64_t draw_number(struct walk *w, uint64_t below)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (w->seed >> 33) % below;
}

static uint32_t draw_key(struct walk *w)
{
	static const uint32_t keys[] = {
		KEY_K_UP,
		KEY_K_DOWN,
		KEY_K_PGUP,
		KEY_K_PGDN,
		KEY_K_HOME,
		KEY_K_END,
		KEY_K_ENTER,
		KEY_K_ENTER,
		KEY_K_ENTER,
		KEY_K_ESC,
		KEY_K_DOWN,
		KEY_K_UP,
		KEY_K_CLICK,
		KEY_K_DCLICK,
		KEY_K_TAB,
		KEY_K_WHEEL_UP,
		KEY_K_WHEEL_DOWN,
		'+',
		'-',
		'e',
		'E',
		'C',
		'i',
		'c',
		KEY_K_LEFT,
		KEY_K_RIGHT,
		'b',
		'<',
		'>',
		',',
		'.',
		'B',
		'o',
		'L',
		'L',
		'H',
		'S',
		'n',
		'N',
		' ',
		'z',
		'?',
		'1',
		'2',
		'3',
		'4',
		'5',
		'6',
		'7',
		'8',
		'9',
		'f',
		'f',
		'/',
		's',
		':',
	};
	return keys[draw_number(w, sizeof(keys) / sizeof(*keys))];
}

static int fail(const struct walk *w, const char *what)
{
	char *text = NULL;

	if (screen_text(app_screen(w->app), &text) < 0)
		text = NULL;
	fprintf(stderr, "%s, step %d, after key 0x%x: %s\n%s", w->stream, w->step, w->key, what,
		text ? text : "");
	mem_free(text);
	return 1;
}

static bool row_is_selected(const struct screen *s, int y)
{
	int n = 0;
	for (int x = 0; x < s->w; x++)
		n += s->cells[y * s->w + x].role == ROLE_SELECTED;
	return n > s->w / 4;
}

static int check(const struct walk *w)
{
	static const char name[] = "kontend";
	const struct screen *s = app_screen(w->app);
	int selected = 0, most = 1;

	if (s->w < LAYOUT_MIN_W || s->h < LAYOUT_MIN_H)
		return 0;
	for (int i = 0; name[i]; i++)
		if (s->cells[i].ch != (uint32_t)name[i])
			return fail(w, "the header is overwritten");
	/* A list over the view has one of its own. */
	most += s->cells[(s->h - 2) * s->w].ch == 0x2514;
	for (int y = 1; y < s->h - 1; y++)
		selected += row_is_selected(s, y);
	return selected > most ? fail(w, "more than one row is selected") : 0;
}

static int walk_open(struct walk *w, const char *stream, const char *view)
{
	const struct model_limits limits = model_limits_recent(0);
	struct app_options o = {.child_exit_fd = -1, .save_dir = "/nonexistent", .view = view};
	struct error err = {0};

	*w = (struct walk){.stream = stream, .seed = 7};
	w->synth = stream_make(stream);
	if (engine_init(&w->engine, synth_source(w->synth), &limits, &err) < 0 ||
	    display_mem_new(&w->display, 80, 24) < 0 ||
	    app_new(&w->app, &w->engine, w->display, &o, &err) < 0) {
		fprintf(stderr, "%s: %s\n", stream, err.text);
		return 1;
	}
	return 0;
}

static void walk_close(struct walk *w)
{
	app_free(w->app);
	w->display->ops->free(w->display);
	engine_deinit(&w->engine);
	synth_free(w->synth);
}

static void random_step(struct walk *w)
{
	struct display_input in = {.key = draw_key(w)};
	struct error err = {0};
	const struct screen *s = app_screen(w->app);

	w->key = in.key;
	in.x = (int)draw_number(w, (uint64_t)s->w + 1);
	in.y = (int)draw_number(w, (uint64_t)s->h + 1);
	app_key(w->app, &in);
	if (draw_number(w, 100) == 0)
		display_mem_resize(w->display, 1 + (int)draw_number(w, 220),
				   1 + (int)draw_number(w, 70));
	if (draw_number(w, 150) == 0)
		app_tick(w->app, &err);
	/* Keys may come faster than frames. */
	if (draw_number(w, 3))
		app_draw(w->app);
}

static int walk_keys(const char *stream, int steps)
{
	struct walk w;
	int r = walk_open(&w, stream, NULL);

	if (r)
		return r;
	app_draw(w.app);
	for (w.step = 0; w.step < steps && !r; w.step++) {
		random_step(&w);
		r = check(&w);
	}
	walk_close(&w);
	return r;
}

/* Each frame is followed by a tick, then by keys: what they ask meets newer snapshots. */
static int walk_ahead(const char *stream, const char *view)
{
	struct error err = {0};
	struct walk w;
	int r = walk_open(&w, stream, view);

	if (r)
		return r;
	app_tick(w.app, &err);
	for (w.step = 0; w.step < 60 && !r; w.step++) {
		app_draw(w.app);
		app_tick(w.app, &err);
		for (int n = 0; n < 2; n++) {
			w.key = n ? draw_key(&w) : KEY_K_ENTER;
			app_key(w.app, &(struct display_input){.key = w.key});
		}
		app_draw(w.app);
		app_key(w.app, &(struct display_input){.key = KEY_K_ESC});
		r = check(&w);
	}
	walk_close(&w);
	return r;
}

/* @ticks: between the frame and the key, so that its answer meets newer snapshots. */
static void press_small(struct walk *w, int columns, int rows, bool ticks)
{
	static const uint32_t keys[] = {KEY_K_ENTER, KEY_K_DOWN, KEY_K_PGDN, 'b', KEY_K_ESC};
	struct error err = {0};

	display_mem_resize(w->display, columns, rows);
	app_draw(w->app);
	if (ticks)
		app_tick(w->app, &err);
	w->key = keys[w->step++ % (int)(sizeof(keys) / sizeof(*keys))];
	app_key(w->app, &(struct display_input){.key = w->key});
	app_draw(w->app);
}

/* From a size that has room down to each small one and back, with a key at each. */
static int walk_small(const char *stream, const char *view)
{
	static const int columns[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,		11,  12,
				      13, 14, 15, 16, 17, 18, 19, 20, 40, LAYOUT_MIN_W, 200, 500};
	struct error err = {0};
	struct walk w;
	int r = walk_open(&w, stream, view);

	if (r)
		return r;
	app_tick(w.app, &err);
	for (int rows = 1; rows <= LAYOUT_MIN_H && !r; rows++) {
		for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
			press_small(&w, columns[i], rows, i == 0);
		press_small(&w, 80, 24, false);
		r = check(&w);
	}
	walk_close(&w);
	return r;
}

static int walk_views(const char *stream)
{
	int r = 0;

	for (size_t i = 0; view_roots[i] && !r; i++) {
		r = walk_ahead(stream, view_roots[i]->name);
		if (!r)
			r = walk_small(stream, view_roots[i]->name);
	}
	return r;
}

static void show_all(struct walk *w)
{
	static const uint32_t keys[] = {
		KEY_K_ENTER, 'b',	  KEY_K_ENTER, KEY_K_ENTER, 'E', '?',
		'2',	     KEY_K_ENTER, '3',	       KEY_K_ENTER, '4', KEY_K_ENTER,
		'4',	     KEY_K_UP,	  KEY_K_RIGHT, KEY_K_ENTER, '5', KEY_K_ENTER,
		'5',	     'b',	  KEY_K_ENTER, '1'};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		app_key(w->app, &(struct display_input){.key = keys[i]});
		app_draw(w->app);
	}
}

/* Every allocation of drawing fails once; each time the next frames are as if nothing had been. */
static int walk_without_memory(const char *stream)
{
	struct walk w;
	struct error err = {0};
	int r = walk_open(&w, stream, NULL);
	long n = 1;

	if (r)
		return r;
	for (int i = 0; i < 3; i++)
		app_tick(w.app, &err);
	app_draw(w.app);
	for (long i = 0; i < n && !r; i++) {
		mem_fail_after(i);
		show_all(&w);
		n = mem_count() > 400 ? 400 : mem_count();
		mem_fail_after(-1);
		show_all(&w);
		r = check(&w);
	}
	walk_close(&w);
	return r;
}

int main(void)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams) && !r; i++)
		r = walk_keys(streams[i], 5000);
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams) && !r; i++)
		r = walk_views(streams[i]);
	if (!r)
		r = walk_without_memory("storm");
	return r ? r : walk_without_memory("slots-x86");
}
