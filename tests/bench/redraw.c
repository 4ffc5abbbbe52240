// SPDX-License-Identifier: GPL-2.0-only
/*
 * Microseconds of CPU time of a full frame at 200x60: the queries of the view, drawing into cells,
 * and comparing every cell with what the display shows. The display forgets what it shows before
 * each frame, as after a resize. Frames of each view are timed one by one; median and worst are
 * printed.
 *
 * Arguments: frames of each view (default 200).
 */
#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/command.h"
#include "kontend/view.h"
#include "streams.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FRAMES = 200, FRAMES_MAX = 10000 };

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void time_view(struct app *a, struct display *d, const char *what, int frames)
{
	static double us[FRAMES_MAX];

	for (int i = 0; i < frames; i++) {
		double from;

		d->ops->redraw(d);
		from = cpu_us();
		app_draw(a);
		us[i] = cpu_us() - from;
	}
	qsort(us, (size_t)frames, sizeof(us[0]), compare);
	printf("redraw 200x60 %-24s %7.0f us median %7.0f us worst of %d\n", what, us[frames / 2],
	       us[frames - 1], frames);
}

static void type(struct app *a, const char *keys)
{
	for (; *keys; keys++)
		app_key(a, &(struct display_input){.key = (uint32_t)*keys});
}

static struct app *open_view(struct engine *e, struct display *d, const char *view)
{
	const struct app_options options = {.child_exit_fd = -1, .view = view};
	struct error err = {0};
	struct app *a;

	if (app_new(&a, e, d, &options, &err) < 0)
		abort();
	return a;
}

/* With the page of the selected row beside the view, where it has one, and without. */
static void time_both(struct engine *e, struct display *d, const char *stream,
		      const struct view_ops *ops, int frames)
{
	struct app *a = open_view(e, d, ops->name);
	char what[64];

	snprintf(what, sizeof(what), "%s/%s", stream, ops->name);
	time_view(a, d, what, frames);
	if (ops->page) {
		type(a, ":side");
		app_key(a, &(struct display_input){.key = KEY_K_ENTER});
		snprintf(what, sizeof(what), "%s/%s alone", stream, ops->name);
		time_view(a, d, what, frames);
	}
	app_free(a);
}

static void time_stream(const char *name, int frames)
{
	struct synth *synth = stream_make(name);
	struct error err = {0};
	struct display *d;
	struct engine e;
	char what[64];

	if (!synth || engine_init(&e, synth_source(synth), NULL, &err) < 0 ||
	    display_mem_new(&d, 200, 60) < 0)
		abort();
	struct app *a = open_view(&e, d, "locks");
	while (app_tick(a, &err) == ENGINE_TICK)
		app_draw(a);
	app_key(a, &(struct display_input){.key = KEY_K_ENTER});
	snprintf(what, sizeof(what), "%s/detail", name);
	time_view(a, d, what, frames);
	app_free(a);
	for (size_t i = 0; view_roots[i]; i++)
		time_both(&e, d, name, view_roots[i], frames);
	d->ops->free(d);
	engine_deinit(&e);
	synth_free(synth);
}

int main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : FRAMES;

	if (frames < 1 || frames > FRAMES_MAX)
		frames = FRAMES;
	time_stream("storm", frames);
	time_stream("many", frames);
	return 0;
}
