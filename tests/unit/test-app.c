// SPDX-License-Identifier: GPL-2.0-only
#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/view.h"
#include "synth.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000ull
#define SAVED "kontend-overview-20261120-142006" /* as synth.c has it, UTC */

struct stage {
	struct synth *synth;
	struct engine engine;
	struct display *display;
	struct app_options options;
	struct app *app;
	char dir[40];
};

/* Three seconds; a task waits for a mutex from the second one on, and 7 records get lost then. */
static void stage_open(struct stage *st)
{
	const struct model_limits limits = model_limits_recent(0);
	const uint64_t chain[] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH),
				  synth_addr(SYNTH_PIPE_READ)};
	struct error err = {0};

	*st = (struct stage){.dir = "/tmp/kontend-app-XXXXXX"};
	st->synth = synth_new(1);
	synth_prologue(st->synth, synth_kallsyms);
	synth_tick(st->synth, 1 * S);
	synth_begin(st->synth, 0, 1 * S + 5, 77, 77, 0xffff888000001000, LCB_F_MUTEX, chain, 2);
	synth_lost(st->synth, 0, 1 * S + 6, 7);
	synth_tick(st->synth, 2 * S);
	synth_tick(st->synth, 3 * S);
	assert_int_equal(engine_init(&st->engine, synth_source(st->synth), &limits, &err), 0);
	assert_int_equal(display_mem_new(&st->display, 100, 30), 0);
	assert_non_null(mkdtemp(st->dir));
	st->options = (struct app_options){.child_exit_fd = -1, .save_dir = st->dir};
}

static void stage_start(struct stage *st)
{
	struct error err = {0};

	stage_open(st);
	assert_int_equal(app_new(&st->app, &st->engine, st->display, &st->options, &err), 0);
}

static void stage_close(struct stage *st)
{
	static const char *const saved[] = {SAVED ".svg", SAVED "-2.svg", SAVED "-3.svg",
					    "screen.txt", "screen.svg"};
	char path[PATH_MAX];

	app_free(st->app);
	st->display->ops->free(st->display);
	engine_deinit(&st->engine);
	synth_free(st->synth);
	for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
		snprintf(path, sizeof(path), "%s/%s", st->dir, saved[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(st->dir), 0); /* and no temporary file is left */
}

static void press(struct stage *st, uint32_t key)
{
	app_key(st->app, &(struct display_input){.key = key});
	app_draw(st->app);
}

static void tick(struct stage *st, int expected)
{
	struct error err = {0};

	assert_int_equal(app_tick(st->app, &err), expected);
	app_draw(st->app);
}

static bool shows(const struct stage *st, const char *text)
{
	char *screen;
	bool found;

	assert_int_equal(screen_text(app_screen(st->app), &screen), 0);
	found = strstr(screen, text) != NULL;
	mem_free(screen);
	return found;
}

static void test_same_frame_changes_nothing(void **state)
{
	struct stage st;

	(void)state;
	stage_start(&st);
	tick(&st, ENGINE_TICK);
	assert_true(display_mem_changed(st.display) > 0);
	app_draw(st.app);
	assert_int_equal(display_mem_changed(st.display), 0);
	press(&st, KEY_K_CTRL | 'r');
	assert_int_equal(display_mem_changed(st.display), 100 * 30);
	stage_close(&st);
}

/* A terminal that takes no frame blocks neither the stream nor keys; then it shows the present. */
static void test_goes_on_while_no_frame_is_taken(void **state)
{
	struct stage still, other;

	(void)state;
	stage_start(&still);
	stage_start(&other);
	tick(&still, ENGINE_TICK);
	tick(&other, ENGINE_TICK);
	size_t blits = display_mem_blits(still.display);
	display_mem_hold(still.display, 0);
	press(&still, '2');
	press(&other, '2');
	tick(&still, ENGINE_TICK);
	tick(&other, ENGINE_TICK);
	press(&still, KEY_K_DOWN); /* there are rows, although they were not drawn */
	press(&other, KEY_K_DOWN);
	assert_int_equal(display_mem_blits(still.display), blits);
	assert_int_equal(still.engine.model->n_ticks, 2);
	display_mem_hold(still.display, -1);
	app_draw(still.app);
	assert_int_equal(display_mem_blits(still.display), blits + 1);
	assert_true(shows(&still, "by "));
	char *a, *b;
	assert_int_equal(screen_text(app_screen(still.app), &a), 0);
	assert_int_equal(screen_text(app_screen(other.app), &b), 0);
	assert_string_equal(a, b);
	mem_free(a);
	mem_free(b);
	stage_close(&still);
	stage_close(&other);
}

static void test_pause_holds_the_model(void **state)
{
	struct stage st;

	(void)state;
	stage_start(&st);
	tick(&st, ENGINE_TICK);
	press(&st, ' ');
	assert_true(app_paused(st.app));
	assert_true(shows(&st, "PAUSED"));
	tick(&st, ENGINE_IDLE);
	assert_int_equal(st.engine.model->n_ticks, 1);
	press(&st, ' ');
	assert_false(shows(&st, "PAUSED"));
	tick(&st, ENGINE_TICK);
	tick(&st, ENGINE_TICK);
	tick(&st, ENGINE_END);
	assert_int_equal(st.engine.model->n_ticks, 3);
	/* Losses meanwhile are shown once the queued records are applied. */
	assert_true(shows(&st, "7 records were lost during the pause"));
	assert_true(shows(&st, "lost 7"));
	assert_true(shows(&st, "ended"));
	stage_close(&st);
}

static void type(struct stage *st, const char *text)
{
	for (; *text; text++)
		press(st, (uint32_t)*text);
}

static void assert_saved(const struct stage *st, const char *name, const char *expected)
{
	static char saved[1 << 17];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", st->dir, name);
	assert_true(shows(st, path));
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	saved[fread(saved, 1, sizeof(saved) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(saved, expected);
}

/* The key makes a picture of the screen before its own message. */
static void test_saved_is_what_is_shown(void **state)
{
	struct stage st;
	char path[PATH_MAX], command[PATH_MAX + 16], *picture = NULL, *screen;
	struct stat info;
	size_t len;

	(void)state;
	stage_start(&st);
	tick(&st, ENGINE_TICK);
	FILE *f = open_memstream(&picture, &len);
	assert_non_null(f);
	assert_int_equal(app_picture(st.app, PICTURE_SVG, f), 0);
	fclose(f);
	press(&st, 'P');
	assert_saved(&st, SAVED ".svg", picture);
	free(picture);
	/* A name that is taken, even by a link to nowhere, is left alone. */
	snprintf(path, sizeof(path), "%s/" SAVED "-2.svg", st.dir);
	assert_int_equal(symlink("nowhere", path), 0);
	press(&st, 'P');
	assert_true(shows(&st, SAVED "-3.svg"));
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	/* A name of its own says what it becomes. */
	press(&st, KEY_K_CTRL | 'r');
	assert_int_equal(screen_text(app_screen(st.app), &screen), 0);
	snprintf(command, sizeof(command), ":save %s/screen.txt", st.dir);
	type(&st, command);
	press(&st, KEY_K_ENTER);
	assert_saved(&st, "screen.txt", screen);
	mem_free(screen);
	stage_close(&st);
}

static void test_save_says_why_not(void **state)
{
	struct stage st;

	(void)state;
	stage_open(&st);
	st.options.save_dir = "/no/such/place";
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, NULL), 0);
	app_draw(st.app);
	press(&st, 'P');
	assert_true(shows(&st, "Not saved: /no/such/place: "));
	assert_true(shows(&st, "No such file or directory"));
	type(&st, ":save /no/such/file.txt");
	press(&st, KEY_K_ENTER);
	assert_true(shows(&st, "Not saved: /no/such/file.txt"));
	stage_close(&st);
}

/* Without a folder of the test's own: in the user's, and not where others may write. */
static void test_saves_below_home(void **state)
{
	struct stage st;
	char folder[64], path[PATH_MAX];

	(void)state;
	stage_open(&st);
	setenv("XDG_STATE_HOME", st.dir, 1);
	st.options.save_dir = NULL;
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, NULL), 0);
	app_draw(st.app);
	press(&st, 'P');
	snprintf(folder, sizeof(folder), "%s/kontend", st.dir);
	snprintf(path, sizeof(path), "%s/kontend-overview.svg", folder);
	assert_true(shows(&st, "saved as "));
	assert_true(shows(&st, path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	press(&st, 'P');
	assert_true(shows(&st, "Not saved: the folder "));
	assert_true(shows(&st, "belongs to another user"));
	assert_int_equal(rmdir(folder), 0);
	unsetenv("XDG_STATE_HOME");
	stage_close(&st);
}

static void test_filters_belong_to_views(void **state)
{
	struct stage st;

	(void)state;
	stage_start(&st);
	app_draw(st.app);
	press(&st, '2');
	type(&st, "/mutex");
	press(&st, KEY_K_ENTER);
	assert_string_equal(app_filter(st.app), "mutex");
	press(&st, '3');
	assert_string_equal(app_filter(st.app), "");
	press(&st, '2');
	assert_string_equal(app_filter(st.app), "mutex");
	press(&st, KEY_K_ESC);
	assert_string_equal(app_filter(st.app), "");
	assert_false(app_done(st.app));
	press(&st, KEY_K_ESC);
	assert_false(app_done(st.app)); /* back never quits */
	press(&st, 'q');
	assert_true(app_done(st.app));
	stage_close(&st);
}

/* Keys that come at once mean what they would mean one by one. */
static void test_keys_typed_ahead(void **state)
{
	struct stage st;

	(void)state;
	stage_start(&st);
	tick(&st, ENGINE_TICK);
	tick(&st, ENGINE_TICK);
	app_key(st.app, &(struct display_input){.key = '2'});
	app_key(st.app, &(struct display_input){.key = KEY_K_ENTER});
	app_draw(st.app);
	assert_true(shows(&st, "locks ›"));
	stage_close(&st);
}

static void test_depth_is_bounded(void **state)
{
	const struct query_scope all = {0};
	struct stage st;

	(void)state;
	stage_start(&st);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(app_push(st.app, &view_detail, &all, "a \033 title"), 0);
		app_draw(st.app);
	}
	assert_true(shows(&st, "No deeper"));
	assert_true(shows(&st, "a ? title"));
	for (int i = 0; i < 20; i++)
		press(&st, KEY_K_LEFT);
	assert_false(shows(&st, "title"));
	stage_close(&st);
}

static void test_keys_of_all_kinds_on_all_views(void **state)
{
	struct stage st;
	uint32_t seed = 7;

	(void)state;
	stage_start(&st);
	tick(&st, ENGINE_TICK);
	tick(&st, ENGINE_TICK);
	for (int i = 0; i < 6000; i++) {
		struct display_input in = {0};

		seed = seed * 1664525 + 1013904223;
		in.key = seed >> 8 & 1
				 ? 32 + (seed >> 9) % 95
				 : KEY_FIRST + 1 + (seed >> 9) % (KEY_K_WHEEL_DOWN - KEY_FIRST);
		in.x = (int)(seed >> 16 & 127);
		in.y = (int)(seed >> 23 & 31);
		if (in.key == 'P')
			continue;
		app_key(st.app, &in);
		if (i % 50 == 0)
			display_mem_resize(st.display, 1 + in.x * 2, 1 + in.y);
		app_draw(st.app);
		/* The palette can save under any name; nothing typed here may. */
		if (in.key == ':')
			app_key(st.app, &(struct display_input){.key = KEY_K_ESC});
	}
	stage_close(&st);
}

static void test_options_that_are_wrong(void **state)
{
	struct error err = {0};
	struct stage st;

	(void)state;
	stage_open(&st);
	st.options.view = "nosuch";
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, &err), -EINVAL);
	assert_string_equal(err.text, "No view is called 'nosuch'");
	assert_null(st.app);
	stage_close(&st);
}

static void test_every_allocation_may_fail(void **state)
{
	struct stage st;
	long needed;

	(void)state;
	stage_start(&st);
	app_free(st.app);
	mem_fail_after(-1);
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, NULL), 0);
	needed = mem_count();
	assert_true(needed > 3);
	for (long k = 0; k < needed; k++) {
		struct error err = {0};

		app_free(st.app);
		st.app = NULL;
		mem_fail_after(k);
		assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, &err),
				 -ENOMEM);
		mem_fail_after(-1);
		assert_true(err.text[0]);
		assert_null(st.app);
	}
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, NULL), 0);
	for (long k = 0; k < 60; k++) {
		mem_fail_after(k);
		app_key(st.app, &(struct display_input){.key = (uint32_t)('1' + k % 7)});
		app_draw(st.app);
		app_key(st.app, &(struct display_input){.key = KEY_K_ENTER});
		app_draw(st.app);
		mem_fail_after(-1);
	}
	tick(&st, ENGINE_TICK);
	stage_close(&st);
}

static void test_run_ends_with_the_quit_key(void **state)
{
	struct error err = {0};
	struct stage st;
	int child[2];

	(void)state;
	stage_open(&st);
	assert_int_equal(pipe(child), 0);
	close(child[1]);
	st.options.child_exit_fd = child[0];
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, &err), 0);
	display_mem_push(st.display, &(struct display_input){.key = '2'});
	display_mem_push(st.display, &(struct display_input){.key = 'q'});
	assert_int_equal(app_run(st.app, &err), 0);
	assert_int_equal(app_signal(st.app), 0);
	app_draw(st.app);
	assert_true(shows(&st, "The command has ended"));
	close(child[0]);
	stage_close(&st);
}

/* A display whose other side went away. */
static int gone_fd(struct display *d)
{
	static int fd = -1; /* kept open for the whole test program */
	int fds[2];

	(void)d;
	if (fd < 0 && pipe(fds) == 0) {
		close(fds[1]);
		fd = fds[0];
	}
	return fd;
}

static void test_run_ends_when_the_terminal_is_gone(void **state)
{
	struct display_ops ops;
	struct error err = {0};
	struct stage st;

	(void)state;
	stage_open(&st);
	ops = *st.display->ops;
	ops.fd = gone_fd;
	st.display->ops = &ops;
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, &err), 0);
	assert_int_equal(app_run(st.app, &err), 0);
	assert_int_equal(app_signal(st.app), SIGHUP);
	stage_close(&st);
}

static void raise_at_blit(struct display *d, const struct display_cell *cells, int w, int h)
{
	(void)d;
	(void)cells;
	(void)w;
	(void)h;
	raise(SIGTERM);
}

static void test_run_ends_with_a_signal_and_gives_handlers_back(void **state)
{
	struct sigaction before, after;
	struct display_ops ops;
	struct error err = {0};
	struct stage st;

	(void)state;
	stage_open(&st);
	ops = *st.display->ops;
	ops.blit = raise_at_blit;
	st.display->ops = &ops;
	assert_int_equal(app_new(&st.app, &st.engine, st.display, &st.options, &err), 0);
	sigaction(SIGTERM, NULL, &before);
	assert_int_equal(app_run(st.app, &err), 0);
	sigaction(SIGTERM, NULL, &after);
	assert_int_equal(app_signal(st.app), SIGTERM);
	assert_ptr_equal(before.sa_handler, after.sa_handler);
	stage_close(&st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_frame_changes_nothing),
		cmocka_unit_test(test_goes_on_while_no_frame_is_taken),
		cmocka_unit_test(test_pause_holds_the_model),
		cmocka_unit_test(test_saved_is_what_is_shown),
		cmocka_unit_test(test_save_says_why_not),
		cmocka_unit_test(test_saves_below_home),
		cmocka_unit_test(test_filters_belong_to_views),
		cmocka_unit_test(test_keys_typed_ahead),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_keys_of_all_kinds_on_all_views),
		cmocka_unit_test(test_options_that_are_wrong),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_run_ends_with_the_quit_key),
		cmocka_unit_test(test_run_ends_when_the_terminal_is_gone),
		cmocka_unit_test(test_run_ends_with_a_signal_and_gives_handlers_back),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
