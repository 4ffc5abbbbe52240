// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of a session. libperf maps one for each CPU and makes all events of the CPU write into
 * it. kontend reads the mapped memory itself (struct ring), since libperf 6.1 cuts long records
 * that wrap and loses records that arrive during perf_mmap__read_done(). The first page is the
 * control page with head and tail, the data follow.
 */
#include "perf-internal.h"
#include <errno.h>
#include <unistd.h>

int perf_rings_map(struct perf_session *ps, struct perf_attempt *at)
{
	errno = 0;
	if (perf_evlist__mmap(ps->evlist, (int)at->ring_pages) == 0)
		return 0;
	at->failure.step = PERF_STEP_MMAP;
	at->failure.code = errno ? -errno : -ENOMEM;
	at->failure.event = perf_event_names[PERF_BEGIN];
	at->failure.cpu = perf_cpu_map__cpu(ps->cpus, 0).cpu;
	at->failure.ring_kib = at->ring_pages * (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);
	return at->failure.code;
}

uint32_t perf_rings_kib(const struct perf_session_options *o)
{
	uint64_t dumps =
		o->how.profile_hz ? (uint64_t)o->how.callgraph.dump_bytes * o->how.profile_hz : 0;

	return ring_perf_kib((size_t)sysconf(_SC_NPROCESSORS_ONLN), o->feed && o->feed->waits,
			     dumps);
}

size_t perf_session_rings(const struct perf_session *ps)
{
	return (size_t)ps->evlist->nr_mmaps;
}

/* 0: of tasks, each event has several. */
static uint64_t wait_id(const struct perf_session *ps, enum perf_event_index which, size_t i)
{
	uint64_t new_id = ps->new_ids ? ps->new_ids[i * PERF_EVENTS + (size_t)which] : 0;

	return !ps->counts ? 0 : new_id ? new_id : ps->evsels[which]->id[i];
}

struct ring perf_session_ring(const struct perf_session *ps, size_t i)
{
	const struct perf_mmap *m = &ps->evlist->mmap[i];
	struct perf_event_mmap_page *control = m->base;

	return (struct ring){
		.counted = {wait_id(ps, PERF_BEGIN, i), wait_id(ps, PERF_END, i)},
		.base = (const uint8_t *)m->base + sysconf(_SC_PAGESIZE),
		.size = (uint64_t)m->mask + 1,
		.head = (const uint64_t *)&control->data_head,
		.tail = (uint64_t *)&control->data_tail,
	};
}

uint32_t perf_session_cpu(const struct perf_session *ps, size_t i)
{
	return (uint32_t)ps->evlist->mmap[i].cpu.cpu;
}

int perf_session_poll_fd(const struct perf_session *ps, size_t i, size_t k)
{
	const int *fd = xyarray__entry(ps->evsels[PERF_BEGIN]->fd, i, k);

	return fd ? *fd : -1;
}

const struct perf_event_attr *perf_session_attr(const struct perf_session *ps,
						enum perf_event_index which)
{
	return &ps->evsels[which]->attr;
}

const uint64_t *perf_session_ids(const struct perf_session *ps, enum perf_event_index which,
				 size_t *ret_n)
{
	*ret_n = ps->evsels[which]->ids;
	return (const uint64_t *)ps->evsels[which]->id;
}

const struct hybrid *perf_session_hybrid(const struct perf_session *ps, enum perf_event_index which)
{
	return ps->hybrid.n && ps->evsels[which]->attr.type == PERF_TYPE_HARDWARE ? &ps->hybrid
										  : NULL;
}

bool perf_session_has(const struct perf_session *ps, enum perf_event_index which)
{
	return ps->evsels[which];
}

bool perf_session_is_fed(const struct perf_session *ps)
{
	return ps->feed && ps->feed->waits;
}

const void *perf_session_shorts(const struct perf_session *ps, bool begin, uint64_t now_ns,
				size_t *ret_len)
{
	return ps->feed && ps->feed->shorts ? ps->feed->shorts(ps->feed, begin, now_ns, ret_len)
					    : NULL;
}

bool perf_session_idle(const struct perf_session *ps, uint64_t *ret_at_ns, uint64_t *ret_ns)
{
	return ps->feed && ps->feed->idle && ps->feed->idle(ps->feed, ret_at_ns, ret_ns);
}

bool perf_session_follows(const struct perf_session *ps, struct feed_follow *ret)
{
	return ps->feed && ps->feed->follow && ps->feed->follow(ps->feed, ret);
}

bool perf_session_own_ring(const struct perf_session *ps, size_t i, unsigned nth, struct ring *ret)
{
	if (!ps->feed || !ps->feed->ring(ps->feed, perf_session_cpu(ps, i), nth, ret))
		return false;
	ret->is_fed = true;
	return true;
}

void perf_session_enable(struct perf_session *ps, enum perf_event_index which)
{
	perf_evsel__enable(ps->evsels[which]);
	if (which == PERF_OUTPUT)
		ps->feed->enable(ps->feed, true);
}

void perf_session_disable(struct perf_session *ps, enum perf_event_index which)
{
	perf_evsel__disable(ps->evsels[which]);
}

void perf_session_enable_mm(struct perf_session *ps, bool on)
{
	for (int e = PERF_MM_START; e < PERF_EVENTS; e++) {
		if (on)
			perf_evsel__enable(ps->evsels[e]);
		else
			perf_evsel__disable(ps->evsels[e]);
	}
}

void perf_session_disable_all(struct perf_session *ps)
{
	if (ps->feed)
		ps->feed->enable(ps->feed, false);
	for (int e = 0; e < PERF_EVENTS; e++) {
		if (ps->evsels[e])
			perf_evsel__disable(ps->evsels[e]);
	}
}
