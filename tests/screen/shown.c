// SPDX-License-Identifier: GPL-2.0-only
#include "shown.h"
#include "kontend/limits.h"

#include <stdlib.h>

/* No time passes, so the screen always shows the same cost of kontend itself. */
static uint64_t no_time(void *arg)
{
	(void)arg;
	return 1;
}

void shown_open(struct shown *t, const char *stream, int w, int h)
{
	const struct model_limits limits = model_limits_recent(0);
	static const struct app_clock clock = {.now_ns = no_time, .cpu_ns = no_time};
	struct app_options o = {.child_exit_fd = -1, .save_dir = "/nonexistent", .clock = &clock};
	struct error err = {0};

	*t = (struct shown){.stream = stream};
	t->synth = stream_make(stream);
	if (engine_init(&t->engine, synth_source(t->synth), &limits, &err) < 0 ||
	    display_mem_new(&t->display, w, h) < 0 ||
	    app_new(&t->app, &t->engine, t->display, &o, &err) < 0)
		abort();
	for (int i = 0; i < 8; i++)
		app_tick(t->app, &err);
	app_draw(t->app);
}

void shown_close(struct shown *t)
{
	app_free(t->app);
	t->display->ops->free(t->display);
	engine_deinit(&t->engine);
	synth_free(t->synth);
}

void shown_resize(struct shown *t, int w, int h)
{
	display_mem_resize(t->display, w, h);
	shown_press(t, KEY_K_RESIZE);
}

void shown_press(struct shown *t, uint32_t key)
{
	app_key(t->app, &(struct display_input){.key = key});
	app_draw(t->app);
}

void shown_type(struct shown *t, const char *keys)
{
	for (; *keys; keys++)
		shown_press(t, *keys == '>' ? KEY_K_ENTER : (uint32_t)*keys);
}
