// SPDX-License-Identifier: GPL-2.0-only
/*
 * A debugger that wants more breakpoints than there are slots: all slots of a stopped child are
 * taken by perf events, then ptrace() is asked for one, several times. Prints how often it was
 * refused, by both; exits 77 where ptrace() has no debug registers to write to.
 *
 *     bp-refused
 *     refused 4
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
enum { TIMES = 3, SLOTS_MOST = 32 };

static volatile long watched[SLOTS_MOST];
static pid_t child;
static unsigned refused;

static void die(const char *what)
{
	fprintf(stderr, "bp-refused: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

/* Until there is none. */
static void take_slots(void)
{
	for (unsigned i = 0; i < SLOTS_MOST; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_BREAKPOINT,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (unsigned long)&watched[i],
			.bp_len = sizeof(watched[i]),
			.exclude_kernel = 1,
			.exclude_hv = 1,
		};
		if (syscall(SYS_perf_event_open, &attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC) >= 0)
			continue;
		if (errno != ENOSPC)
			die("perf_event_open");
		refused++;
		return;
	}
}

int main(void)
{
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		die("no child");
	take_slots();
	for (unsigned i = 0; i < TIMES; i++) {
		errno = 0;
		if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]),
			   &watched[0]) == 0)
			continue;
		if (errno != ENOSPC)
			die("PTRACE_POKEUSER");
		refused++;
	}
	printf("refused %u\n", refused);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
#else
int main(void)
{
	fprintf(stderr, "it is written for x86-64\n");
	return 77;
}
#endif
