// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings of ours as perf reads them: it sorts the records, and at a mark hands out all that it
 * had seen at the mark before. A record that follows and is older is out of order for it. Here
 * rings are drained as the collector does, snapshots come between the drains, and none may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/perfdata.h"
#include "recording.h"
#include <string.h>

enum { DRAINS = 200, RINGS = 3, MS = 1000000 };

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* A drain takes a part of the time between two, while events go on; @seen: by ring, until when. */
static void drain(struct synth *s, uint64_t at, uint64_t seen[RINGS], uint64_t *random)
{
	for (uint32_t cpu = 0; cpu < RINGS; cpu++) {
		uint64_t until = at + (cpu + 1) * MS / 4, t = seen[cpu];
		while ((t += MS / 8 + next_random(random) % MS) < until)
			synth_comm(s, cpu, t, 7, 7, "task");
		seen[cpu] = until;
	}
	synth_flush(s);
}

/* Each round is of the begin of the drain before; ticks come in between. */
static struct synth *collected(void)
{
	uint64_t at = 1000ull * MS, mark = at, random = 42, seen[RINGS] = {at, at, at};
	struct synth *s = synth_new(RINGS);

	synth_prologue(s, NULL);
	for (int i = 0; i < DRAINS; i++) {
		at += (1 + next_random(&random) % 5) * MS;
		drain(s, at, seen, &random);
		if (i % 3)
			synth_snapshot(s, SNAPSHOT_PERF, 1, at, 200);
		if (i % 4 == 1)
			synth_record(s, RECORD_TICK, 0, &mark, sizeof(mark));
		if (i % 7 == 3)
			continue; /* nothing was settled, or the mark is still the same */
		synth_round(s, mark);
		mark = at;
		if (i % 5)
			synth_snapshot(s, SNAPSHOT_UPROBES, 1, at, 5000);
	}
	return s;
}

static uint64_t u64_at(const uint8_t *p, size_t at)
{
	uint64_t v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

/* Ours have an address before the thread's numbers; COMM has its time in its last words. */
static uint64_t time_of(const uint8_t *p, const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_SAMPLE && u64_at(p, 8) == PERFDATA_EXT_ID)
		return u64_at(p, 32);
	return h->type == PERF_RECORD_COMM ? u64_at(p, h->size - 24u) : 0;
}

static void test_nothing_is_too_late(void **state)
{
	struct synth *s = collected();
	struct recording rec = recording_written(synth_source(s), 0);
	uint64_t most = 0, limit = 0, gone = 0, ours = 0, theirs = 0, marks = 0;
	struct perfdata_header head;

	(void)state;
	memcpy(&head, rec.data, sizeof(head));
	for (uint64_t at = head.data.offset; at < head.data.offset + head.data.size;) {
		const uint8_t *p = rec.data + at;
		struct perf_event_header h;
		memcpy(&h, p, sizeof(h));
		at += h.size;
		if (h.type == PERFDATA_TYPE_FINISHED_ROUND) {
			gone = limit;
			limit = most;
			marks++;
		}
		uint64_t t = time_of(p, &h);
		if (!t)
			continue;
		assert_true(t >= gone);
		most = t > most ? t : most;
		ours += h.type == PERF_RECORD_SAMPLE;
		theirs += h.type == PERF_RECORD_COMM;
	}
	assert_true(ours > DRAINS && theirs > DRAINS && marks > DRAINS / 4);
	recording_free(&rec);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_too_late)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
