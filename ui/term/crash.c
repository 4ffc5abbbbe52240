// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the terminal back when the program dies of its own fault, or of a signal that nobody waits
 * for. A signal handler reaches nothing but static memory, so this file holds the project's one
 * piece of static state about the terminal: the modes it had and the bytes that leave the
 * full-screen mode, both ready to be written with async-signal-safe calls alone. The handler runs
 * on its own stack (an overflow of the main one is a crash too) and restores the default action, so
 * that the fault ends the program.
 */
#include "crash.h"
#include "kontend/mapguard.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { STACK_BYTES = 65536, LEAVE_BYTES = 256 };

/* Faults of our own, and what ends a program that does not hear it, or no more. */
static const int fatal[] = {SIGSEGV, SIGBUS,  SIGFPE,	 SIGILL,  SIGABRT, SIGUSR1,
			    SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,
			    SIGPWR,  SIGINT,  SIGTERM,	 SIGHUP,  SIGQUIT};

enum { FATAL = sizeof(fatal) / sizeof(fatal[0]) };

static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct termios modes;
	char leave[LEAVE_BYTES];
	size_t len;
	struct sigaction old[FATAL];
	char stack[STACK_BYTES];
} crash;

static void on_crash(int sig, siginfo_t *info, void *context)
{
	(void)context;
	/* No fault of ours: a recording that is being made shorter. */
	if (sig == SIGBUS && mapguard_fault(info))
		return;
	if (crash.armed) {
		int flags = fcntl(crash.fd, F_GETFL);

		/* One that takes nothing now shall not keep us. */
		fcntl(crash.fd, F_SETFL, flags | O_NONBLOCK);
		ssize_t n = write(crash.fd, crash.leave, crash.len);

		(void)n; /* nothing can be done about it here */
		fcntl(crash.fd, F_SETFL, flags);
		tcsetattr(crash.fd, TCSANOW, &crash.modes);
		crash.armed = 0;
	}
	/* The fault comes again, or abort() goes on. */
	signal(sig, SIG_DFL);
	raise(sig);
}

void term_crash_arm(int fd, const struct termios *modes)
{
	struct sigaction sa = {.sa_sigaction = on_crash};
	stack_t stack = {.ss_sp = crash.stack, .ss_size = sizeof(crash.stack)};

	sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&sa.sa_mask);
	sigaltstack(&stack, NULL);
	crash.fd = fd;
	crash.modes = *modes;
	crash.len = 0;
	crash.armed = 1;
	for (size_t i = 0; i < FATAL; i++) {
		sigaction(fatal[i], &sa, &crash.old[i]);
		if (crash.old[i].sa_handler == SIG_IGN)
			sigaction(fatal[i], &crash.old[i], NULL);
	}
}

void term_crash_leave(const char *leave)
{
	snprintf(crash.leave, sizeof(crash.leave), "%s", leave);
	crash.len = strlen(crash.leave);
}

void term_crash_disarm(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	if (!crash.armed)
		return;
	for (size_t i = 0; i < FATAL; i++)
		sigaction(fatal[i], &crash.old[i], NULL);
	sigaltstack(&none, NULL);
	crash.armed = 0;
}
