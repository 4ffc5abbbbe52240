// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that hold a spinlock for any length of time, since they walk a long list with it. F_GETLK
 * walks the record locks of a file, none of which can conflict with their own process. FUTEX_WAKE
 * walks the waiters of a word, none of which waits for the bits that are woken. If the list is
 * empty, both return without taking the lock.
 */
#include "bench-lock-int.h"
#include "kontend/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RECORDS = 3000, WAITS_FOR = 1, IS_WOKEN = 2, STACK = 64 << 10, LOOK_NS = 1000000 };

static int ask_flock(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 0};

	return fcntl(fd, F_GETLK, &l);
}

static int records_prepare(struct bench_lock_storm *s, struct error *err)
{
	s->fd = memfd_create("kontend-bench", MFD_CLOEXEC);
	s->empty_fd = memfd_create("kontend-bench", MFD_CLOEXEC);
	if (s->fd < 0 || s->empty_fd < 0)
		return error_errno(err, -errno, "Cannot make a file in memory");
	/* With a byte between them, since the kernel joins neighbours. */
	for (int i = 0; i < RECORDS; i++) {
		struct flock l = {
			.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2 * i, .l_len = 1};
		if (fcntl(s->fd, F_SETLK, &l) < 0)
			return error_errno(err, -errno, "Cannot lock record %d of a file", i);
	}
	return ask_flock(s->fd) < 0 ? error_errno(err, -errno, "Cannot read the locks of a file")
				    : 0;
}

static void records_call(struct bench_lock_storm *s)
{
	(void)ask_flock(s->fd);
}

static void records_empty(struct bench_lock_storm *s)
{
	(void)ask_flock(s->empty_fd);
}

static void records_close(struct bench_lock_storm *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->empty_fd >= 0)
		close(s->empty_fd);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, uint32_t bits)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bits);
}

static void *sleeper_main(void *arg)
{
	struct bench_lock_storm *s = arg;

	while (!s->done)
		futex(&s->word, FUTEX_WAIT_BITSET, 0, WAITS_FOR);
	return NULL;
}

/* The number of sleeping threads is the number that can be requeued to a word, even to the same
 * one. */
static bool all_sleep(struct bench_lock_storm *s)
{
	long n = syscall(SYS_futex, &s->word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0, INT_MAX,
			 &s->word, 0);

	return n < 0 || n == BENCH_LOCK_SLEEPERS;
}

/* A thread that is about to sleep finds another value and returns. */
static void bucket_close(struct bench_lock_storm *s)
{
	s->done = true;
	s->word = 1;
	futex(&s->word, FUTEX_WAKE_BITSET, INT_MAX, WAITS_FOR);
	for (unsigned i = 0; i < s->n_sleepers; i++)
		pthread_join(s->sleepers[i], NULL);
	s->n_sleepers = 0;
}

static int start_sleepers(struct bench_lock_storm *s)
{
	pthread_attr_t attr;
	long least = sysconf(_SC_THREAD_STACK_MIN);
	int r = pthread_attr_init(&attr);

	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attr, least > STACK ? (size_t)least : (size_t)STACK);
	while (r == 0 && s->n_sleepers < BENCH_LOCK_SLEEPERS) {
		r = pthread_create(&s->sleepers[s->n_sleepers], &attr, sleeper_main, s);
		s->n_sleepers += r == 0;
	}
	pthread_attr_destroy(&attr);
	return -r;
}

static int bucket_prepare(struct bench_lock_storm *s, struct error *err)
{
	int r = start_sleepers(s);

	while (r == 0 && !all_sleep(s))
		clock_sleep_ns(LOOK_NS);
	if (r == 0)
		return 0;
	return error_errno(err, r, "Cannot start %d threads that wait for a word",
			   BENCH_LOCK_SLEEPERS);
}

static void bucket_call(struct bench_lock_storm *s)
{
	futex(&s->word, FUTEX_WAKE_BITSET, 1, IS_WOKEN);
}

static void bucket_empty(struct bench_lock_storm *s)
{
	futex(&s->empty_word, FUTEX_WAKE_BITSET, 1, IS_WOKEN);
}

const struct bench_lock_storm_ops bench_lock_records = {
	"the flc_lock of a file with 3000 record locks",
	"spinlock",
	records_prepare,
	records_call,
	records_empty,
	records_close,
};
const struct bench_lock_storm_ops bench_lock_bucket = {
	"the bucket of a futex with 256 waiting threads",
	"spinlock",
	bucket_prepare,
	bucket_call,
	bucket_empty,
	bucket_close,
};
