// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread, one round of snapshots at a time. The snapshots are in an array in the order of the
 * sources: the thread writes entry `n_done` and those after it, the collector reads those before
 * it, and neither waits for the other. The eventfd only reports that there is a new one.
 */
#include "snapshot-thread.h"
#include "kontend/clock.h"
#include "kontend/ending.h"
#include "kontend/mem.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	SNAPSHOT_NICE = -10
};		       /* after threads that drain rings, and before tasks that keep CPUs busy */
enum { SHARE = 1000 }; /* the most of a CPU, for a snapshot that is taken more often than this: */
static const uint64_t OFTEN_NS = 900000000;

struct snapshot_thread {
	struct snapshot_source *sources; /* borrowed */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int fd;
	/* under the lock */
	bool asked, stopping;
	enum snapshot_round round;
	uint64_t time_ns;
	/* of the round: the thread writes from n_done on, the collector reads before that */
	struct snapshot_taken *taken;
	size_t n, collected;
	atomic_size_t n_done;
	atomic_ullong cost_ns;
};

static void say_done(const struct snapshot_thread *t)
{
	const uint64_t one = 1;

	/* It fails only if it is readable already. */
	if (write(t->fd, &one, sizeof(one)) < 0)
		return;
}

static bool is_due(const struct snapshot_thread *t, const struct snapshot_source *s)
{
	uint64_t apart = s->cost_ns * SHARE < OFTEN_NS ? s->cost_ns * SHARE : OFTEN_NS;

	if (t->round == SNAPSHOT_START)
		return s->at_start;
	return t->round == SNAPSHOT_LAST || s->each_tick || t->time_ns - s->taken_ns >= apart;
}

static void *take_snapshot(struct snapshot_thread *t, struct snapshot_source *s, size_t *ret_len)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	void *body = s->take(s, t->round == SNAPSHOT_LAST, ret_len);

	s->taken_ns = t->time_ns;
	s->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	return body;
}

static void take_one(struct snapshot_thread *t, struct snapshot_source *s, size_t i)
{
	struct snapshot_taken *taken = &t->taken[i];

	/* Those of a tick belong to its time. Those of the start may wait for their programs. */
	*taken = (struct snapshot_taken){
		.of = s, .time_ns = t->round == SNAPSHOT_START ? clock_now_ns() : t->time_ns};
	if (is_due(t, s))
		taken->body = take_snapshot(t, s, &taken->len);
	atomic_store(&t->cost_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->n_done, i + 1);
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (taken->body)
		say_done(t);
}

static bool next_round(struct snapshot_thread *t)
{
	pthread_mutex_lock(&t->lock);
	while (!t->asked && !t->stopping)
		pthread_cond_wait(&t->changed, &t->lock);
	bool goes_on = t->asked;
	t->asked = false;
	pthread_mutex_unlock(&t->lock);
	return goes_on;
}

static void *run(void *arg)
{
	struct snapshot_thread *t = arg;

	/* Without the privilege it runs as it is. */
	(void)setpriority(PRIO_PROCESS, 0, SNAPSHOT_NICE);
	while (next_round(t)) {
		size_t i = 0;
		for (struct snapshot_source *s = t->sources; s; s = s->next)
			take_one(t, s, i++);
	}
	return NULL;
}

static int start(struct snapshot_thread *t, struct error *err)
{
	int code = ending_thread(&t->thread, run, t);

	return code < 0 ? error_errno(err, code, "Cannot start the thread that takes snapshots")
			: 0;
}

static void discard(struct snapshot_thread *t)
{
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->changed);
	if (t->fd >= 0)
		close(t->fd);
	mem_free(t->taken);
	mem_free(t);
}

int snapshot_thread_new(struct snapshot_thread **ret, struct snapshot_source *sources,
			struct error *err)
{
	struct snapshot_thread *t = mem_calloc(1, sizeof(*t));
	int code = 0;

	if (!t)
		return error_enomem(err, "the thread that takes snapshots");
	t->sources = sources;
	for (struct snapshot_source *s = sources; s; s = s->next)
		t->n++;
	t->collected = t->n;
	atomic_init(&t->n_done, t->n);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->taken = mem_calloc(t->n ? t->n : 1, sizeof(*t->taken));
	if (t->fd < 0)
		code = error_errno(err, -errno, "Cannot make an eventfd for snapshots");
	else if (!t->taken)
		code = error_enomem(err, "the thread that takes snapshots");
	code = code < 0 ? code : start(t, err);
	if (code < 0) {
		discard(t);
		return code;
	}
	*ret = t;
	return 0;
}

void snapshot_thread_free(struct snapshot_thread *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	discard(t);
}

int snapshot_thread_fd(const struct snapshot_thread *t)
{
	return t->fd;
}

bool snapshot_thread_is_busy(const struct snapshot_thread *t)
{
	return t->collected < t->n;
}

void snapshot_thread_ask(struct snapshot_thread *t, enum snapshot_round round, uint64_t time_ns)
{
	pthread_mutex_lock(&t->lock);
	t->round = round;
	t->time_ns = time_ns;
	t->collected = 0;
	atomic_store(&t->n_done, 0);
	t->asked = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

bool snapshot_thread_collect(struct snapshot_thread *t, struct snapshot_taken *ret)
{
	uint64_t times;
	ssize_t said = read(t->fd, &times, sizeof(times)); /* or there was no new one */

	(void)said;
	while (t->collected < atomic_load(&t->n_done)) {
		*ret = t->taken[t->collected++];
		if (ret->body)
			return true;
	}
	return false;
}

void snapshot_thread_wait(struct snapshot_thread *t)
{
	pthread_mutex_lock(&t->lock);
	while (atomic_load(&t->n_done) < t->n)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

uint64_t snapshot_thread_cost_ns(const struct snapshot_thread *t)
{
	return atomic_load(&t->cost_ns);
}
