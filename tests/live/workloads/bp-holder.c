// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds perf events of every kind, and prints what it made: a line an event (bp-holder.h), then
 * "ready". Each KIND is a process of its own, since a thread has four slots at most.
 *
 *     bp-holder KIND[:CPU]...
 *
 * On standard input: "end N" ends the Nth process (from 0) and answers "ended N"; "hit N" lets it
 * write a hundred times to the variable that its breakpoint watches and answers "hit N COUNT", with
 * the kernel's count. At the end of its input all processes end.
 */
#include "bp-kinds.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64, HITS = 100 };

static volatile sig_atomic_t is_hit;

static void on_hit(int signal)
{
	is_hit = signal;
}

/* The process of one kind: makes it, prints "made", and executes commands. */
static void live(const struct bp_kind *kind, int cpu, int index, int made)
{
	struct sigaction sa = {.sa_handler = on_hit};
	sigset_t hit, before;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&hit);
	sigaddset(&hit, SIGUSR1);
	sigprocmask(SIG_BLOCK, &hit, &before);
	kind->make(kind->name, cpu);
	fflush(stdout);
	if (write(made, "", 1) != 1)
		_exit(1);
	for (;;) {
		sigsuspend(&before);
		for (int i = 0; is_hit && i < HITS; i++)
			bp_watched[0]++;
		if (is_hit)
			printf("hit %d %" PRIu64 "\n", index, bp_count());
		fflush(stdout);
		is_hit = 0;
	}
}

static pid_t start(const char *word, int index)
{
	char name[32] = "", byte;
	int cpu = 0, made[2];

	sscanf(word, "%31[^:]:%d", name, &cpu);
	const struct bp_kind *kind = bp_kind_find(name);
	if (!kind || pipe(made) < 0) {
		fprintf(stderr, "bp-holder: no kind %s\n", word);
		exit(2);
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		close(made[0]);
		live(kind, cpu, index, made[1]);
	}
	close(made[1]);
	ssize_t n = read(made[0], &byte, 1);
	close(made[0]);
	if (pid < 0 || n != 1)
		exit(1); /* it has printed the reason */
	return pid;
}

static void obey(const char *line, const pid_t *pids, int n)
{
	int index = -1;

	if (sscanf(line, "end %d", &index) == 1 && index >= 0 && index < n) {
		kill(pids[index], SIGKILL);
		while (waitpid(pids[index], NULL, 0) < 0 && errno == EINTR)
			;
		printf("ended %d\n", index);
	} else if (sscanf(line, "hit %d", &index) == 1 && index >= 0 && index < n) {
		kill(pids[index], SIGUSR1);
	} else {
		fprintf(stderr, "bp-holder: what is %s", line);
	}
}

int main(int argc, char **argv)
{
	pid_t pids[MOST];
	char line[64];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < argc && i <= MOST; i++)
		pids[i - 1] = start(argv[i], i - 1);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		obey(line, pids, argc - 1);
		fflush(stdout);
	}
	for (int i = 1; i < argc && i <= MOST; i++)
		kill(pids[i - 1], SIGKILL);
	return 0;
}
