// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of each kind of snapshot that is a struct of arrays, as a list of sections:
 * sections.h writes, reads and frees them by it. Files may contain anything, so each kind has a
 * check of its references: an index or an offset of a text that points outside of its array makes
 * the whole snapshot invalid. Code that reads a decoded snapshot relies on that and checks nothing.
 *
 * The numbers in SECTIONS() are the first eight bytes of a payload, and are in recordings.
 */
#include "kontend/cfisnap.h"
#include "kontend/eventsnap.h"
#include "kontend/locksnap.h"
#include "kontend/map64.h"
#include "kontend/perfsnap.h"
#include "kontend/phasesnap.h"
#include "kontend/sleptsnap.h"
#include "kontend/upsnap.h"
#include "kontend/usersnap.h"

const char *cfisnap_path(const struct cfisnap *s)
{
	return cfisnap_text(s, s->head.path);
}

enum { CFISNAP_HEADER = 12, CFISNAP_ENTRY = 8 };

/* The header is sorted by address, and a lookup searches all of its entries: they must be there. */
static bool cfisnap_fits(const void *cfisnap)
{
	const struct cfisnap *s = cfisnap;
	const struct cfisnap_head *h = &s->head;
	uint64_t at = h->header - h->addr;

	return sections_texts_fit(s->strings, s->n_strings, &h->path, 1) &&
	       h->id_len <= sizeof(h->id) && s->n_bytes <= CFISNAP_MOST &&
	       s->n_bytes >= CFISNAP_HEADER && at <= s->n_bytes - CFISNAP_HEADER &&
	       h->entries <= (s->n_bytes - CFISNAP_HEADER - at) / CFISNAP_ENTRY;
}

static const struct section cfisnap_list[] = {
	SECTION_HEAD(struct cfisnap),
	SECTION(struct cfisnap, segments),
	SECTION(struct cfisnap, bytes),
	SECTION(struct cfisnap, strings),
};

const struct sections cfisnap_sections = SECTIONS(
	0x31504e5353494643ull, struct cfisnap, cfisnap_list, cfisnap_fits, NULL); /* "CFISSNP1" */

static const struct section eventsnap_list[] = {
	SECTION(struct eventsnap, events),
	SECTION(struct eventsnap, pmus),
	SECTION(struct eventsnap, strings),
	SECTION(struct eventsnap, kinds),
};

static bool eventsnap_fits(const void *eventsnap)
{
	const struct eventsnap *s = eventsnap;

	bool ok = s->n_kinds <= EVENTSNAP_KINDS;

	for (size_t i = 0; ok && i < s->n_events; i++)
		ok = sections_texts_fit(s->strings, s->n_strings, &s->events[i].name, 1);
	for (size_t i = 0; ok && i < s->n_pmus; i++)
		ok = sections_texts_fit(s->strings, s->n_strings, &s->pmus[i].name, 1);
	for (size_t i = 0; ok && i < s->n_kinds; i++)
		ok = sections_texts_fit(s->strings, s->n_strings, &s->kinds[i].name, 1);
	return ok;
}

/* "EVNTSNP1" */
const struct sections eventsnap_sections =
	SECTIONS(0x31504e53544e5645ull, struct eventsnap, eventsnap_list, eventsnap_fits, NULL);

const char *eventsnap_name(const struct eventsnap *s, uint64_t id, uint32_t index)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (id ? s->events[i].id == id : s->events[i].index == index)
			return eventsnap_text(s, s->events[i].name);
	return "";
}

const char *eventsnap_kind_name(const struct eventsnap *s, uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < s->n_kinds; i++)
		if (s->kinds[i].type == type && s->kinds[i].config == config)
			return eventsnap_text(s, s->kinds[i].name);
	return "";
}

const char *eventsnap_pmu_name(const struct eventsnap *s, uint32_t type)
{
	for (size_t i = 0; i < s->n_pmus; i++)
		if (s->pmus[i].type == type)
			return eventsnap_text(s, s->pmus[i].name);
	return "";
}

static bool locksnap_texts_fit(const struct locksnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool locksnap_frames_fit(const struct locksnap *s, uint32_t first, uint32_t n)
{
	return first <= s->n_frames && n <= s->n_frames - first;
}

static bool locksnap_queue_fits(const struct locksnap *s, const struct locksnap_queue *q)
{
	return q->type < LOCKSNAP_TYPES && q->holder_state < LOCKSNAP_STATES &&
	       locksnap_texts_fit(s, &q->holder_comm, 1) &&
	       locksnap_frames_fit(s, q->holder_frame, q->holder_n_frames);
}

static bool locksnap_waiter_fits(const struct locksnap *s, const struct locksnap_waiter *w)
{
	return w->queue < s->n_queues && w->part < LOCKSNAP_PARTS && w->on_kind < LOCKSNAP_ONS &&
	       locksnap_texts_fit(s, &w->on, 1) && locksnap_texts_fit(s, &w->comm, 1) &&
	       locksnap_texts_fit(s, &w->user_what, 1) &&
	       locksnap_frames_fit(s, w->frame, w->n_frames) && w->user_frame <= s->n_user_frames &&
	       w->user_n_frames <= s->n_user_frames - w->user_frame;
}

static bool locksnap_reader_fits(const struct locksnap *s, const struct locksnap_reader *r)
{
	return r->queue < s->n_queues && r->state < LOCKSNAP_STATES &&
	       locksnap_texts_fit(s, &r->comm, 1) &&
	       locksnap_frames_fit(s, r->frame, r->n_frames) &&
	       (!r->n_frames || r->in < r->n_frames);
}

static bool locksnap_blocked_fits(const struct locksnap *s, const struct locksnap_blocked *b)
{
	const uint32_t texts[] = {b->comm, b->process,	b->device, b->by_comm, b->fs,	 b->queue,
				  b->file, b->off_comm, b->cgroup, b->limit,   b->source};

	return b->state && b->state < LOCKSNAP_BLOCKED_STATES && b->by_state < LOCKSNAP_STATES &&
	       locksnap_texts_fit(s, texts, sizeof(texts) / sizeof(*texts)) &&
	       locksnap_frames_fit(s, b->frame, b->n_frames);
}

static bool locksnap_run_fits(const struct locksnap *s, const struct locksnap_run *r)
{
	const uint32_t texts[] = {r->off_comm, r->limit};

	return r->state < LOCKSNAP_STATES && locksnap_texts_fit(s, texts, 2);
}

static bool locksnap_stacks_fit(const struct locksnap *s)
{
	bool ok = true;

	for (size_t i = 0; ok && i < s->n_stacks; i++) {
		const struct locksnap_stack *t = &s->stacks[i];
		ok = t->end < LOCKSNAP_STACK_ENDS && t->call <= s->n_calls &&
		     t->n_calls <= s->n_calls - t->call;
	}
	for (size_t i = 0; ok && i < s->n_calls; i++) {
		const uint32_t texts[] = {s->calls[i].function, s->calls[i].file};
		ok = locksnap_texts_fit(s, texts, 2);
	}
	return ok;
}

static bool locksnap_fits(const void *locksnap)
{
	const struct locksnap *s = locksnap;
	bool ok = locksnap_texts_fit(s, &s->head.reason, 1) &&
		  locksnap_texts_fit(s, &s->head.no_readers, 1) &&
		  locksnap_texts_fit(s, &s->head.no_sleepers, 1) &&
		  locksnap_texts_fit(s, &s->head.no_objects, 1) &&
		  locksnap_texts_fit(s, &s->head.no_runs, 1) &&
		  locksnap_texts_fit(s, &s->head.no_names, 1);

	for (size_t i = 0; ok && i < s->n_names; i++) {
		const struct locksnap_name *n = &s->names[i];
		const uint32_t texts[] = {n->comm, n->text, n->what, n->site};
		ok = n->kind < LOCKSNAP_KINDS && locksnap_texts_fit(s, texts, 4);
	}
	for (size_t i = 0; ok && i < s->n_queues; i++)
		ok = locksnap_queue_fits(s, &s->queues[i]);
	for (size_t i = 0; ok && i < s->n_waiters; i++)
		ok = locksnap_waiter_fits(s, &s->waiters[i]);
	for (size_t i = 0; ok && i < s->n_readers; i++)
		ok = locksnap_reader_fits(s, &s->readers[i]);
	for (size_t i = 0; ok && i < s->n_sleeps; i++) {
		const uint32_t texts[] = {s->sleeps[i].file, s->sleeps[i].device};
		ok = s->sleeps[i].doing < LOCKSNAP_DOINGS && locksnap_texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_sleepers; i++)
		ok = s->sleepers[i].kind && s->sleepers[i].kind < LOCKSNAP_SLEEPS &&
		     locksnap_texts_fit(s, &s->sleepers[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_blocked; i++)
		ok = locksnap_blocked_fits(s, &s->blocked[i]);
	for (size_t i = 0; ok && i < s->n_user_frames; i++) {
		const uint32_t texts[] = {s->user_frames[i].function, s->user_frames[i].object};
		ok = locksnap_texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_futexes; i++) {
		const uint32_t texts[] = {s->futexes[i].comm, s->futexes[i].what};
		ok = s->futexes[i].class < LOCKSNAP_FUTEX_CLASSES &&
		     locksnap_texts_fit(s, texts, 2);
	}
	for (size_t i = 0; ok && i < s->n_runs; i++)
		ok = locksnap_run_fits(s, &s->runs[i]);
	for (size_t i = 0; ok && i < s->n_preempted; i++)
		ok = locksnap_texts_fit(s, &s->preempted[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_vars; i++)
		ok = locksnap_texts_fit(s, &s->vars[i].name, 1) &&
		     (!i || s->vars[i - 1].offset <= s->vars[i].offset);
	return ok && locksnap_stacks_fit(s);
}

static const struct section locksnap_list[] = {
	SECTION_HEAD(struct locksnap),	     SECTION(struct locksnap, names),
	SECTION(struct locksnap, queues),    SECTION(struct locksnap, waiters),
	SECTION(struct locksnap, strings),   SECTION(struct locksnap, frames),
	SECTION(struct locksnap, areas),     SECTION(struct locksnap, vars),
	SECTION(struct locksnap, empty),     SECTION(struct locksnap, gone),
	SECTION(struct locksnap, readers),   SECTION(struct locksnap, sleeps),
	SECTION(struct locksnap, ended),     SECTION(struct locksnap, sleepers),
	SECTION(struct locksnap, blocked),   SECTION(struct locksnap, user_frames),
	SECTION(struct locksnap, futexes),   SECTION(struct locksnap, runs),
	SECTION(struct locksnap, stacks),    SECTION(struct locksnap, calls),
	SECTION(struct locksnap, preempted),
};

const struct sections locksnap_sections =
	SECTIONS(0x31504e534b434f4cull, struct locksnap, locksnap_list, locksnap_fits,
		 NULL); /* "LOCKSNP1" */

static bool perfsnap_texts_fit(const struct perfsnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool perfsnap_event_fits(const struct perfsnap *s, const struct snap_event *e)
{
	const uint32_t texts[] = {e->owner_comm, e->target_comm, e->tracer_comm,
				  e->pmu,	 e->name,	 e->where};

	return e->context <= s->n_contexts && perfsnap_texts_fit(s, texts, 6);
}

static bool perfsnap_fits(const void *snap)
{
	const struct perfsnap *s = snap;
	bool ok = perfsnap_texts_fit(s, &s->head.reason, 1) &&
		  perfsnap_texts_fit(s, &s->head.creations_reason, 1);

	for (size_t i = 0; ok && i < s->n_events; i++)
		ok = perfsnap_event_fits(s, &s->events[i]);
	for (size_t i = 0; ok && i < s->n_registers; i++)
		ok = s->registers[i].event <= s->n_events;
	for (size_t i = 0; ok && i < s->n_holders; i++)
		ok = s->holders[i].event <= s->n_events &&
		     perfsnap_texts_fit(s, &s->holders[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_contexts; i++)
		ok = perfsnap_texts_fit(s, &s->contexts[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_creators; i++)
		ok = perfsnap_texts_fit(s, &s->creators[i].comm, 1);
	return ok;
}

/* Children that inherit an event of kontend are kontend's own, too. */
static int perfsnap_mark_own(void *snap)
{
	struct perfsnap *s = snap;
	struct map64 own = {0};
	int code = 0;

	for (size_t i = 0; i < s->n_events && !code; i++)
		if (s->events[i].flags & SNAP_OWN && s->events[i].flags & SNAP_INHERIT)
			code = map64_put(&own, s->events[i].id, 1);
	for (size_t i = 0; i < s->n_events && own.count; i++) {
		struct snap_event *e = &s->events[i];

		if (e->parent && map64_get(&own, e->parent))
			e->flags |= SNAP_OWN;
	}
	map64_deinit(&own);
	return code;
}

static const struct section perfsnap_list[] = {
	SECTION_HEAD(struct perfsnap),	     SECTION(struct perfsnap, slots),
	SECTION(struct perfsnap, registers), SECTION(struct perfsnap, events),
	SECTION(struct perfsnap, holders),   SECTION(struct perfsnap, contexts),
	SECTION(struct perfsnap, strings),   SECTION(struct perfsnap, creators),
};

const struct sections perfsnap_sections =
	SECTIONS(0x31504e5346524550ull, struct perfsnap, perfsnap_list, perfsnap_fits,
		 perfsnap_mark_own); /* "PERFSNP1" */

static bool phasesnap_fits(const void *snap)
{
	const struct phasesnap *s = snap;
	const uint32_t head[] = {s->head.turn, s->head.reason, s->head.cgroup_reason};
	bool ok = sections_texts_fit(s->strings, s->n_strings, head, 3);

	for (size_t i = 0; ok && i < s->n_pairs; i++) {
		const uint32_t paths[] = {s->pairs[i].from_path, s->pairs[i].to_path};
		ok = sections_texts_fit(s->strings, s->n_strings, paths, 2);
	}
	return ok;
}

static const struct section phasesnap_list[] = {
	SECTION_HEAD(struct phasesnap),
	SECTION(struct phasesnap, cpus),
	SECTION(struct phasesnap, pairs),
	SECTION(struct phasesnap, strings),
};

const struct sections phasesnap_sections =
	SECTIONS(0x3150414e53414850ull, struct phasesnap, phasesnap_list, phasesnap_fits,
		 NULL); /* "PHASNAP1" */

enum { LINEAR = 8, PER_OCTAVE = 8 };

static uint64_t phasesnap_lower(uint32_t bucket)
{
	uint32_t octave = bucket / PER_OCTAVE, step = bucket % PER_OCTAVE;

	return bucket < LINEAR ? bucket : (uint64_t)(PER_OCTAVE + step) << (octave - 1);
}

uint64_t phasesnap_bucket_ns(uint32_t bucket)
{
	return (phasesnap_lower(bucket) + phasesnap_lower(bucket + 1) - 1) / 2;
}

uint64_t phasesnap_percentile(const uint32_t *buckets, unsigned pct, uint64_t max_ns)
{
	uint64_t n = 0, seen = 0;
	uint32_t b = 0;

	for (uint32_t i = 0; i < PHASESNAP_BUCKETS; i++)
		n += buckets[i];
	if (!n)
		return 0;
	uint64_t rank = (n - 1) * pct / 100;
	for (; b < PHASESNAP_BUCKETS - 1; b++) {
		seen += buckets[b];
		if (seen > rank)
			break;
	}
	uint64_t ns = phasesnap_bucket_ns(b);
	return ns < max_ns ? ns : max_ns;
}

static bool sleptsnap_fits(const void *snap)
{
	const struct sleptsnap *s = snap;
	bool ok = sections_texts_fit(s->strings, s->n_strings, &s->head.reason, 1) &&
		  s->head.level < SLEPTSNAP_LEVELS;

	for (size_t i = 0; ok && i < s->n_rows; i++) {
		const struct sleptsnap_row *r = &s->rows[i];
		const uint32_t texts[] = {r->comm, r->waker_comm};
		ok = (r->kind == LOCKSNAP_IO || r->kind == LOCKSNAP_DISK) &&
		     sections_texts_fit(s->strings, s->n_strings, texts, 2) &&
		     r->frame <= s->n_frames && r->n_frames <= s->n_frames - r->frame;
	}
	return ok;
}

static const struct section sleptsnap_list[] = {
	SECTION_HEAD(struct sleptsnap),
	SECTION(struct sleptsnap, rows),
	SECTION(struct sleptsnap, frames),
	SECTION(struct sleptsnap, strings),
};

const struct sections sleptsnap_sections =
	SECTIONS(0x31504e5354504c53ull, struct sleptsnap, sleptsnap_list, sleptsnap_fits,
		 NULL); /* "SLPTSNP1" */

static bool usersnap_fits(const void *snap)
{
	const struct usersnap *s = snap;

	return sections_texts_fit(s->strings, s->n_strings, &s->head.reason, 1) &&
	       s->head.level < USERSNAP_LEVELS;
}

static const struct section usersnap_list[] = {
	SECTION_HEAD(struct usersnap),
	SECTION(struct usersnap, rows),
	SECTION(struct usersnap, strings),
};

const struct sections usersnap_sections =
	SECTIONS(0x31504e5352455355ull, struct usersnap, usersnap_list, usersnap_fits,
		 NULL); /* "USERSNP1" */

static bool upsnap_texts_fit(const struct upsnap *s, const uint32_t *offsets, size_t n)
{
	return sections_texts_fit(s->strings, s->n_strings, offsets, n);
}

static bool upsnap_probe_fits(const struct upsnap *s, const struct upsnap_probe *p)
{
	const uint32_t texts[] = {p->owner_comm, p->binary, p->symbol, p->name, p->reason, p->hint};

	return upsnap_texts_fit(s, texts, 6) && p->n_bytes <= sizeof(p->bytes);
}

static bool upsnap_fits(const void *upsnap)
{
	const struct upsnap *s = upsnap;
	bool ok = upsnap_texts_fit(s, &s->head.reason, 1);

	for (size_t i = 0; ok && i < s->n_areas; i++)
		ok = upsnap_texts_fit(s, &s->areas[i].comm, 1) &&
		     s->areas[i].n_recent <= UPSNAP_RECENT;
	for (size_t i = 0; ok && i < s->n_tasks; i++)
		ok = s->tasks[i].area <= s->n_areas && upsnap_texts_fit(s, &s->tasks[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_probes; i++)
		ok = upsnap_probe_fits(s, &s->probes[i]);
	for (size_t i = 0; ok && i < s->n_hits; i++)
		ok = s->hits[i].probe <= s->n_probes;
	return ok;
}

static const struct section upsnap_list[] = {
	SECTION_HEAD(struct upsnap),   SECTION(struct upsnap, areas),
	SECTION(struct upsnap, tasks), SECTION(struct upsnap, probes),
	SECTION(struct upsnap, hits),  SECTION(struct upsnap, strings),
};

const struct sections upsnap_sections = SECTIONS(0x31504e5345425055ull, struct upsnap, upsnap_list,
						 upsnap_fits, NULL); /* "UPBESNP1" */
