// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random streams for property tests, and what a model made of one. A stream is a function of its
 * plan; it has all that makes going back hard: records that the merge holds at every tick, events
 * out of order, losses, tasks that come and go, bad records, ticks of different length.
 */
#include "random.h"
#include "kontend/damage.h"
#include "kontend/lockqueue.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/series.h"
#include "kontend/snapshot.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

enum { CPUS = RANDOM_CPUS, TASKS = 24 };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

struct maker {
	struct synth *s;
	uint32_t seed;
	uint64_t held[TASKS], t;
};

static void wait_event(struct maker *m, unsigned locks)
{
	static const uint32_t kinds[] = {LCB_F_READ, LCB_F_WRITE, LCB_F_MUTEX};
	unsigned k = rnd(&m->seed) % TASKS, lock = rnd(&m->seed) % locks;
	uint64_t chain[3] = {0xffffffff81020010, 0xffffffff81001000 + lock % 64 * 16,
			     0xffffffff81004010};
	uint32_t cpu = rnd(&m->seed) % CPUS;
	/* Now and then an event has a time before that of its predecessor. */
	uint64_t t = rnd(&m->seed) % 50 ? m->t : m->t - rnd(&m->seed) % 3000;
	int tid = 100 + (int)k;

	if (m->held[k]) {
		synth_end(m->s, cpu, t, 10, tid, m->held[k], rnd(&m->seed) % 40 == 0);
		m->held[k] = 0;
		return;
	}
	m->held[k] = 0xffff888000000000 + lock * 64;
	synth_begin(m->s, cpu, t, 10, tid, m->held[k], kinds[lock % 3], chain, 3);
}

static void rare_event(struct maker *m)
{
	static const uint64_t cut[2] = {PERF_RECORD_SAMPLE | 16ull << 48, 0};
	uint32_t cpu = rnd(&m->seed) % CPUS;
	int tid = 100 + (int)(rnd(&m->seed) % TASKS);
	struct record_drop drop = {3, 300};
	struct record_fill fill = {rnd(&m->seed) % 4096, 4096};
	struct record_cpu state = {cpu, rnd(&m->seed) % 2};
	char comm[16];

	snprintf(comm, sizeof(comm), "worker-%u", rnd(&m->seed) % 8);
	switch (rnd(&m->seed) % 11) {
	case 0:
		synth_lost(m->s, cpu, m->t, 5);
		return;
	case 1:
		synth_exit(m->s, cpu, m->t, 10, tid);
		m->held[tid - 100] = 0;
		return;
	case 2:
		synth_fork(m->s, cpu, m->t, 10, tid, 10, 10);
		m->held[tid - 100] = 0;
		return;
	case 3:
		synth_raw(m->s, cpu, cut, sizeof(cut));
		return;
	case 4:
		synth_record(m->s, RECORD_DROP, 0, &drop, sizeof(drop));
		return;
	case 5:
		synth_record(m->s, RECORD_CPU, 0, &state, sizeof(state));
		return;
	case 6:
		synth_record(m->s, RECORD_FILL, cpu, &fill, sizeof(fill));
		return;
	case 7:
		synth_throttle(m->s, cpu, m->t);
		return;
	case 8:
	case 9:
		/* Taken before the records emitted so far, and after them. */
		synth_snapshot(m->s, (uint16_t)(rnd(&m->seed) % 5), 1,
			       m->t - 60000 + rnd(&m->seed) % 120000, rnd(&m->seed) % 300);
		return;
	default:
		synth_comm(m->s, cpu, m->t, 10, tid, comm);
	}
}

/* Ticks and rounds speak of a time that lies back, so the merge holds what came since. */
static void mark_time(struct maker *m, uint32_t rarity, uint64_t *last)
{
	uint64_t t = m->t - rnd(&m->seed) % 40000;
	uint32_t what = rnd(&m->seed) % (rarity ? rarity : 300);

	if (t <= *last || what > 12)
		return;
	*last = t;
	if (what > 4) {
		synth_round(m->s, t);
		return;
	}
	synth_tick(m->s, t);
	if (what == 0)
		synth_tick(m->s, t);
	if (rnd(&m->seed) % 16 == 0)
		m->t += 300 * MS; /* a longer one follows */
}

void random_stream(struct rig *r, const struct random_plan *p)
{
	struct maker m = {.seed = p->seed, .t = 10 * MS};
	uint64_t last = 0;

	rig_init(r, CPUS);
	m.s = r->synth;
	synth_comm(m.s, 0, 0, 10, 100, "from-before");
	for (unsigned i = 0; i < p->events; i++) {
		m.t += 1 + rnd(&m.seed) % 5000;
		if (rnd(&m.seed) % 100)
			wait_event(&m, p->locks);
		else
			rare_event(&m);
		mark_time(&m, p->rarity, &last);
	}
	if (!p->has_tail)
		synth_tick(m.s, m.t);
}

static uint32_t sum_of(const void *data, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; data && i < len; i++)
		sum = sum * 31 + ((const uint8_t *)data)[i];
	return sum;
}

static void snapshot_state(FILE *f, const struct model *m)
{
	fprintf(f, "snapshots lost %" PRIu64 " unknown %" PRIu64 "\n", m->damage->snapshot_lost,
		m->damage->snapshot_unknown);
	for (uint16_t kind = 0; kind < SNAPSHOT_KINDS; kind++) {
		const struct snapshot *s = snapshot_set_get(m->snapshots, kind);

		if (kind == SNAPSHOT_MACHINE) /* a reader makes one of a file's header */
			continue;
		fprintf(f, "%s %" PRIu64 " last %" PRIu64 " sum %u\n",
			kind ? snapshot_kind(kind)->name : "none", m->n_snapshots[kind],
			s ? s->head.time_ns : 0, s ? sum_of(s->bytes, s->len) : 0);
	}
}

/* Queues of locks, with the places in them, their series, and the parts that are kept of late. */
static void queue_state(FILE *f, const struct lockqueues *s)
{
	for (uint32_t i = 1; i < s->n; i++) {
		const struct lockqueue *q = &s->v[i];
		const struct lockqueue_sums all = lockqueue_all(q);
		fprintf(f,
			"queue %u serial %u seq %u end %u first %u longest %u handed %" PRIu64
			"/%" PRIu64 " places %u series %u\n",
			i, q->serial, q->seq, q->end, q->first, all.longest, all.handed[0],
			all.handed[1], sum_of(q->places, q->cap * sizeof(*q->places)),
			sum_of(q->series.v, SERIES_LEN * sizeof(*q->series.v)));
	}
	fprintf(f, "queues %u parts %u sum %u times %u\n", s->n, s->n_parts,
		sum_of(s->parts, LOCKQUEUE_PARTS * sizeof(*s->parts)),
		sum_of(s->hists.groups, s->hists.n_groups * sizeof(*s->hists.groups)));
}

/* The sums, and everything else that a screen shows and rig_dump() does not say. */
char *random_state(const struct model *m)
{
	char *dump = rig_dump(m), *text = NULL, *copy;
	const struct model_damage *d = m->damage;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	fputs(dump, f);
	fprintf(f,
		"now %" PRIu64 " zero %" PRIu64 " bucket %" PRIu64 " rate %" PRIu64 "/%" PRIu64
		" ticks %" PRIu64 " failed %" PRIu64 "\n",
		m->now_ns, m->zero_ns, m->bucket_ns, m->rate_n, m->rate_ns, m->n_ticks,
		m->n_failed);
	fprintf(f,
		"dropped %" PRIu64 " throttled %" PRIu64 " late %" PRIu64 " bad %" PRIu64
		" folded %" PRIu64 " deep %" PRIu64 " host %s\n",
		d->dropped, d->throttled, d->late, d->bad, d->folded, d->deep, m->host->release);
	snapshot_state(f, m);
	queue_state(f, m->queues);
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		const struct model_cpu *c = &m->cpus[i];
		fprintf(f,
			"cpu %u off %d n %" PRIu64 " total %" PRIu64 " lost %" PRIu64
			" fill %u/%u next %u rate %" PRIu64 " cur %" PRIu64 " was %" PRIu64 "\n",
			i, c->offline, c->contended, c->total_ns, c->lost, c->fill_used,
			c->fill_size, c->fill_next, c->rate_wait_ns, c->cur_wait_ns,
			series_at(&c->wait_series, m->n_ticks, 3));
	}
	fclose(f);
	copy = mem_strdup(text);
	free(text);
	mem_free(dump);
	return copy;
}

/* A source whose marks lie further back than necessary, as those of a compressed file. */
struct coarse {
	struct source source;
	struct source *inner;
};

static int coarse_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	return source_next(((struct coarse *)s)->inner, timeout_ms, ret, err);
}

static void coarse_release(struct source *s, struct record *r)
{
	source_release(((struct coarse *)s)->inner, r);
}

static uint64_t coarse_mark(struct source *s)
{
	uint64_t mark = source_mark(((struct coarse *)s)->inner);

	return mark - mark % 64;
}

static int coarse_seek(struct source *s, uint64_t mark, struct error *err)
{
	return source_seek(((struct coarse *)s)->inner, mark, err);
}

static void coarse_free(struct source *s)
{
	source_free(((struct coarse *)s)->inner);
	free(s);
}

struct source *random_coarse(struct source *inner)
{
	static const struct source_ops ops = {.next = coarse_next,
					      .release = coarse_release,
					      .mark = coarse_mark,
					      .seek = coarse_seek,
					      .free = coarse_free};
	struct coarse *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->source.ops = &ops;
	c->inner = inner;
	return &c->source;
}
