// SPDX-License-Identifier: GPL-2.0-only
/*
 * How verbs print: results on standard output, one line a message on standard error, with the
 * program's name in front so that it cannot be mistaken for output of the measured command. The
 * journal knows the name, and gets the priority of the message instead. Below that: options that
 * several verbs read in the same way.
 */
#include "kontend/cmd.h"
#include "kontend/live.h"
#include "kontend/number.h"
#include "kontend/query-verdict.h"
#include "kontend/query-zoom.h"
#include "kontend/text.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MESSAGE = 9000 }; /* two paths, and a sentence */

static void begin_line(enum journal_level level)
{
	if (journal_has(STDERR_FILENO))
		fprintf(stderr, "<%d>", (int)level);
	else
		fputs("kontend: ", stderr);
}

int cmd_fail(int status, const struct error *err)
{
	const char *more = "";

	if (err->code == -EMFILE && !strstr(err->text, "ulimit"))
		more = ": raise the limit with 'ulimit -n 256'";
	if (err->code == -ENOLINK && !strstr(err->text, "kontend-broker"))
		more = ": kontend-broker, the process that works outside the sandbox, has ended";
	begin_line(JOURNAL_ERROR);
	fprintf(stderr, "%s%s\n", err->text, more);
	return err->code == LIVE_NO_COMMAND ? 127 : err->code == LIVE_CANNOT_RUN ? 126 : status;
}

__attribute__((format(printf, 2, 0))) static void say(enum journal_level level, const char *fmt,
						      va_list ap)
{
	/* Names in it may be of a file from elsewhere. */
	char text[MESSAGE], clean[MESSAGE];

	vsnprintf(text, sizeof(text), fmt, ap);
	begin_line(level);
	fprintf(stderr, "%s\n", text_clean(clean, sizeof(clean), text));
}

void cmd_say(const struct opts *o, const char *fmt, ...)
{
	va_list ap;

	if (o->quiet)
		return;
	va_start(ap, fmt);
	say(JOURNAL_INFO, fmt, ap);
	va_end(ap);
}

void cmd_say_as(const struct opts *o, enum journal_level level, const char *fmt, ...)
{
	va_list ap;

	if (o->quiet && level > JOURNAL_ERROR)
		return;
	va_start(ap, fmt);
	say(level, fmt, ap);
	va_end(ap);
}

int cmd_flush(int status)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	if (errno == EPIPE)
		return CMD_EXIT_SIGNAL + SIGPIPE;
	fprintf(stderr, "kontend: Cannot write all of the output to standard output: %s\n",
		strerror(errno ? errno : EIO));
	return status ? status : CMD_EXIT_FAILURE;
}

int cmd_width(const struct opts *o)
{
	struct winsize w;

	if (o->output || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
		return 0;
	return w.ws_col;
}

unsigned cmd_threads(const struct opts *o)
{
	cpu_set_t set;

	if (o->threads)
		return (unsigned)o->threads;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 2; /* more CPUs than the set has room for */
	return (unsigned)CPU_COUNT(&set);
}

char cmd_separator(const struct opts *o)
{
	if (!o->separator)
		return ',';
	return o->separator[0] == '\\' ? '\t' : o->separator[0];
}

double cmd_percent_limit(const struct opts *o)
{
	const char *text = o->percent_limit;
	double percent = 0;

	if (text)
		number_take_decimal(&text, &percent); /* the option was checked */
	return percent;
}

int cmd_verdict(const struct opts *o, struct verdict_limits *ret, struct error *err)
{
	*ret = verdict_defaults;
	return o->verdict ? query_verdict_parse(o->verdict, ret, err) : 0;
}

int cmd_zoom(const struct opts *o, struct query_zoom *ret, struct error *err)
{
	int r = 0;

	*ret = (struct query_zoom){0};
	for (size_t i = 0; r == 0 && i < OPTS_LIST_MAX && o->zooms[i]; i++)
		r = query_zoom_parse(o->zooms[i], o->groups, ret, err);
	return r;
}
