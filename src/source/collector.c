// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector: a thread that drains the rings into the queue, so that a slow consumer of the
 * records does not hold up the rings. A full queue does not hold them up either: records that find
 * no room in it are counted and thrown away.
 *
 * On a busy machine the thread must get a CPU before the rings are full: it has a low nice value
 * and short slices, or on request (--realtime) SCHED_FIFO at the lowest priority.
 */
#include "kontend/collector.h"
#include "kontend/ending.h"
#include "kontend/pidns.h"
#include "kontend/privs.h"
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COLLECTOR_NICE = -15, COLLECTOR_SLICE_NS = 100000, REALTIME_PRIORITY = 1 };

/* Of the kernel's ABI: struct sched_attr, as of its first version. */
struct slice_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * A task with short slices gets a CPU soon: since Linux 6.12 a task of the usual policy may say for
 * how long it wants to run at a time. Older kernels accept and ignore it.
 */
static void ask_for_short_slices(void)
{
	struct slice_attr a = {.size = sizeof(a),
			       .nice = getpriority(PRIO_PROCESS, 0),
			       .runtime = COLLECTOR_SLICE_NS};

	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

/* Calls the kernel directly: musl's function of that name does nothing. */
static int set_policy(int policy, int priority)
{
	const struct sched_param p = {.sched_priority = priority};

	return syscall(SYS_sched_setscheduler, 0, policy, &p) < 0 ? -errno : 0;
}

/* May this user? If so and the kernel refuses, the cgroup is the reason. */
static bool user_may_realtime(void)
{
	struct rlimit most;

	if (privs_now() >> CAP_SYS_NICE & 1 && !pidns_has_users())
		return true;
	return getrlimit(RLIMIT_RTPRIO, &most) == 0 && most.rlim_cur >= REALTIME_PRIORITY;
}

static const char *realtime_remedy(int code)
{
	if (code != -EPERM)
		return "leave the option out";
	if (user_may_realtime())
		return "give the cgroup of kontend a share of real-time (cpu.rt_runtime_us), or "
		       "start it from the root cgroup";
	return "run as root outside of user namespaces, or with CAP_SYS_NICE or RLIMIT_RTPRIO "
	       "(ulimit -r 1)";
}

int collector_try_realtime(struct error *err)
{
	int code = set_policy(SCHED_FIFO, REALTIME_PRIORITY);

	if (code < 0)
		return error_set(err, code, "The kernel refuses --realtime (%s): %s",
				 strerror(-code), realtime_remedy(code));
	(void)set_policy(SCHED_OTHER, 0);
	return 0;
}

void collector_begin_realtime(void)
{
	(void)set_policy(SCHED_FIFO | SCHED_RESET_ON_FORK, REALTIME_PRIORITY);
}

/* Moves one chunk of @r into the queue. False: there was no room, or no valid record. */
static bool take_chunk(struct collector *c, struct drain_ring *r, uint64_t head)
{
	uint64_t used = ring_used(&r->ring, head);
	size_t want = used < RING_RECORD_MAX ? (size_t)used : RING_RECORD_MAX;
	size_t size = 0, len = 0;
	void *data = NULL;
	struct queue_item *it = queue_alloc(c->queue, want, &data, &size);
	int answer = it ? ring_drain(&r->ring, head, data, size, &len) : -ENOBUFS;

	if (answer == 0) {
		drain_restore_ids(r, data, len);
		queue_push(c->queue, it, RECORD_PERF, r->number, len);
		return true;
	}
	if (it)
		queue_cancel(c->queue, it);
	r->drop.bytes += used;
	r->drop.records += answer == -EBADMSG ? 1 : ring_skip(&r->ring, head);
	return false;
}

static void sink_take(void *ctx, struct drain_ring *r, uint64_t head)
{
	while (ring_used(&r->ring, head)) {
		if (!take_chunk(ctx, r, head))
			break;
	}
}

static int sink_put(void *ctx, enum record_kind kind, uint32_t ring, const void *data, size_t len)
{
	struct collector *c = ctx;

	return queue_put(c->queue, kind, ring, data, len);
}

static int sink_put_always(void *ctx, enum record_kind kind, uint32_t ring, const void *data,
			   size_t len)
{
	struct collector *c = ctx;

	return queue_put_always(c->queue, kind, ring, data, len);
}

static bool sink_is_whole(void *ctx)
{
	(void)ctx;
	return true;
}

/* Only the wake-up matters, not its number. */
static void take_wake(struct collector *c)
{
	uint64_t count;

	if (read(c->wake_fd, &count, sizeof(count)) < 0)
		return;
}

static void *run(void *arg)
{
	struct collector *c = arg;
	struct drain_sink sink = {.take = sink_take,
				  .put = sink_put,
				  .put_always = sink_put_always,
				  .is_whole = sink_is_whole,
				  .ctx = c};
	const int fds[2] = {c->wake_fd, -1};
	bool end = false;

	collector_hurry();
	if (c->realtime)
		collector_begin_realtime();
	else
		ask_for_short_slices();
	while (!end && !atomic_load(&c->pausing)) {
		if (drain_wait(&c->drain, fds, UINT64_MAX))
			take_wake(c);
		end = atomic_load(&c->stopping);
		drain_set_tick(&c->drain, atomic_load(&c->tick_ns));
		if (atomic_exchange(&c->tick_asked, false))
			drain_tick_now(&c->drain);
		end |= drain_step(&c->drain, &sink);
	}
	if (end) {
		drain_finish(&c->drain, &sink);
		queue_close(c->queue);
	}
	return NULL;
}

int collector_hurry(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	/* The rings fill fastest when CPUs are scarce. Without the privilege it runs as it is. */
	(void)setpriority(PRIO_PROCESS, 0, COLLECTOR_NICE);
	return before;
}

void collector_relax(int before)
{
	(void)setpriority(PRIO_PROCESS, 0, before);
}

int collector_init(struct collector *c, struct error *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return error_errno(err, -errno, "Cannot make an eventfd for the collector");
	c->wake_fd = fd;
	c->ready = true;
	return drain_init(&c->drain, err);
}

int collector_start(struct collector *c, struct error *err)
{
	if (!c->began) {
		int code = drain_begin(&c->drain, atomic_load(&c->tick_ns), c->first_tick_ns, err);
		if (code < 0)
			return code;
	}
	c->began = true;
	atomic_store(&c->pausing, false);
	int code = ending_thread(&c->thread, run, c);
	if (code < 0)
		return error_errno(err, code, "Cannot start the collector thread");
	c->started = true;
	return 0;
}

static void wake(struct collector *c)
{
	uint64_t one = 1;

	/* It fails only if it is readable already. */
	if (write(c->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void join(struct collector *c)
{
	if (!c->started)
		return;
	wake(c);
	pthread_join(c->thread, NULL);
	c->started = false;
}

void collector_pause(struct collector *c)
{
	atomic_store(&c->pausing, true);
	join(c);
}

bool collector_is_stopping(const struct collector *c)
{
	return atomic_load(&c->stopping);
}

void collector_stop(struct collector *c)
{
	int before = errno;

	atomic_store(&c->stopping, true);
	wake(c);
	errno = before;
}

void collector_tick_now(struct collector *c)
{
	atomic_store(&c->tick_asked, true);
	wake(c);
}

void collector_set_tick(struct collector *c, uint64_t tick_ns)
{
	atomic_store(&c->tick_ns, tick_ns);
	wake(c);
}

void collector_deinit(struct collector *c)
{
	if (c->started)
		collector_stop(c);
	join(c);
	if (c->ready)
		close(c->wake_fd);
	c->ready = false;
	drain_deinit(&c->drain);
}
