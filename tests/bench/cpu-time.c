// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPU time of a process in us, of all its threads, with those that have ended. The times in
 * /proc have steps of 10 ms. Of a running process, or of a command from its start to its end: then
 * the first line of FILE is its pid, as soon as it runs, and the second its time.
 *
 *     cpu-time PID
 *     cpu-time FILE COMMAND [ARGUMENT...]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int of_process(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 1;
	printf("%lld\n", (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000);
	return 0;
}

static long long us(struct timeval t)
{
	return (long long)t.tv_sec * 1000000 + t.tv_usec;
}

static int of_command(const char *path, char **argv)
{
	FILE *f = fopen(path, "we");
	struct rusage used;
	int status;
	pid_t pid = f ? fork() : -1;

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return 1;
	fprintf(f, "%d\n", pid);
	fflush(f);
	/* Signals from the keyboard are for the command alone. */
	signal(SIGINT, SIG_IGN);
	if (wait4(pid, &status, 0, &used) != pid)
		return 1;
	fprintf(f, "%lld\n", us(used.ru_utime) + us(used.ru_stime));
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return of_process(atoi(argv[1]));
	return argc > 2 ? of_command(argv[1], argv + 2) : 2;
}
