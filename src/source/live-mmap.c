// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of mmap_locks slow a program that maps and faults down by a third, so they are opened
 * only on request. On the level "sampled" all of them are on for a part of the time. Other ways
 * were measured and rejected: a period of N in the kernel takes every Nth event of each of the
 * three, which do not belong together; a filter on bits of the address keeps events together, but
 * of one busy process all or none; and both cost 45 ns for each event that they drop, while an
 * event that is switched off costs 9 ns.
 */
#include "kontend/burst.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "live-internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const events[PERF_MM_EVENTS] = {
	"mmap_lock_start_locking", "mmap_lock_acquire_returned", "mmap_lock_released"};
static const uint64_t BURST_NS = 50000000u;

void live_mmap_read(struct live_mmap *m, const char *tracefs)
{
	struct error err = {0};
	int code = 0;

	m->how.memcg_reported = cgroup_is_memcg_here();
	if (m->how.level == MMLEVEL_CONTENDED)
		return;
	for (int i = 0; code == 0 && i < PERF_MM_EVENTS; i++)
		code = tracepoint_read(&m->tp[i], tracefs, "mmap_lock", events[i], &err);
	if (code == 0) {
		m->how.event_ns = live_cost_mmap_ns(m->tp);
		return;
	}
	live_mmap_deinit(m);
	m->how.level = MMLEVEL_CONTENDED;
	m->how.one_in = 1;
	snprintf(m->how.reason, sizeof(m->how.reason), "%.*s", MMLEVEL_REASON - 1, err.text);
}

void live_mmap_options(const struct live_mmap *m, struct perf_session_options *o)
{
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		o->wanted.mm_ids[i] = m->tp[i].id;
	o->wanted.mm_in_bursts = m->how.level == MMLEVEL_SAMPLED;
	o->wanted.mm_paths = m->how.paths;
}

void live_mmap_enable(const struct live_mmap *m, struct perf_session *ps)
{
	if (m->how.level == MMLEVEL_ALL)
		perf_session_enable_mm(ps, true);
}

struct burst live_mmap_burst(const struct live_mmap *m)
{
	if (m->how.level != MMLEVEL_SAMPLED)
		return (struct burst){0};
	return (struct burst){
		.len_ns = BURST_NS, .every_ns = m->how.one_in * BURST_NS, .spread = true};
}

static int put_format(const struct tracepoint *tp, struct queue *q)
{
	static const char system[] = "mmap_lock";
	size_t len = sizeof(system) + tp->format_len;
	char *body = mem_calloc(len, 1);

	if (!body)
		return -ENOMEM;
	memcpy(body, system, sizeof(system));
	memcpy(body + sizeof(system), tp->format, tp->format_len);
	int code = queue_give(q, RECORD_FORMAT, 0, body, len);
	if (code < 0)
		mem_free(body);
	return code;
}

int live_mmap_put(struct live_mmap *m, struct queue *q)
{
	int code = 0;

	for (int i = 0; code == 0 && m->tp[0].id && i < PERF_MM_EVENTS; i++)
		code = put_format(&m->tp[i], q);
	if (code < 0)
		return code;
	m->body.how = m->how;
	m->body.head = (struct record_snapshot){
		.kind = SNAPSHOT_MMAP,
		.version = MMLEVEL_VERSION,
		.time_ns = clock_now_ns(),
	};
	return queue_put_always(q, RECORD_SNAPSHOT, 0, &m->body, sizeof(m->body));
}

void live_mmap_count(struct live_mmap *m, const struct target *t, pid_t command)
{
	if (m->how.level == MMLEVEL_SAMPLED)
		live_mmap_count_open(&m->count, m->tp[1].id, t, command);
}

void live_mmap_deinit(struct live_mmap *m)
{
	live_mmap_count_close(&m->count);
	for (int i = 0; i < PERF_MM_EVENTS; i++)
		tracepoint_deinit(&m->tp[i]);
}
