// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait for locks within the C library. A thread called "has-X" has what one called
 * "for-X" waits for. A thread has an arena of malloc() while it asks the kernel for more memory:
 * that call is trapped then, and the handler never returns. Writes "ready" as an error, and ends
 * when its input does.
 *
 *     user-libc FILE
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = 4000, MORE = 60000 };

static pthread_barrier_t has; /* each that has something, and main() */
static FILE *file;
static char *of_arena, *of_main;

static void never_return(int signal)
{
	(void)signal;
	pthread_barrier_wait(&has);
	for (;;)
		pause();
}

/* Of this thread only. */
static void trap(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
		_exit(77);
}

static void take_memory(int number)
{
	trap(number);
	for (;;)
		if (!malloc(MORE))
			_exit(1);
}

/* It gets an arena of its own. */
static void *has_arena(void *arg)
{
	prctl(PR_SET_NAME, "has-arena");
	of_arena = malloc(LARGE);
	take_memory(SYS_mprotect);
	return arg;
}

static void *has_stream(void *arg)
{
	prctl(PR_SET_NAME, arg == stdout ? "has-stdout" : "has-file");
	flockfile(arg);
	pthread_barrier_wait(&has);
	for (;;)
		pause();
	return NULL;
}

static void *for_arena(void *arg)
{
	prctl(PR_SET_NAME, arg == of_main ? "for-main" : "for-arena");
	free(arg);
	return NULL;
}

static void *for_stream(void *arg)
{
	prctl(PR_SET_NAME, arg == stdout ? "for-stdout" : "for-file");
	fputs("x", arg);
	return NULL;
}

static void start(void *f(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, arg))
		_exit(1);
}

/* The first thread has the first arena, so another thread starts the rest. */
static void *go_on(void *arg)
{
	char c;

	(void)arg;
	prctl(PR_SET_NAME, "rest");
	pthread_barrier_wait(&has);
	start(for_stream, stdout);
	start(for_stream, file);
	start(for_arena, of_arena);
	start(for_arena, of_main);
	if (write(STDERR_FILENO, "ready\n", 6) != 6 || read(STDIN_FILENO, &c, 1) > 0)
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = never_return};

	if (argc != 2 || !(file = fopen(argv[1], "w")) || sigaction(SIGSYS, &act, NULL) ||
	    pthread_barrier_init(&has, NULL, 5))
		return 1;
	prctl(PR_SET_NAME, "has-main");
	of_main = malloc(LARGE);
	start(has_arena, NULL);
	start(has_stream, stdout);
	start(has_stream, file);
	start(go_on, NULL);
	take_memory(SYS_brk);
	return 0;
}
