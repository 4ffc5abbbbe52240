// SPDX-License-Identifier: GPL-2.0-only
#include "app-stage.h"
#include "display-mem.h"
#include "kontend/history.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static uint64_t stage_now(void *arg)
{
	return ((struct stage *)arg)->now_ns;
}

/* Twenty seconds from 100 s on; a wait of 100 ms in each. */
static struct synth *make_synth(void)
{
	struct synth *s = synth_new(1);

	synth_prologue(s, synth_kallsyms);
	synth_tick(s, 100 * S);
	for (uint64_t i = 100; i < 100 + SECONDS; i++) {
		synth_begin(s, 0, i * S + S / 2, 7, 7, 0xffff888000001000, LCB_F_MUTEX, NULL, 0);
		synth_end(s, 0, i * S + S / 2 + S / 10, 7, 7, 0xffff888000001000, 0);
		synth_tick(s, (i + 1) * S);
	}
	return s;
}

static void stage_open(struct stage *st, bool is_read)
{
	const struct model_limits limits = model_limits_recent(0);
	struct error err = {0};

	*st = (struct stage){.now_ns = 7};
	st->synth = make_synth();
	assert_int_equal(engine_init(&st->engine, synth_source(st->synth), &limits, &err), 0);
	assert_int_equal(
		(is_read ? timeline_new : timeline_open)(&st->timeline, &st->engine, NULL, &err),
		0);
	if (is_read)
		assert_int_equal(timeline_seek(st->timeline, 0, &err), 0);
	assert_int_equal(display_mem_new(&st->display, 80, 24), 0);
}

static void stage_show(struct stage *st, bool is_read)
{
	struct app_options o = {.child_exit_fd = -1, .recording = "x.data"};

	stage_open(st, is_read);
	st->clock = (struct app_clock){.now_ns = stage_now, .cpu_ns = stage_now, .arg = st};
	o.clock = &st->clock;
	o.timeline = st->timeline;
	assert_int_equal(app_new(&st->app, &st->engine, st->display, &o, NULL), 0);
	app_draw(st->app);
}

void stage_replay(struct stage *st)
{
	stage_show(st, true);
}

void stage_reading(struct stage *st)
{
	stage_show(st, false);
}

void stage_close(struct stage *st)
{
	app_free(st->app);
	st->display->ops->free(st->display);
	timeline_free(st->timeline);
	engine_deinit(&st->engine);
	synth_free(st->synth);
}

void stage_live(struct stage *st)
{
	const struct model_limits limits = model_limits_recent(0);
	struct app_options o = {.child_exit_fd = -1, .has_history = true};
	struct error err = {0};
	struct source *s;

	*st = (struct stage){.now_ns = 7};
	st->synth = make_synth();
	s = synth_source(st->synth);
	assert_int_equal(history_new(&s, s, NULL, &err), 0);
	assert_int_equal(engine_init(&st->engine, s, &limits, &err), 0);
	assert_int_equal(display_mem_new(&st->display, 80, 24), 0);
	assert_int_equal(app_new(&st->app, &st->engine, st->display, &o, NULL), 0);
	app_draw(st->app);
}

void stage_press(struct stage *st, uint32_t key)
{
	app_key(st->app, &(struct display_input){.key = key});
	app_draw(st->app);
}

int stage_pass(struct stage *st, uint64_t ns)
{
	struct error err = {0};

	st->now_ns += ns;
	return app_tick(st->app, &err);
}

uint64_t stage_at(const struct stage *st)
{
	return timeline_now_ns(st->timeline) / S;
}

uint64_t stage_counted(const struct stage *st)
{
	uint64_t n = 0;

	for (int i = 0; i < LOCK_TYPES; i++)
		n += st->engine.model->types[i].contended;
	return n;
}

bool stage_shows(const struct stage *st, const char *text)
{
	char *screen;
	bool found;

	assert_int_equal(screen_text(app_screen(st->app), &screen), 0);
	found = strstr(screen, text) != NULL;
	mem_free(screen);
	return found;
}

void stage_go(struct stage *st, const char *where)
{
	stage_press(st, '@');
	for (; *where; where++)
		stage_press(st, (uint32_t)*where);
	stage_press(st, KEY_K_ENTER);
}

void stage_ticks(struct stage *st, int n)
{
	struct error err = {0};

	while (n-- > 0)
		assert_int_equal(app_tick(st->app, &err), ENGINE_TICK);
	app_draw(st->app);
}

void stage_to_the_end(struct stage *st)
{
	struct error err = {0};

	for (int i = 0; i < 1000; i++)
		assert_true(app_tick(st->app, &err) >= 0);
	app_draw(st->app);
}
