// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that sleep, each for one cause: "kt-disk" reads a device without the page cache,
 * "kt-mutex" waits for hot_mutex of "kt-holds", "kt-flock" for a lock of a file that "kt-has" has,
 * and "kt-naps" for a timer. Prints the number of each of these threads, and for how long it slept
 * and waited for a CPU, in ns, when all are done.
 *
 *     why-sleeps DEVICE FILE ROUNDS
 */
#include "user-mutex.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 64, HOLD_MS = 20 };

static pthread_mutex_t hot_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn_of_mutex, turn_of_file; /* begin and end of each round */
static const char *device, *path;
static int rounds;

struct log {
	int tid;
	unsigned long long ns;
};

static void nap(int ms)
{
	const struct timespec t = {.tv_nsec = ms * 1000000L};

	nanosleep(&t, NULL);
}

static void set_name(const char *name, int *ret_tid)
{
	prctl(PR_SET_NAME, name);
	*ret_tid = gettid();
}

static int open_or_exit(const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC);

	get(fd < 0 ? errno : 0, name);
	return fd;
}

static void *read_blocks(void *arg)
{
	int fd = open_or_exit(device, O_RDONLY | O_DIRECT);
	struct log *log = arg;
	void *to;

	set_name("kt-disk", &log->tid);
	get(posix_memalign(&to, BLOCK, BLOCK), "memory");
	for (int i = 0; i < 10 * rounds; i++) {
		unsigned long long from = now_ns();
		get(pread(fd, to, BLOCK, (off_t)(i % BLOCKS) * BLOCK) < 0 ? errno : 0, "pread");
		log->ns += now_ns() - from;
		/* The first ones have no line: tables of the program are read then. */
		if (i % 10 == 0)
			nap(HOLD_MS);
	}
	free(to);
	close(fd);
	return NULL;
}

static void *hold_mutex(void *arg)
{
	prctl(PR_SET_NAME, "kt-holds");
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&hot_mutex);
		pthread_barrier_wait(&turn_of_mutex);
		nap(HOLD_MS);
		pthread_mutex_unlock(&hot_mutex);
		pthread_barrier_wait(&turn_of_mutex);
	}
	return arg;
}

static void *wait_for_mutex(void *arg)
{
	struct log *log = arg;

	set_name("kt-mutex", &log->tid);
	for (int i = 0; i < rounds; i++) {
		pthread_barrier_wait(&turn_of_mutex);
		unsigned long long from = now_ns();
		pthread_mutex_lock(&hot_mutex);
		log->ns += now_ns() - from;
		pthread_mutex_unlock(&hot_mutex);
		pthread_barrier_wait(&turn_of_mutex);
	}
	return NULL;
}

static void *hold_file(void *arg)
{
	int fd = open_or_exit(path, O_RDWR);

	prctl(PR_SET_NAME, "kt-has");
	for (int i = 0; i < rounds; i++) {
		get(flock(fd, LOCK_EX) ? errno : 0, "flock");
		pthread_barrier_wait(&turn_of_file);
		nap(HOLD_MS);
		flock(fd, LOCK_UN);
		pthread_barrier_wait(&turn_of_file);
	}
	close(fd);
	return arg;
}

static void *wait_for_file(void *arg)
{
	int fd = open_or_exit(path, O_RDWR);
	struct log *log = arg;

	set_name("kt-flock", &log->tid);
	for (int i = 0; i < rounds; i++) {
		pthread_barrier_wait(&turn_of_file);
		unsigned long long from = now_ns();
		get(flock(fd, LOCK_EX) ? errno : 0, "flock");
		log->ns += now_ns() - from;
		flock(fd, LOCK_UN);
		pthread_barrier_wait(&turn_of_file);
	}
	close(fd);
	return NULL;
}

static void *sleep_for_a_timer(void *arg)
{
	struct log *log = arg;

	set_name("kt-naps", &log->tid);
	for (int i = 0; i < rounds; i++) {
		unsigned long long from = now_ns();
		nap(HOLD_MS);
		log->ns += now_ns() - from;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*const run[])(void *) = {read_blocks,	   wait_for_mutex, wait_for_file,
					sleep_for_a_timer, hold_mutex,	   hold_file};
	enum { THREADS = sizeof(run) / sizeof(run[0]), LOGS = 4 };
	static const char *const names[LOGS] = {"kt-disk", "kt-mutex", "kt-flock", "kt-naps"};
	struct log logs[THREADS] = {0};
	pthread_t threads[THREADS];

	if (argc != 4 || (rounds = atoi(argv[3])) < 1)
		return 2;
	device = argv[1];
	path = argv[2];
	get(pthread_barrier_init(&turn_of_mutex, NULL, 2), "barrier");
	get(pthread_barrier_init(&turn_of_file, NULL, 2), "barrier");
	for (int i = 0; i < THREADS; i++)
		threads[i] = begin(run[i], &logs[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < LOGS; i++)
		printf("%s \"%s\": {\"tid\": %d, \"ns\": %llu}", i ? "," : "{", names[i],
		       logs[i].tid, logs[i].ns);
	puts("}");
	return 0;
}
