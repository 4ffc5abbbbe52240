// SPDX-License-Identifier: GPL-2.0-only
/*
 * How verbs print: results on standard output, one line a message on standard error, with the
 * program's name in front so that it cannot be mistaken for output of the measured command. The
 * journal knows the name, and gets the priority of the message instead.
 */
#include "kontend/cmd.h"
#include "kontend/live.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	begin_line(level);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
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
