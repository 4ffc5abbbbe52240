// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the terminal back when the program dies of its own fault, or of a signal that it does not
 * handle. A signal handler reaches nothing but static memory, so this file holds the project's one
 * piece of static state about the terminal: the modes it had and the bytes that leave the
 * full-screen mode, both ready to be written with async-signal-safe calls alone. The handler runs
 * on its own stack (an overflow of the main one is a crash too) and restores the default action, so
 * that the fault ends the program.
 */
#include "kontend/mapguard.h"
#include "tty.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { STACK_BYTES = 65536, LEAVE_BYTES = 256 };

static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct termios modes;
	char leave[LEAVE_BYTES];
	size_t len;
	struct sigaction old[_NSIG];
	char stack[STACK_BYTES];
} crash;

/*
 * Every signal whose default action ends the process, faults of our own among them. SIGKILL cannot
 * be caught, and the real-time signals below SIGRTMIN belong to the C library.
 */
static bool is_fatal(int sig)
{
	switch (sig) {
	case SIGKILL:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return sig <= SIGSYS || (sig >= SIGRTMIN && sig <= SIGRTMAX);
	}
}

/* The end of the line for @sig, whose digits are in @room. */
static const char *number_of(int sig, char room[4])
{
	char *at = room + 3;

	*at = '\0';
	for (; sig && at > room; sig /= 10)
		*--at = (char)('0' + sig % 10);
	return at;
}

/* A terminal that takes nothing now shall not keep us. */
static void put(int fd, const char *text, size_t len)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	ssize_t n = write(fd, text, len);

	(void)n; /* nothing can be done about it here */
	fcntl(fd, F_SETFL, flags);
}

static void say(const char *text)
{
	put(STDERR_FILENO, text, strlen(text));
}

static void say_why(int sig)
{
	bool is_fault =
		sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT;
	char room[4];

	say("kontend: ended by signal ");
	say(number_of(sig, room));
	say(is_fault ? ", a fault of kontend itself\n" : "\n");
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
	(void)context;
	/* No fault of ours: a recording that is being made shorter. */
	if (sig == SIGBUS && mapguard_fault(info))
		return;
	if (crash.armed) {
		put(crash.fd, crash.leave, crash.len);
		tcsetattr(crash.fd, TCSANOW, &crash.modes);
		crash.armed = 0;
		say_why(sig);
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
	for (int sig = 1; sig < _NSIG; sig++) {
		if (!is_fatal(sig))
			continue;
		sigaction(sig, &sa, &crash.old[sig]);
		if (crash.old[sig].sa_handler == SIG_IGN)
			sigaction(sig, &crash.old[sig], NULL);
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
	for (int sig = 1; sig < _NSIG; sig++)
		if (is_fatal(sig))
			sigaction(sig, &crash.old[sig], NULL);
	sigaltstack(&none, NULL);
	crash.armed = 0;
}
