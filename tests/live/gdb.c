// SPDX-License-Identifier: GPL-2.0-only
/* A debugger beside a test. */
#include "gdb.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_gdb(const char *program, int input)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(input, STDIN_FILENO);
	close(STDOUT_FILENO);
	open("/dev/null", O_WRONLY);
	execlp("gdb", "gdb", "-nx", "-q", "-batch", "-ex", "set startup-with-shell off", "-ex",
	       "break main", "-ex", "run", "-ex", "watch -l bp_watched[2]", "-ex", "continue",
	       program, (char *)NULL);
	_exit(127);
}

bool gdb_start(struct gdb *g, const char *program)
{
	int input[2];

	if (system("gdb --version >/dev/null 2>&1") != 0) {
		printf("gdb is not installed: its watchpoints are not tried\n");
		return false;
	}
	if (pipe2(input, O_CLOEXEC) < 0)
		exit(1);
	fflush(stdout);
	g->pid = fork();
	if (g->pid == 0)
		run_gdb(program, input[0]);
	if (g->pid < 0)
		exit(1);
	close(input[0]);
	g->input = input[1];
	return true;
}

void gdb_stop(struct gdb *g)
{
	kill(g->pid, SIGKILL);
	(void)waitpid(g->pid, NULL, 0);
	close(g->input);
}
