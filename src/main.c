// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the command line to a verb, and from its result to an exit status. SIGPIPE and SIGXFSZ are
 * ignored: a reader that has gone and a file that may not grow (ulimit -f) are errors of write(),
 * so that kontend says what failed and removes what it began.
 */
#include "cmd/verbs.h"
#include "kontend/codeset.h"
#include "kontend/mem.h"
#include "kontend/srclines.h"
#include "options/config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The next file opened, an event or a report, would get the number of a closed standard stream. */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_RDWR) < 0)
			return;
}

/*
 * The parent process may have made our output pipe non-blocking, as node.js and ssh do: then data
 * that is written faster than it is read would be lost. The flag belongs to the open file, which
 * other processes share: so the pipe is opened again, and blocks only for us. A socket cannot be
 * opened again: its flag is cleared.
 */
static void let_output_wait(int fd)
{
	int flags = fcntl(fd, F_GETFL), again = -1;
	char path[32];
	struct stat st;

	if (flags < 0 || !(flags & O_NONBLOCK) || fstat(fd, &st) < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISFIFO(st.st_mode)) /* without waiting for a reader: there may be none any more */
		again = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (again >= 0 && dup2(again, fd) == fd)
		fcntl(fd, F_SETFL, 0);
	else if (S_ISSOCK(st.st_mode))
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	if (again >= 0)
		close(again);
}

static bool reads_config(enum opts_verb v)
{
	static const char option[] = "config";

	return opts_find(v, option, sizeof(option) - 1) != NULL;
}

static int run_verb(const struct opts *o)
{
	switch (o->verb) {
	case VERB_LIVE:
		return cmd_live(o);
	case VERB_REPORT:
		return cmd_report(o);
	case VERB_WHY:
		return cmd_why(o);
	case VERB_REPLAY:
		return cmd_replay(o);
	case VERB_SCRIPT:
		return cmd_script(o);
	case VERB_DIFF:
		return cmd_diff(o);
	case VERB_MERGE:
		return cmd_merge(o);
	case VERB_EXPORT:
		return cmd_export(o);
	case VERB_RECORD:
		return cmd_record(o);
	case VERB_CUT:
		return cmd_cut(o);
	case VERB_RECOVER:
		return cmd_recover(o);
	case VERB_INCIDENTS:
		return cmd_incidents(o);
	case VERB_TOUR:
		return cmd_tour(o);
	case VERB_SCREENSHOT:
		return cmd_screenshot(o);
	case VERB_STORY:
		return cmd_story(o);
	case VERB_DEMO:
		return cmd_demo(o);
	case VERB_BENCH:
		return cmd_bench(o);
	case VERB_DOCTOR:
		return cmd_doctor(o);
	case VERB_VERSION:
		return cmd_version(o);
	case VERB_DUMP:
		return cmd_dump(o);
	case VERB_HELP:
	case VERBS:
		break;
	}
	return cmd_help(o);
}

int main(int argc, char **argv)
{
	struct options_config config = {0};
	struct opts o;
	struct error err = {0};

	if (argc == 2 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	if (argc == 3 && !strcmp(argv[1], SRCLINES_FETCH_ARG))
		return srclines_fetch(argv[2]);
	mem_setup();
	codeset_set();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	hold_standard_streams();
	let_output_wait(STDOUT_FILENO);
	let_output_wait(STDERR_FILENO);
	if (opts_parse(&o, argc, argv, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (o.help && o.verb != VERB_HELP) {
		opts_help(o.verb, stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	if (reads_config(o.verb) && options_config_read(&o, &config, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (config.refused.code)
		cmd_say(&o, "%s", config.refused.text);
	if (config.n_warnings == 1)
		cmd_say(&o, "%s; kontend ignores this line", config.warning.text);
	else if (config.n_warnings)
		cmd_say(&o, "%s; kontend ignores this line and %u more of [columns]",
			config.warning.text, config.n_warnings - 1);
	if (opts_check(&o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	return run_verb(&o);
}
