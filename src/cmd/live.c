// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend live`: the pipe of a run with the terminal user interface at its end. The source is
 * opened after a first frame without figures; an error of the kernel is printed when the terminal
 * has its settings back. A measured command must not write over the screen, so it is born with
 * /dev/null for its standard streams.
 */
#include "kontend/caught.h"
#include "screen.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The standard streams, put aside while they are /dev/null. */
struct silence {
	int saved[3];
	int null;
};

static void silence_begin(struct silence *s)
{
	s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++) {
		s->saved[fd] = s->null < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (s->saved[fd] >= 0)
			dup2(s->null, fd);
	}
}

static void silence_end(struct silence *s)
{
	for (int fd = 0; fd < 3; fd++) {
		if (s->saved[fd] < 0)
			continue;
		dup2(s->saved[fd], fd);
		close(s->saved[fd]);
	}
	if (s->null >= 0)
		close(s->null);
}

static int open_run(struct run *run, const struct opts *o, struct error *err)
{
	struct silence s = {.saved = {-1, -1, -1}, .null = -1};
	int r;

	if (o->command)
		silence_begin(&s);
	r = run_open(run, o, err);
	silence_end(&s);
	return r;
}

static int start_demo(void *arg, struct error *err)
{
	return run_demo(arg, err);
}

static size_t take_incidents(void *arg)
{
	return caught_take(arg);
}

struct live {
	const struct opts *o;
	struct run *run;
	struct caught caught;
	struct app_catcher catcher;
};

static int open_live(void *ctx, struct app_options *a, struct error *err)
{
	struct live *l = ctx;
	int r = open_run(l->run, l->o, err);

	r = r < 0 ? r : caught_begin(&l->caught, &l->run->engine, l->o, err);
	if (r < 0)
		return r;
	a->note = l->run->refused.code ? l->run->refused.text : NULL;
	if (!l->caught.triggers)
		return 0;
	a->incidents = &l->caught.all;
	a->catcher = &l->catcher;
	return 0;
}

static int show_screen(struct live *l, const char *filter, struct error *err)
{
	const struct opts *o = l->o;
	const struct app_workload demo = {start_demo, l->run};
	const struct app_options a = {.delay_ns = o->delay_ns,
				      .duration_ns = o->duration_ns,
				      .filter = filter,
				      .child_exit_fd = -1,
				      .workload = o->walk ? NULL : &demo,
				      .tour = o->tour,
				      .walk = o->walk,
				      .has_history = true};
	const struct screen_opening opening = {
		.open = open_live,
		.ctx = l,
		.note = o->start_after_ns
				? "Waiting for the time that --start-after gives; Ctrl-C leaves"
			: o->start_at ? "Waiting for the time that --start-at gives; Ctrl-C leaves"
			: o->no_bpf   ? "Opening events ..."
				      : "Loading BPF programs ...",
	};

	l->catcher = (struct app_catcher){take_incidents, &l->caught};
	int status = cmd_screen(o, &l->run->engine, l->run, a, NULL, &opening, err);
	caught_end(&l->caught);
	return status;
}

static int run_screen(struct run *run, const struct opts *o, const char *filter)
{
	struct live l = {.o = o, .run = run};
	struct error err = {0};
	int status = show_screen(&l, filter, &err);
	int command = run_command_status(run);

	if (err.code)
		return cmd_fail(status, &err);
	if (*run->info.note)
		cmd_say(o, "%s", run->info.note);
	return status == CMD_EXIT_OK && command >= 0 ? command : status;
}

int cmd_live(const struct opts *o)
{
	struct run run = {.remember = true, .trigger_ns = caught_floor_ns(o)};
	struct error err = {0}, end = {0};
	char filter[OPTS_FILTER];
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		error_set(&err, -ENOTTY,
			  "Standard %s is no terminal to draw on: 'kontend report' prints instead",
			  isatty(STDIN_FILENO) ? "output" : "input");
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	}
	int r = cmd_check_rows(o, cmd_table_of(o->view), filter, &err);
	if (r == 0)
		r = caught_check(o, &err);
	if (r == 0)
		r = run_target(&run, o, &err);
	if (r < 0)
		status = cmd_fail(r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	else
		status = run_screen(&run, o, o->filter ? filter : NULL);
	if (run_close(&run, &end) < 0)
		status = cmd_fail(CMD_EXIT_FAILURE, &end);
	return status;
}
