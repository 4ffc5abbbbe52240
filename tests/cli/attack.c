// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader that has been taken over, for attack.py: loaded before kontend's own libraries,
 * it replaces syscall(), by which kontend goes into its sandbox, and runs right after
 * the filter of system calls is in place. From then on it does what an attacker would, as far as
 * the sandbox lets it, and sends requests to the broker. It reports to standard error. By the
 * environment: ATTACK is one of the attacks below, FOLDER a folder of the test elsewhere, NAME a
 * file in it.
 */
#include "kontend/fdpass.h"
#include "sandbox/sandboxed-requests.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	FLIP = 200,
	HERE = 201,
	THERE = 202,
	TRIES = 5000,
	LEAST_FD = 3,
	MOST_FD = 64,
	FUZZED = 20000
};

/* As broker.c has them. */
struct question {
	uint32_t request;
	int64_t number;
	char text[BROKER_TEXT];
};

struct answer {
	int64_t number;
	char text[640];
};

static int broker = -1;
static const char *folder, *name;
static atomic_bool flips = true;

static __attribute__((format(printf, 1, 2))) void say(const char *fmt, ...)
{
	char line[400];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

/* The one socket of packets that there is. */
static int find_broker(void)
{
	for (int fd = LEAST_FD; fd < MOST_FD; fd++) {
		int type;
		socklen_t len = sizeof(type);
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET)
			return fd;
	}
	return -1;
}

static int64_t ask_broker(enum sandboxed_request request, const char *text, int64_t number, int fd)
{
	struct question q = {.request = request, .number = number};
	struct answer a;
	int fds[FDPASS_MOST];

	snprintf(q.text, sizeof(q.text), "%s", text);
	if (fdpass_send(broker, &q, sizeof(q), &fd, fd >= 0, 0) < 0 ||
	    fdpass_receive(broker, &a, sizeof(a), fds, 0) != (long)sizeof(a))
		return -ENOLINK;
	for (size_t i = 0; i < FDPASS_MOST; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return a.number;
}

static void turn_to(int fd)
{
	if (dup2(fd, FLIP) < 0)
		say("attack: dup2: %s\n", strerror(errno));
}

static void *flip(void *arg)
{
	(void)arg;
	while (atomic_load(&flips)) {
		turn_to(HERE);
		turn_to(THERE);
	}
	return NULL;
}

static void flipped_path(char ret[300], const char *file)
{
	snprintf(ret, 300, "/proc/%d/fd/%d/%s", (int)getpid(), FLIP, file);
}

/* Makes a file here by a path that leads elsewhere when it is removed. */
static void delete_by_path(void)
{
	char path[300];

	flipped_path(path, name);
	turn_to(HERE);
	int64_t made = ask_broker(BROKER_MAKE, path, 0, -1);
	turn_to(THERE);
	int64_t gone = ask_broker(BROKER_MADE, "", 1, -1);
	say("attack: delete: make %lld, unmake %lld\n", (long long)made, (long long)gone);
	unlink(name);
}

/* A thread turns the descriptor that the path goes through, until both looks have been fooled. */
static void race(enum sandboxed_request request)
{
	char path[300];
	pthread_t thread;
	int fd = memfd_create("x", 0), did = 0;

	(void)!write(fd, "owned\n", 6);
	if (pthread_create(&thread, NULL, flip, NULL) != 0) {
		say("attack: no thread\n");
		return;
	}
	flipped_path(path, "planted");
	for (int i = 0; i < TRIES; i++) {
		did += ask_broker(request, path, 0, request == BROKER_SAVE ? fd : -1) >= 0;
		if (did && request == BROKER_MAKE)
			ask_broker(BROKER_MADE, "", 0, -1);
	}
	atomic_store(&flips, false);
	pthread_join(thread, NULL);
	say("attack: %d of %d tries did something\n", did, TRIES);
}

/* Names that lead elsewhere by themselves. */
static void names(void)
{
	static const char *const bad[] = {"",	    ".",   "..", "/",	"../x", "a/../../x",
					  "./../x", ".rc", "/x", "a/b", "./"};
	int did = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		did += ask_broker(BROKER_MAKE, bad[i], 0, -1) >= 0;
		did += ask_broker(BROKER_SAVE, bad[i], 0, memfd_create("x", 0)) >= 0;
	}
	say("attack: %d of the names did something\n", did);
}

static void fill(void)
{
	char text[32];
	int made = 0, saved = 0;

	for (int i = 0; i < 2000; i++) {
		snprintf(text, sizeof(text), "m%d", i);
		made += ask_broker(BROKER_MAKE, text, 0, -1) >= 0;
		int fd = memfd_create("x", 0);
		snprintf(text, sizeof(text), "s%d", i);
		(void)!write(fd, "x", 1);
		saved += ask_broker(BROKER_SAVE, text, 0, fd) >= 0;
		close(fd);
	}
	say("attack: fill: %d made, %d saved\n", made, saved);
}

/* More bytes into what was made than a part of the recording could have. */
static void swell(void)
{
	struct question q = {.request = BROKER_MAKE, .text = "big"};
	struct answer a;
	int fds[FDPASS_MOST];

	if (fdpass_send(broker, &q, sizeof(q), NULL, 0, 0) < 0 ||
	    fdpass_receive(broker, &a, sizeof(a), fds, 0) != (long)sizeof(a) || fds[0] < 0) {
		say("attack: swell: no file\n");
		return;
	}
	say("attack: swell: %s\n",
	    ftruncate(fds[0], (off_t)1 << 40) < 0 && errno == EFBIG ? "refused" : "done");
}

static void workers(void)
{
	int did = 0, pair[2];

	for (int i = 0; i < 300; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
			break;
		did += ask_broker(BROKER_START, "", 0, pair[0]) > 0;
		close(pair[0]); /* the other end stays: it waits for what it is to do */
	}
	say("attack: workers: %d started\n", did);
}

static void keep(void)
{
	static const char *const bad[] = {"\n",	       "locks\n",     "locks\n,",
					  "\nwaiting", "nonsense\nx", "locks\nnonsense"};
	int did = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		did += ask_broker(BROKER_KEEP, bad[i], 0, -1) >= 0;
	say("attack: keep: %d did something\n", did);
}

/* Files of others by names that a local user has planted in FOLDER. */
static void pass(void)
{
	static const char *const planted[] = {"jit-1.dump", "perf-1.map", "source.c"};
	char path[400];

	for (size_t i = 0; i < sizeof(planted) / sizeof(*planted); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, planted[i]);
		int64_t r = ask_broker(BROKER_FILE, path, 0, -1);
		say("attack: %s %s\n", planted[i], r >= 0 ? "passed" : "refused");
	}
}

/* Descriptors that the shell left open. */
static void inherited(void)
{
	int fd = atoi(name);

	say("attack: inherited: %s\n", fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
}

static uint32_t random_below(uint32_t n)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32) % n;
}

/* Random texts of pieces that have a meaning in requests, with numbers at their ends. */
static void fuzz(void)
{
	const char *const pieces[] = {"/",	    "..",	".",	   "x", "precious",
				      "jit-1.dump", "\n",	"locks",   ",", "~",
				      "00ff",	    "kontend-", "planted", " ", "/proc/self/fd/201",
				      folder};
	const int64_t numbers[] = {0, 1, O_NOFOLLOW, INT64_MAX, (int64_t)getpid()};
	int fd = memfd_create("x", 0), answers = 0, gone = 0;
	char text[600];

	for (int i = 0; i < FUZZED && !gone; i++) {
		text[0] = '\0';
		for (uint32_t n = random_below(6); n; n--)
			strcat(text, pieces[random_below(sizeof(pieces) / sizeof(*pieces))]);
		int64_t r = ask_broker(random_below(SANDBOXED_REQUESTS + 2), text,
				       numbers[random_below(5)],
				       random_below(2)	 ? fd
				       : random_below(2) ? THERE
							 : -1);
		answers += r >= 0;
		gone = r == -ENOLINK;
	}
	say("attack: fuzz: %s, %d of %d answers were no refusal\n", gone ? "gone" : "there",
	    answers, FUZZED);
}

/* Until the test has done something from outside. */
static void wait_for_test(void)
{
	char c;

	say("attack: paused\n");
	(void)!read(STDIN_FILENO, &c, 1);
}

static const struct {
	const char *name;
	void (*run)(void);
} attacks[] = {
	{"delete", delete_by_path}, {"names", names},	     {"fill", fill}, {"swell", swell},
	{"workers", workers},	    {"keep", keep},	     {"fuzz", fuzz}, {"pass", pass},
	{"inherited", inherited},   {"pause", wait_for_test}};

static void attack(const char *which)
{
	folder = getenv("FOLDER");
	name = getenv("NAME");
	broker = find_broker();
	int here = open(".", O_PATH | O_DIRECTORY), there = open(folder, O_PATH | O_DIRECTORY);
	if (broker < 0 || dup2(here, HERE) < 0 || dup2(there, THERE) < 0) {
		say("attack: cannot begin: %d %d %d\n", broker, here, there);
		return;
	}
	if (strcmp(which, "race-make") == 0)
		race(BROKER_MAKE);
	if (strcmp(which, "race-save") == 0)
		race(BROKER_SAVE);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++)
		if (strcmp(attacks[i].name, which) == 0)
			attacks[i].run();
	say("attack: over\n");
}

/* Most calls of kontend's own go by here: one of them is the last step into the sandbox. */
long syscall(long nr, ...)
{
	static long (*real)(long, ...);
	const char *which = getenv("ATTACK");
	long a[6];
	va_list ap;

	if (!real)
		real = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	va_start(ap, nr);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	long r = real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (nr == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER && r == 0 && which)
		attack(which);
	return r;
}
