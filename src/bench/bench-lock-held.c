// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds: one thread takes the lock and sleeps with it; the others are let in one after the other
 * and wait; after a while the lock is released and handed from waiter to waiter. The true length of
 * a wait is at most the duration of the waiter's call, and at least the time from when it was seen
 * asleep until the lock was released. These differ by some tens of microseconds, for holds of many
 * milliseconds.
 *
 * The leading thread takes none of these locks, so that it always makes progress. Threads wait for
 * their turn in short sleeps, since any other way to wake them up takes locks of the kernel.
 */
#include "bench-lock-int.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 10, MOST = 1 << 16, LOOK_US = 50 };

static const uint64_t HOLD_NS = 20000000, PATIENCE_NS = 20000000000;

/* The file @name in /proc about a thread of this process; false: it cannot be read. */
static bool read_thread(pid_t tid, const char *name, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

/* The state is set before a thread leaves its CPU, and before the kernel reports the wait. */
static bool is_asleep(pid_t tid, char state)
{
	char buf[256];

	if (!tid || !read_thread(tid, "stat", buf, sizeof(buf)))
		return false;
	const char *p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || p[2] != state)
		return false;
	return !read_thread(tid, "syscall", buf, sizeof(buf)) || strncmp(buf, "running", 7) != 0;
}

static void *waiter_main(void *arg)
{
	struct bench_lock_waiter *w = arg;
	struct bench_lock_held *h = w->held;

	w->tid = gettid();
	for (uint64_t round = 1; round <= h->rounds; round++) {
		while (w->go < round && !h->done)
			clock_sleep_ns(LOOK_US * 1000u);
		if (h->done)
			break;
		w->enter_ns = clock_now_ns();
		w->entered = round;
		int r = h->ops->wait(h, w);
		w->leave_ns = clock_now_ns();
		if (r < 0)
			h->failed = -r;
		w->left = round;
	}
	return NULL;
}

static bool waits(const struct bench_lock_waiter *w, uint64_t round)
{
	return w->entered == round && is_asleep(w->tid, w->held->ops->asleep);
}

static bool is_back(const struct bench_lock_waiter *w, uint64_t round)
{
	return w->left >= round;
}

/* Waits until @is_so; false: it did not happen within the time limit. */
static bool comes(const struct bench_lock_waiter *w, uint64_t round,
		  bool (*is_so)(const struct bench_lock_waiter *w, uint64_t round))
{
	const struct bench_lock_held *h = w->held;
	uint64_t until_ns = clock_now_ns() + PATIENCE_NS;

	while (!is_so(w, round)) {
		if (h->failed || clock_now_ns() > until_ns)
			return false;
		clock_sleep_ns(LOOK_US * 1000u);
	}
	return true;
}

static int why(const struct bench_lock_held *h)
{
	return h->failed ? -h->failed : -ETIMEDOUT;
}

static int is_before(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b;
}

static void add_round(struct bench_lock_held *h, uint64_t held_ns, uint64_t released_ns)
{
	uint64_t leaves[BENCH_LOCK_THREADS], room[BENCH_LOCK_THREADS], last = released_ns;

	for (unsigned i = 0; i < h->n; i++) {
		const struct bench_lock_waiter *w = &h->waiters[i];
		struct bench_lock_sum *s = &h->ret->sums[h->ops->types[1] && i >= h->writers];
		s->least++;
		s->most++;
		s->least_ns += released_ns - w->asleep_ns;
		s->most_ns += w->leave_ns - w->enter_ns;
		leaves[i] = w->leave_ns;
	}
	h->ret->holds++;
	h->ret->held_ns += released_ns - held_ns;
	sort_merge(leaves, room, h->n, sizeof(*leaves), is_before);
	for (unsigned i = 0; i < h->n; i++) {
		h->hands[h->n_hands++] = leaves[i] > last ? leaves[i] - last : 0;
		last = leaves[i];
	}
}

static int let_in(struct bench_lock_held *h, uint64_t round)
{
	for (unsigned i = 0; i < h->n; i++) {
		struct bench_lock_waiter *w = &h->waiters[i];
		w->go = round;
		if (!comes(w, round, waits))
			return why(h);
		w->asleep_ns = clock_now_ns();
	}
	return 0;
}

static int run_round(struct bench_lock_held *h, uint64_t round)
{
	int r = h->ops->begin(h);
	uint64_t held_ns = clock_now_ns();

	if (r < 0)
		return r;
	r = let_in(h, round);
	if (r == 0)
		clock_sleep_ns(h->hold_ns);
	uint64_t released_ns = clock_now_ns();
	int end = h->ops->end(h);
	if (r < 0 || end < 0)
		return r < 0 ? r : end;
	for (unsigned i = 0; i < h->n; i++)
		if (!comes(&h->waiters[i], round, is_back))
			return why(h);
	add_round(h, held_ns, released_ns);
	return 0;
}

static int start_waiters(struct bench_lock_held *h, unsigned *ret_started)
{
	for (unsigned i = 0; i < h->n; i++, ++*ret_started) {
		struct bench_lock_waiter *w = &h->waiters[i];
		w->held = h;
		w->index = i;
		int r = pthread_create(&w->thread, NULL, waiter_main, w);
		if (r)
			return -r;
	}
	return 0;
}

static uint64_t part(const struct bench_lock_held *h, unsigned percent)
{
	return h->n_hands ? h->hands[(h->n_hands - 1) * percent / 100] : 0;
}

static int run_rounds(struct bench_lock_held *h, struct error *err)
{
	unsigned started = 0;
	int r = h->ops->prepare(h, err);

	if (r < 0)
		return r;
	r = start_waiters(h, &started);
	for (uint64_t round = 1; r == 0 && round <= h->rounds; round++)
		r = run_round(h, round);
	h->done = true;
	for (unsigned i = 0; i < started; i++)
		pthread_join(h->waiters[i].thread, NULL);
	return r < 0 ? error_errno(err, r, "Cannot make threads wait for %s", h->ops->lock) : 0;
}

static int check(const struct bench_lock_held *h, struct error *err)
{
	if (h->n > BENCH_LOCK_THREADS)
		return error_set(err, -EINVAL,
				 "Cannot start %u threads that wait: give --threads of %d at most",
				 h->n, BENCH_LOCK_THREADS);
	if (h->rounds > MOST / h->n)
		return error_set(err, -EINVAL, "Too many rounds: give --rounds of %u at most",
				 MOST / h->n);
	return 0;
}

int bench_lock_hold(const struct bench_lock_held_ops *ops, const struct bench_lock_options *o,
		    struct bench_lock_result *ret, struct error *err)
{
	struct bench_lock_held *h = mem_calloc(1, sizeof(*h));

	if (!h)
		return error_enomem(err, "threads that wait");
	h->ops = ops;
	h->n = o->threads ? o->threads : THREADS;
	h->rounds = o->rounds ? o->rounds : ROUNDS;
	h->writers = (h->n + 1) / 2;
	h->hold_ns = HOLD_NS;
	h->ret = ret;
	h->fds[0] = h->fds[1] = h->page_fd = -1;
	int r = check(h, err);
	if (r == 0) {
		h->hands = mem_calloc(h->n * h->rounds, 2 * sizeof(*h->hands));
		r = h->hands ? run_rounds(h, err) : error_enomem(err, "times");
		ops->close(h);
	}
	if (r == 0) {
		sort_merge(h->hands, h->hands + h->n_hands, h->n_hands, sizeof(*h->hands),
			   is_before);
		ret->lock = ops->lock;
		ret->threads = h->n;
		ret->hand_p50_ns = part(h, 50);
		ret->hand_p99_ns = part(h, 99);
		ret->n_sums = ops->types[1] && h->n > h->writers ? 2 : 1;
		for (size_t i = 0; i < ret->n_sums; i++)
			ret->sums[i].type = ops->types[i];
	}
	mem_free(h->hands);
	mem_free(h);
	return r;
}
