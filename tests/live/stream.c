// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding by hand: samples are IDENTIFIER, TID, TIME, CPU, then a call chain in those of
 * contention_begin, then the raw data and the cgroup; all else ends in the trailer TID, TIME, CPU,
 * IDENTIFIER. Whatever does not fit aborts the test program.
 */
#include "stream.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample_head {
	struct perf_event_header h;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
};

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t id;
};

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "stream: %s\n", what);
		abort();
	}
}

void stream_init(struct stream *st, pid_t pid)
{
	memset(st, 0, sizeof(*st));
	st->pid = pid;
}

void stream_deinit(struct stream *st)
{
	memset(st, 0, sizeof(*st));
}

static void take_attr(struct stream *st, const struct record *r)
{
	struct perf_event_attr a = {0};
	unsigned k = st->n_attrs++;

	must(k < STREAM_EVENTS && r->len > 128, "attr record");
	memcpy(&a, r->data, 128);
	must(a.size == 128 && r->len > a.size, "attr.size");
	st->n_ids[k] = (r->len - a.size) / 8;
	must(st->n_ids[k] <= STREAM_IDS, "ids");
	memcpy(st->ids[k], (const char *)r->data + a.size, st->n_ids[k] * 8);
	if (k < 3)
		st->has_cgroup = a.sample_type & (1u << 21);
}

/* 0 begin, 1 end, 2 dummy; then, where a PMU can rotate, what is measured of that */
static int event_of(const struct stream *st, uint64_t id)
{
	for (int k = 0; k < STREAM_EVENTS; k++) {
		for (size_t i = 0; i < st->n_ids[k]; i++) {
			if (st->ids[k][i] == id)
				return k;
		}
	}
	return -1;
}

static void see_time(struct stream *st, uint64_t time)
{
	if (time && time <= st->promised)
		st->late++;
}

static void take_sample(struct stream *st, const uint8_t *p, size_t size, uint32_t ring)
{
	struct sample_head s;
	uint64_t frames = 0;

	must(size > sizeof(s), "sample size");
	memcpy(&s, p, sizeof(s));
	int k = event_of(st, s.id);
	if (k > 2)
		return;
	must(k == 0 || k == 1, "sample of an unknown event");
	must(s.cpu == ring, "sample on the wrong ring");
	see_time(st, s.time);
	if (!st->pid)
		st->pid = (pid_t)s.pid;
	if ((pid_t)s.pid != st->pid) {
		st->others++;
		return;
	}
	*(k ? &st->ends : &st->begins) += 1;
	st->other_tids += st->tid && (pid_t)s.tid != st->tid;
	if (s.cpu < STREAM_CPUS)
		st->per_cpu[s.cpu]++;
	if (k == 0)
		memcpy(&frames, p + sizeof(s), 8);
	st->chains += frames >= 2;
	if (st->has_cgroup)
		memcpy(&st->cgroup_id, p + size - 8, 8);
}

static void take_comm(struct stream *st, const uint8_t *p, uint64_t time)
{
	uint32_t ids[2];
	const char *name = (const char *)p + 16;

	memcpy(ids, p + 8, 8);
	st->comms++;
	if (!st->pid && time)
		st->pid = (pid_t)ids[0];
	if ((pid_t)ids[1] != st->pid)
		return;
	snprintf(st->comm, sizeof(st->comm), "%s", name);
	if (time == 0)
		snprintf(st->pre_comm, sizeof(st->pre_comm), "%s", name);
}

static void take_cgroup(struct stream *st, const uint8_t *p)
{
	uint64_t id;

	memcpy(&id, p + 8, 8);
	st->cgroups++;
	if (id == st->cgroup_want)
		snprintf(st->cgroup_path, sizeof(st->cgroup_path), "%s", (const char *)p + 16);
}

static void take_other(struct stream *st, const uint8_t *p, const struct perf_event_header *h)
{
	struct trailer t;
	uint64_t n;

	must(h->size >= sizeof(*h) + sizeof(t), "record without a trailer");
	memcpy(&t, p + h->size - sizeof(t), sizeof(t));
	must(event_of(st, t.id) >= 0, "trailer of an unknown event");
	see_time(st, t.time);
	if (h->type == PERF_RECORD_COMM)
		take_comm(st, p, t.time);
	if (h->type == 19)
		take_cgroup(st, p);
	if (h->type == PERF_RECORD_LOST) {
		memcpy(&n, p + 16, 8);
		st->lost += n;
	}
}

static void take_run(struct stream *st, const struct record *r)
{
	const uint8_t *p = r->data, *end = p + r->len;

	must(((uintptr_t)p & 7) == 0, "run not aligned");
	while (p < end) {
		struct perf_event_header h;
		must((size_t)(end - p) >= sizeof(h), "cut header");
		memcpy(&h, p, sizeof(h));
		must(h.size >= sizeof(h) && h.size <= end - p && h.size % 8 == 0, "record size");
		if (h.type == PERF_RECORD_SAMPLE)
			take_sample(st, p, h.size, r->ring);
		else
			take_other(st, p, &h);
		p += h.size;
	}
}

static void take_time(struct stream *st, const struct record *r)
{
	uint64_t t;

	must(r->len == 8, "length of a round or tick");
	memcpy(&t, r->data, 8);
	if (r->kind == RECORD_TICK) {
		must(t > st->last_tick, "ticks go on");
		must(t >= st->promised, "a tick comes before the round that passes it");
		if (st->last_tick && st->tick_ns) {
			st->gaps += t - st->last_tick == st->tick_ns;
			st->odd_gaps += (t - st->last_tick) % st->tick_ns != 0;
		}
		st->ticks++;
		st->last_tick = t;
	} else {
		st->rounds++;
	}
	if (t > st->promised)
		st->promised = t;
}

static void take_record(struct stream *st, const struct record *r)
{
	struct record_drop drop;

	switch (r->kind) {
	case RECORD_START:
		must(st->order == 4 && !st->begins, "start after attr");
		break;
	case RECORD_PERF:
		must(st->order >= 4, "prologue is not complete");
		take_run(st, r);
		break;
	case RECORD_HOST:
		must(st->order == 0 && r->len == sizeof(struct record_host), "host first");
		st->order = 1;
		break;
	case RECORD_KALLSYMS:
		must(st->order == 1, "kallsyms after host");
		st->order = 2;
		break;
	case RECORD_FORMAT:
		must((st->order == 2 || st->order == 3) &&
			     (!strcmp(r->data, "lock") || !strcmp(r->data, "timer")),
		     "format");
		st->order = 3;
		break;
	case RECORD_ATTR:
		must(st->order == 3 || st->order == 4, "attr after format");
		st->order = 4;
		take_attr(st, r);
		break;
	case RECORD_ROUND:
	case RECORD_TICK:
		take_time(st, r);
		break;
	case RECORD_SNAPSHOT: /* of sources that take some */
	case RECORD_TRAILER:  /* in files only */
		break;
	case RECORD_DROP:
		memcpy(&drop, r->data, sizeof(drop));
		st->dropped += drop.records;
		break;
	case RECORD_FILL:
		st->fills++;
		break;
	case RECORD_CPU:
		must(false, "a CPU went offline");
		break;
	case RECORD_NOTE:
		must(false, "a note, of which a live source has none");
	}
}

static int take_one(struct stream *st, struct source *s, int timeout_ms)
{
	struct record r;
	struct error err = {0};
	int answer = source_next(s, timeout_ms, &r, &err);

	must(answer >= 0, err.text);
	if (answer == 0) {
		take_record(st, &r);
		source_release(s, &r);
	}
	st->ended |= answer == SOURCE_END;
	return answer;
}

void stream_take(struct stream *st, struct source *s, int timeout_ms)
{
	for (int i = 0; i < 10000 && take_one(st, s, timeout_ms) == 0; i++)
		timeout_ms = 0;
}

void stream_take_all(struct stream *st, struct source *s)
{
	int idle = 0;

	while (!st->ended && idle < 120)
		idle = take_one(st, s, 500) == SOURCE_IDLE ? idle + 1 : 0;
	must(st->ended, "no end");
}
