// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend story`: lists the stories, or shows one: the screen with callouts while its workload
 * runs, or the recording that ships; then the figures beside the published ones. Without a terminal
 * it prints tables and figures. The measured command is this program again, with --work, which
 * hands its figures on in a file in memory.
 */
#include "kontend/app.h"
#include "kontend/jsonw.h"
#include "kontend/mem.h"
#include "kontend/privs.h"
#include "kontend/story-figures.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 24, LINE = 256, SELF = 4096, NAME = 32, MACHINE = 300, ROWS = 5 };

/* A story that is shown, and all that its options borrow. */
struct show {
	const struct opts *o;
	const struct story *story;
	struct opts how; /* of the screen or the report */
	char self[SELF], measure[LINE], load[LINE], path[STORY_PATH], name[NAME], time[NAME];
	char *measure_words[WORDS], *command[WORDS];
	struct app_callout callouts[STORY_CALLOUTS];
	struct app_walk walk;
	int figures_fd; /* what the workload writes; -1: nothing */
};

static bool is_json(const struct opts *o)
{
	return o->format && strcmp(o->format, "json") == 0;
}

static void list_json(void)
{
	struct jsonw j = {.out = stdout};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.stories/1");
	jsonw_begin(&j, "stories", '[', false);
	for (const struct story *s = story_table; s->name; s++) {
		struct error why = {0};
		char command[LINE];
		jsonw_begin(&j, NULL, '{', true);
		jsonw_str(&j, "story", s->name);
		jsonw_str(&j, "title", s->title);
		jsonw_str(&j, "published", s->published);
		jsonw_str(&j, "measure", s->measure);
		snprintf(command, sizeof(command), "story %s --work", s->name);
		jsonw_str(&j, "command", s->load ? s->load : command);
		story_check(s, privs_now(), &why);
		jsonw_str(&j, "missing", why.code ? why.text : NULL);
		jsonw_end(&j, '}');
	}
	jsonw_end(&j, ']');
	jsonw_end(&j, '}');
}

static int list(const struct opts *o)
{
	if (is_json(o)) {
		list_json();
		return cmd_flush(CMD_EXIT_OK);
	}
	for (const struct story *s = story_table; s->name; s++) {
		struct error why = {0};
		if (s != story_table && (s - 1)->published && !s->published)
			printf("\n");
		printf("%-9s %s\n", s->name, s->title);
		if (story_check(s, privs_now(), &why) < 0)
			printf("%-9s not here, but recorded: %s\n", "", why.text);
	}
	printf("\n'kontend story NAME' shows one; with --recorded it needs no rights.\n");
	return cmd_flush(CMD_EXIT_OK);
}

static int refuse(const char *name)
{
	struct error err = {0};
	char names[LINE];
	size_t n = 0;

	for (const struct story *s = story_table; s->name && n < sizeof(names); s++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", s->name);
	error_set(&err, -EINVAL, "There is no story '%.40s': give one of %s", name, names);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

static const char *machine_of(char buf[MACHINE])
{
	struct utsname u;

	if (uname(&u) < 0)
		return "this machine";
	snprintf(buf, MACHINE, "%ld CPUs, Linux %.100s, %.60s", sysconf(_SC_NPROCESSORS_ONLN),
		 u.release, u.machine);
	return buf;
}

static void print_figures(const struct show *w, const struct story_figures *f)
{
	const struct story *s = w->story;
	char machine[MACHINE];
	const char *of = w->o->recorded ? s->recorded : machine_of(machine);

	if (is_json(w->o))
		story_figures_json(stdout, s, f, of, w->o->recorded);
	else
		story_figures_text(stdout, s, f, of, w->o->recorded);
}

/* Text of the workload; NULL: it has written nothing, or there is no memory. */
static char *read_written(const struct show *w, size_t *ret_len)
{
	struct stat st;

	if (w->figures_fd < 0 || fstat(w->figures_fd, &st) < 0 || !st.st_size)
		return NULL;
	*ret_len = (size_t)st.st_size;
	char *text = mem_calloc(*ret_len + 1, 1);
	if (text && pread(w->figures_fd, text, *ret_len, 0) == (ssize_t)*ret_len)
		return text;
	mem_free(text);
	return NULL;
}

/* 0; -ENODATA: there are none. */
static int read_figures(const struct show *w, struct story_figures *ret)
{
	size_t n = 0;
	char *text = read_written(w, &n);
	int code = text ? story_figures_parse(ret, w->story, text, n) : -ENODATA;

	mem_free(text);
	return code == 0 && !ret->n ? -ENODATA : code;
}

/* A workload that fails writes a comment, which says why. */
static void take_reason(const struct show *w, struct error *err)
{
	size_t n = 0;
	char *text = read_written(w, &n);

	if (text && *text == '#')
		error_set(err, -ECHILD, "%.*s", (int)strcspn(text + 2, "\n"), text + 2);
	mem_free(text);
}

static int show_figures(const struct show *w, struct error *err)
{
	struct story_figures f = {0};
	int code;

	if (w->o->recorded) {
		code = story_figures_recorded(w->story, &f, err);
	} else if ((code = read_figures(w, &f)) < 0) {
		error_set(err, code,
			  "There are no figures: the workload had not done its first round. "
			  "'kontend story %s --work' prints them",
			  w->story->name);
	}
	if (code == 0)
		print_figures(w, &f);
	story_figures_deinit(&f);
	return code;
}

/* Options of the story's own, with those of the terminal and of the configuration. */
static int take_options(struct show *w, const char *verb, struct error *err)
{
	char *rest = NULL;
	int n = 0;

	snprintf(w->measure, sizeof(w->measure), "kontend %s %s", verb,
		 w->o->recorded ? "" : w->story->measure);
	for (char *one = strtok_r(w->measure, " ", &rest); one && n < WORDS - 1;
	     one = strtok_r(NULL, " ", &rest))
		w->measure_words[n++] = one;
	if (opts_parse(&w->how, n, w->measure_words, err) < 0)
		return err->code;
	w->how.color = w->o->color;
	w->how.theme = w->o->theme;
	w->how.ascii = w->o->ascii;
	w->how.no_mouse = w->o->no_mouse;
	w->how.quiet = w->o->quiet;
	w->how.no_sandbox = w->o->no_sandbox;
	w->how.columns = w->o->columns;
	w->how.config_path = w->o->config_path;
	w->how.groups = w->o->groups;
	w->how.argv = w->o->argv;
	return 0;
}

static int find_self(struct show *w, struct error *err)
{
	ssize_t n = readlink("/proc/self/exe", w->self, sizeof(w->self) - 1);

	if (n <= 0)
		return error_errno(err, n ? -errno : -ENOENT, "Cannot find this program again");
	w->self[n] = '\0';
	return 0;
}

static int add_words(struct show *w, int n, char *line)
{
	char *rest = NULL;

	for (char *one = strtok_r(line, " ", &rest); one && n < WORDS - 1;
	     one = strtok_r(NULL, " ", &rest))
		w->command[n++] = one;
	w->command[n] = NULL;
	return n;
}

/* This program, with --work. @repeat: until it is ended. */
static int make_command(struct show *w, bool repeat, struct error *err)
{
	static const char without_end[] = " --duration 24h";
	char time[NAME] = "";

	/* It is inherited. */
	w->figures_fd = memfd_create("story-figures", 0);
	if (w->figures_fd < 0)
		return error_errno(err, -errno, "Cannot make a file in memory for the figures");
	if (w->o->duration_ns)
		snprintf(time, sizeof(time), " --duration %jums",
			 (uintmax_t)(w->o->duration_ns / 1000000));
	snprintf(w->load, sizeof(w->load), "story %s --work%s --output /proc/self/fd/%d",
		 w->story->name,
		 *time	  ? time
		 : repeat ? without_end
			  : "",
		 w->figures_fd);
	w->command[0] = w->self;
	add_words(w, 1, w->load);
	return find_self(w, err);
}

/* Measures another command in place of the workload, whose figures are taken apart. */
static void measure_load(struct show *w)
{
	snprintf(w->load, sizeof(w->load), "%s", w->story->load);
	add_words(w, 1, w->load);
}

static int run_alone(struct show *w, struct error *err)
{
	int status = 0;

	if (make_command(w, false, err) < 0)
		return err->code;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		execv(w->self, w->command);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return error_errno(err, -errno, "Cannot start the workload");
	/* It has printed why. */
	return status ? -ECHILD : 0;
}

static int take_command(struct show *w, bool repeat, struct error *err)
{
	if (make_command(w, repeat, err) < 0)
		return err->code;
	if (w->story->load)
		measure_load(w);
	w->how.command = w->command;
	return 0;
}

static void make_walk(struct show *w)
{
	const struct story *s = w->story;

	for (size_t i = 0; i < story_n_callouts(s); i++) {
		const struct story_callout *c = &s->callouts[i];
		w->callouts[i] = (struct app_callout){c->view, c->title, c->text, c->enter};
	}
	snprintf(w->name, sizeof(w->name), "story %s", s->name);
	w->walk = (struct app_walk){w->name, w->callouts, story_n_callouts(s)};
	w->how.tour = true;
	w->how.walk = &w->walk;
}

static int show_screen(struct show *w, struct error *err)
{
	if (take_options(w, w->o->recorded ? "replay" : "live", err) < 0)
		return CMD_EXIT_FAILURE;
	make_walk(w);
	if (w->o->recorded) {
		if (story_recording(w->story, w->path, err) < 0)
			return CMD_EXIT_FAILURE;
		w->how.topic = w->path;
		w->how.at = w->story->at;
		return cmd_replay(&w->how);
	}
	if (take_command(w, true, err) < 0)
		return CMD_EXIT_FAILURE;
	w->how.duration_ns = w->o->duration_ns;
	return cmd_live(&w->how);
}

static int print_tables(struct show *w, struct error *err)
{
	if (take_options(w, "report", err) < 0)
		return CMD_EXIT_FAILURE;
	w->how.view = w->story->views;
	w->how.rows = ROWS;
	if (w->o->recorded) {
		if (story_recording(w->story, w->path, err) < 0)
			return CMD_EXIT_FAILURE;
		w->how.input = w->path;
	} else if (take_command(w, false, err) < 0) {
		return CMD_EXIT_FAILURE;
	}
	int status = cmd_report(&w->how);
	if (status == CMD_EXIT_OK)
		printf("\n");
	return status;
}

/* Figures of a benchmark that measures by itself, when nothing else does. */
static int take_apart(struct show *w, struct error *err)
{
	if (w->o->recorded || !w->story->load)
		return 0;
	cmd_say(w->o, "the figures are measured apart: some seconds");
	close(w->figures_fd);
	return run_alone(w, err);
}

static int show(struct show *w, struct error *err)
{
	bool is_screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !w->o->format;
	int status = CMD_EXIT_OK;

	if (is_json(w->o)) {
		if (!w->o->recorded && run_alone(w, err) < 0)
			return CMD_EXIT_FAILURE;
	} else {
		status = is_screen ? show_screen(w, err) : print_tables(w, err);
	}
	if (status != CMD_EXIT_OK) {
		take_reason(w, err);
		return status;
	}
	if (!is_json(w->o) && take_apart(w, err) < 0)
		return CMD_EXIT_FAILURE;
	return show_figures(w, err) < 0 ? CMD_EXIT_FAILURE : CMD_EXIT_OK;
}

static int work_alone(const struct opts *o, const struct story *s)
{
	struct error err = {0};
	int r = story_work(s, o->output, stdout, o->duration_ns, &err);

	if (r > 0)
		return CMD_EXIT_SIGNAL + r;
	return r < 0 ? cmd_fail(CMD_EXIT_FAILURE, &err) : cmd_flush(CMD_EXIT_OK);
}

/* Options that say nothing beside others. */
static int check(const struct opts *o, struct error *err)
{
	if (o->work && (o->recorded || o->format))
		return error_set(err, -EINVAL,
				 "--work runs the workload alone: leave out --recorded and "
				 "--format");
	if (o->output && !o->work)
		return error_set(err, -EINVAL, "--output is for the figures of --work");
	if (o->recorded && o->duration_ns)
		return error_set(err, -EINVAL, "--recorded runs no workload: leave out --duration");
	if (!o->topic && (o->work || o->recorded || o->duration_ns))
		return error_set(err, -EINVAL, "Give a story, as in 'kontend story fork'");
	return 0;
}

static int cannot(const struct story *s, const struct error *why)
{
	struct error err = {0};

	error_set(&err, why->code, "%s: 'kontend story %s --recorded' shows a recording", why->text,
		  s->name);
	return cmd_fail(CMD_EXIT_FAILURE, &err);
}

int cmd_story(const struct opts *o)
{
	struct show w = {.o = o, .figures_fd = -1};
	struct error err = {0};

	if (check(o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (!o->topic)
		return list(o);
	w.story = story_find(o->topic);
	if (!w.story)
		return refuse(o->topic);
	if (!o->recorded && story_check(w.story, privs_now(), &err) < 0)
		return cannot(w.story, &err);
	if (o->work)
		return work_alone(o, w.story);
	int status = show(&w, &err);
	if (w.figures_fd >= 0)
		close(w.figures_fd);
	return err.code ? cmd_fail(status, &err) : cmd_flush(status);
}

int cmd_story_screenshot(const struct opts *o, int (*take)(const struct opts *o))
{
	struct show w = {.o = o, .story = story_find(o->story), .figures_fd = -1};
	struct error err = {0};

	w.how = *o;
	w.how.story = NULL;
	w.how.at = o->at || o->time ? o->at : w.story->at;
	make_walk(&w);
	if (story_recording(w.story, w.path, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	w.how.topic = w.path;
	return take(&w.how);
}
