// SPDX-License-Identifier: GPL-2.0-only
/*
 * A Java program whose threads wait for a monitor: JvmHang.java, which is a part of this one, and
 * which java compiles itself from a file in memory. Its lines are figures.
 */
#include "kontend/fdio.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4096, LINES = 16, WORDS = 4 };

extern const char story_java[], story_java_end[]; /* JvmHang.java */

int story_java_check(struct error *err)
{
	const char *path = getenv("PATH");
	char file[SIZE];

	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t n = strcspn(at, ":");
		if (snprintf(file, sizeof(file), "%.*s/java", (int)n, at) < SIZE &&
		    access(file, X_OK) == 0)
			return 0;
		at += n + (at[n] == ':');
	}
	return error_set(err, -ENOENT,
			 "There is no java here, which runs the program of the story");
}

static _Noreturn void run_java(int source, int out)
{
	char file[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", source);
	if (dup2(out, STDOUT_FILENO) >= 0)
		execlp("java", "java", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx64m",
		       "--source", "11", file, (char *)NULL);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Names and units that its lines may have, as figures keep constants. */
static const struct bench_metric *metric_of(const char *name)
{
	static const struct bench_metric all[] = {{"number", "1", BENCH_FACT},
						  {"longest", "ns", BENCH_LOWER},
						  {"total", "ns", BENCH_LOWER}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static int take_line(struct bench_figures *ret, char *line)
{
	char *words[WORDS] = {0}, *rest = line;

	for (int i = 0; i < WORDS && rest; i++)
		words[i] = strsep(&rest, "\t");
	const struct bench_metric *m = words[1] ? metric_of(words[1]) : NULL;
	if (!m || !words[3])
		return -EPROTO;
	bench_figures_put(ret, m, strtod(words[3], NULL), "%s", words[0]);
	return 0;
}

static int take_lines(struct bench_figures *ret, int fd)
{
	char text[SIZE], *rest = text;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int code = n <= 0 ? -EPROTO : 0, lines = 0;

	text[n > 0 ? n : 0] = '\0';
	while (code == 0 && *rest && lines++ < LINES)
		code = take_line(ret, strsep(&rest, "\n"));
	return code;
}

int story_work_java(struct bench_figures *ret, struct error *err)
{
	int source = memfd_create("JvmHang.java", 0), out = memfd_create("figures", MFD_CLOEXEC);
	int code = source < 0 || out < 0 ? -errno : 0, status = 0;
	pid_t pid = 0;

	if (code == 0)
		code = fdio_write_all(source, story_java, (size_t)(story_java_end - story_java));
	if (code == 0 && (pid = fork()) < 0)
		code = -errno;
	if (code == 0 && pid == 0)
		run_java(source, out);
	while (code == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (code < 0)
		error_errno(err, code, "Cannot run java");
	else if (status)
		code = error_set(err, -ECHILD,
				 "java has failed: try 'java -version', and give 11 "
				 "or newer");
	else if ((code = take_lines(ret, out)) < 0)
		error_errno(err, code, "Cannot read the figures of the Java program");
	if (source >= 0)
		close(source);
	if (out >= 0)
		close(out);
	return code;
}
