// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU is online again. Its events ended when it went offline, so they are opened again and take
 * the places of the old ones: the descriptors by dup3(), the ring by a new mapping in libperf's
 * table. For the rest of the program it is the same ring of the same CPU; even the ids in its
 * records are replaced by the old ones, as the stream has announced them (ring_replace_ids()).
 *
 * All of it is done with the new events switched off, and a failure leaves the old ones as they
 * were, so that the caller can try again.
 */
#include "kontend/mem.h"
#include "perf-internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The kernel's own counts of its events, without reading their records: how often each happened,
 * and how many of its records found no room. A process that only passes the records on need not
 * parse them then. Tasks may have very many events, each with a count to read: they are left out.
 */
static void add_counts(const struct perf_session *ps, size_t cpu, struct perf_counts *sum)
{
	struct {
		uint64_t count, id, lost;
	} v;

	for (int e = 0; e < PERF_EVENTS; e++) {
		if (!ps->evsels[e])
			continue;
		int fd = *perf_session_fd(ps, (enum perf_event_index)e, cpu, 0);
		if (read(fd, &v, sizeof(v)) != (ssize_t)sizeof(v))
			continue; /* of a CPU that is offline without a count */
		bool is_wait = e == PERF_BEGIN || e == PERF_END;
		sum->events += is_wait ? v.count : 0;
		sum->lost_events += is_wait ? v.lost : 0;
		sum->lost += v.lost;
	}
}

int perf_session_lost(const struct perf_session *ps, size_t i, uint64_t *ret)
{
	struct perf_counts sum = {0};

	if (!ps->counts)
		return -ENOTSUP;
	add_counts(ps, i, &sum);
	*ret = sum.lost;
	return 0;
}

int perf_session_counts(const struct perf_session *ps, struct perf_counts *ret)
{
	if (!ps->counts)
		return -ENOTSUP;
	*ret = ps->before;
	for (size_t c = 0; c < (size_t)perf_cpu_map__nr(ps->cpus); c++)
		add_counts(ps, c, ret);
	return 0;
}

/* The new events of a ring. */
struct revival {
	int fds[PERF_EVENTS];
	uint64_t ids[PERF_EVENTS];
	void *base;
};

static int open_events(const struct perf_session *ps, int cpu, struct revival *v)
{
	for (int i = 0; i < PERF_EVENTS; i++) {
		if (!ps->evsels[i])
			continue;
		v->fds[i] = perf_session_open_event(ps, (enum perf_event_index)i, cpu, -1);
		if (v->fds[i] < 0)
			return v->fds[i];
		if (ioctl(v->fds[i], PERF_EVENT_IOC_ID, &v->ids[i]) < 0)
			return -errno;
	}
	if (ps->filter && ioctl(v->fds[PERF_BEGIN], PERF_EVENT_IOC_SET_FILTER, ps->filter) < 0)
		return -errno;
	return 0;
}

static int map_ring(const struct perf_session *ps, struct revival *v, size_t len)
{
	v->base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, v->fds[0], 0);
	if (v->base == MAP_FAILED)
		return -errno;
	for (int i = 1; i < PERF_EVENTS; i++) {
		if (ps->evsels[i] && ioctl(v->fds[i], PERF_EVENT_IOC_SET_OUTPUT, v->fds[0]) < 0)
			return -errno;
	}
	return 0;
}

/* From here on nothing can fail: dup3() has valid descriptors. */
static void take_places(struct perf_session *ps, size_t i, struct revival *v, size_t len)
{
	struct perf_mmap *m = &ps->evlist->mmap[i];

	if (ps->counts)
		add_counts(ps, i, &ps->before);
	for (int e = 0; e < PERF_EVENTS; e++) {
		if (!ps->evsels[e])
			continue;
		dup3(v->fds[e], *perf_session_fd(ps, (enum perf_event_index)e, i, 0), O_CLOEXEC);
		ps->new_ids[i * PERF_EVENTS + (size_t)e] = v->ids[e];
	}
	munmap(m->base, len);
	m->base = v->base;
	v->base = MAP_FAILED;
}

uint64_t *perf_session_new_id(struct perf_session *ps, size_t ring, enum perf_event_index which)
{
	if (!ps->new_ids)
		ps->new_ids =
			mem_calloc(perf_session_rings(ps) * PERF_EVENTS, sizeof(*ps->new_ids));
	return ps->new_ids ? &ps->new_ids[ring * PERF_EVENTS + (size_t)which] : NULL;
}

/* Without the privilege, this CPU reports no owners and no longer wakes the collector. */
static void feed_again(struct perf_session *ps, size_t i)
{
	if (ps->feed)
		(void)ps->feed->set(ps->feed, perf_session_cpu(ps, i),
				    *perf_session_fd(ps, PERF_OUTPUT, i, 0));
}

int perf_session_reopen(struct perf_session *ps, size_t i)
{
	struct revival v = {.base = MAP_FAILED};
	size_t len = (size_t)ps->evlist->mmap[i].mask + 1 + (size_t)sysconf(_SC_PAGESIZE);
	int r;

	for (int e = 0; e < PERF_EVENTS; e++)
		v.fds[e] = -1;
	r = perf_session_new_id(ps, i, PERF_BEGIN)
		    ? open_events(ps, (int)perf_session_cpu(ps, i), &v)
		    : -ENOMEM;
	if (r == 0)
		r = map_ring(ps, &v, len);
	if (r == 0) {
		take_places(ps, i, &v, len);
		perf_timers_reopen(ps, i);
		feed_again(ps, i);
	}
	if (v.base != MAP_FAILED)
		munmap(v.base, len);
	for (int e = 0; e < PERF_EVENTS; e++) {
		if (v.fds[e] >= 0)
			close(v.fds[e]);
	}
	return r;
}

/* It is still attached to the ring of the tasks' events, which were only inactive. */
static int open_output(const struct perf_session *ps, size_t i, uint64_t *id)
{
	int fd = perf_session_open_event(ps, PERF_OUTPUT, (int)perf_session_cpu(ps, i), -1), r = 0;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, id) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *perf_session_fd(ps, PERF_BEGIN, i, 0)) < 0 ||
	    dup3(fd, *perf_session_fd(ps, PERF_OUTPUT, i, 0), O_CLOEXEC) < 0)
		r = -errno;
	close(fd);
	return r;
}

int perf_session_reopen_output(struct perf_session *ps, size_t i)
{
	uint64_t *id;
	int r;

	if (!perf_session_has(ps, PERF_OUTPUT))
		return 0;
	id = perf_session_new_id(ps, i, PERF_OUTPUT);
	if (!id)
		return -ENOMEM;
	r = open_output(ps, i, id);
	if (r < 0)
		return r;
	feed_again(ps, i);
	ioctl(*perf_session_fd(ps, PERF_OUTPUT, i, 0), PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

static bool is_filtered(const struct perf_session *ps, int e)
{
	if (e == PERF_BEGIN || e == PERF_END)
		return perf_session_is_fed(ps);
	if (e >= PERF_MM_START)
		return ps->mm_in_bursts;
	return e == PERF_TIMER_ENTRY || e == PERF_TIMER_EXIT || e == PERF_SWITCH;
}

void perf_session_enable_ring(struct perf_session *ps, size_t i)
{
	for (int e = PERF_EVENTS - 1; e >= 0; e--) {
		/* The others are switched on when their filters are known. */
		if (ps->evsels[e] && !is_filtered(ps, e))
			ioctl(*perf_session_fd(ps, (enum perf_event_index)e, i, 0),
			      PERF_EVENT_IOC_ENABLE, 0);
	}
}

void perf_session_restore_ids(const struct perf_session *ps, size_t i, void *records, size_t len)
{
	uint64_t announced[PERF_EVENTS];

	if (!ps->new_ids)
		return;
	for (int e = 0; e < PERF_EVENTS; e++)
		announced[e] = ps->evsels[e] ? ps->evsels[e]->id[i] : 0;
	ring_replace_ids(records, len, &ps->new_ids[i * PERF_EVENTS], announced, PERF_EVENTS);
}
