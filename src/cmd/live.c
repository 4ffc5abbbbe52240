// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend live`: the pipe of a run with the terminal user interface at its end. The source is
 * opened first, so that an error of the kernel is printed on a terminal that is still in order. A
 * measured command must not write over the screen, so it is born with /dev/null for its standard
 * streams.
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

static int show_screen(struct run *run, const struct opts *o, const char *filter, struct error *err)
{
	const struct app_workload demo = {start_demo, run};
	struct caught caught = {0};
	const struct app_catcher catcher = {take_incidents, &caught};

	if (caught_begin(&caught, &run->engine, o, err) < 0)
		return CMD_EXIT_FAILURE;
	const bool any = caught.triggers != NULL;
	const struct app_options a = {.delay_ns = o->delay_ns,
				      .duration_ns = o->duration_ns,
				      .filter = filter,
				      .child_exit_fd = -1,
				      .workload = &demo,
				      .tour = o->tour,
				      .incidents = any ? &caught.all : NULL,
				      .catcher = any ? &catcher : NULL,
				      .has_history = true,
				      .note = run->refused.code ? run->refused.text : NULL};

	int status = cmd_screen(o, &run->engine, run, a, NULL, err);
	caught_end(&caught);
	return status;
}

static int run_screen(struct run *run, const struct opts *o, const char *filter)
{
	struct error err = {0};

	if (open_run(run, o, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	int status = show_screen(run, o, filter, &err);
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
