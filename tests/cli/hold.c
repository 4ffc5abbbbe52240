// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the main thread of a process stand still, until that has ended: hold PID. Prints a line
 * when it does. 77 when that is not allowed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? (pid_t)atoi(argv[1]) : 0;
	int status;

	if (pid <= 0)
		return 2;
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0)
		return errno == EPERM ? 77 : 1;
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return 1;
	puts("held");
	fflush(stdout);
	while (waitpid(pid, &status, __WALL) == pid && !WIFEXITED(status) && !WIFSIGNALED(status))
		continue;
	return 0;
}
