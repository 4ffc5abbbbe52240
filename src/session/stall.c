// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals are read from a descriptor between two steps of the work. A step may last for ever: a
 * write to a pipe that is not read, since standard streams can only block, or a disk that does not
 * answer. So a thread watches the working thread, and does nothing until a signal comes. It may get
 * the signal first; then it passes it on to the writer alone, whose descriptor and set of pending
 * signals show it as before. An output that it gives up, by replacing its descriptor, it gives up
 * before the write is interrupted: so no later write can block again, up to the flush at exit.
 * SIGURG is used to interrupt, as no other code uses it.
 *
 * The kernel keeps one signal of a kind: only a thread that reads the first one at once can see
 * that there was a second. It ends the program in any case.
 */
#include "stall.h"
#include "kontend/clock.h"
#include "kontend/ending.h"
#include "kontend/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 200, STUCK_LOOKS = 5 };

/* timeout(1) and some shells send one signal to us and to our group: within this it is one wish. */
static const uint64_t SAME_NS = 500000000;
/* Giving up in good order needs a moment. */
static const uint64_t LAST_NS = 2000000000;

static void interrupt(int sig)
{
	(void)sig;
}

static void give_up(struct stall *s, int fd)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	atomic_store(&s->cut, true);
	dup2(null, fd);
	close(null);
}

static void look_at_output(struct stall *s)
{
	const int fds[] = {atomic_load(&s->out_fd), STDERR_FILENO};

	for (int i = 0; i < 2; i++) {
		struct pollfd p = {.fd = fds[i], .events = POLLOUT};

		if (p.fd >= 0 && poll(&p, 1, 0) == 0)
			give_up(s, p.fd);
	}
	/* It may have come to its write only now. */
	if (atomic_load(&s->cut))
		pthread_kill(s->writer, SIGURG);
}

static void note_progress(struct stall *s)
{
	uint64_t never = 0, now = clock_now_ns();

	if (!atomic_compare_exchange_strong(&s->asked_ns, &never, now) && now - never > SAME_NS)
		atomic_store(&s->again, true);
}

/* The writer may read a signal before the watcher does; what this has passed on is no other one. */
static int next_wait(struct stall *s, int fd)
{
	struct signalfd_siginfo info;
	sigset_t ending;

	if (read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	ending_signals(&ending);
	if (sigismember(&ending, (int)info.ssi_signo) &&
	    !(info.ssi_code == SI_TKILL && info.ssi_pid == (uint32_t)getpid()))
		note_progress(s);
	return (int)info.ssi_signo;
}

int stall_next(struct stall *s, int fd)
{
	atomic_store(&s->unheard, false);
	return next_wait(s, fd);
}

/*
 * The writer knows that it is to end, and has not run since so many looks: it is blocked. A slow
 * reader lets it run now and then.
 */
static bool is_stuck(const struct stall *s, struct timespec *ran, unsigned *looks)
{
	struct timespec now = {0};
	clockid_t clock;

	if (!atomic_load(&s->asked_ns) || pthread_getcpuclockid(s->writer, &clock) != 0)
		return false;
	clock_gettime(clock, &now);
	if (now.tv_sec != ran->tv_sec || now.tv_nsec != ran->tv_nsec)
		*looks = 0;
	*ran = now;
	return ++*looks > STUCK_LOOKS;
}

/* Whatever the writer does. */
static void end(int sig)
{
	sigset_t one;

	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), sig);
	_exit(128 + sig);
}

static void *watch(void *arg)
{
	struct stall *s = arg;
	struct pollfd p[2] = {{.fd = s->stop_fd, .events = POLLIN},
			      {.fd = s->signal_fd, .events = POLLIN}};
	struct timespec ran = {0};
	unsigned looks = 0;
	uint64_t last_ns = 0;
	int sig, last = SIGTERM;

	rights_give_up();
	for (;;) {
		bool waits = atomic_load(&s->unheard) || atomic_load(&s->asked_ns);
		int n = poll(p, 2, waits ? GRACE_MS : -1);

		if (atomic_load(&s->stops) || (n < 0 ? errno != EINTR : p[0].revents != 0))
			return NULL;
		while (n > 0 && (sig = next_wait(s, s->signal_fd))) {
			last = sig;
			atomic_store(&s->unheard, true);
			pthread_kill(s->writer, sig);
		}
		if (n == 0 && (atomic_load(&s->unheard) || is_stuck(s, &ran, &looks)))
			look_at_output(s);
		if (atomic_load(&s->again) && !last_ns)
			last_ns = clock_now_ns() + LAST_NS;
		if (last_ns && clock_now_ns() >= last_ns)
			end(last);
	}
}

static int open_both(struct stall *s)
{
	sigset_t ending;

	ending_signals(&ending);
	s->signal_fd = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
	s->stop_fd = s->signal_fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
	return s->stop_fd < 0 ? -errno : 0;
}

static void close_both(const struct stall *s)
{
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
}

int stall_start(struct stall *s, struct error *err)
{
	struct sigaction sa = {.sa_handler = interrupt};

	*s = (struct stall){.writer = pthread_self(), .out_fd = -1};
	sigemptyset(&sa.sa_mask);
	sigaction(SIGURG, &sa, NULL);
	int r = open_both(s);
	if (r == 0)
		r = -pthread_create(&s->watcher, NULL, watch, s);
	if (r < 0) {
		close_both(s);
		return error_errno(err, r, "Cannot start a thread that watches for signals");
	}
	s->runs = true;
	return 0;
}

void stall_watch(struct stall *s, int out_fd)
{
	atomic_store(&s->out_fd, out_fd);
}

/* Signals do where the event cannot be written: the thread may be about to wait, so many of them.
 */
static void stop_watcher(struct stall *s)
{
	uint64_t one = 1;

	atomic_store(&s->stops, true);
	if (write(s->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one)) {
		pthread_join(s->watcher, NULL);
		return;
	}
	while (pthread_tryjoin_np(s->watcher, NULL) == EBUSY) {
		pthread_kill(s->watcher, SIGURG);
		poll(NULL, 0, 1);
	}
}

bool stall_stop(struct stall *s)
{
	sigset_t ending;

	if (!s->runs)
		return false;
	stop_watcher(s);
	while (next_wait(s, s->signal_fd)) /* all is done that they could have asked for */
		;
	close_both(s);
	s->runs = false;
	ending_signals(&ending);
	pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
	return atomic_load(&s->cut);
}
