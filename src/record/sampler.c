// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies all records about processes, since addresses cannot be attributed without them, and a part
 * of the samples, since these are many and similar. Samples are copied between two rounds, so that
 * waits are whole: from each ring up to a limit. Then none are copied until the credit has
 * recovered. A ring comes in any number of runs: its bytes count until another ring follows.
 * Samples without room in the queue are left out: the recording itself has them.
 *
 * A file may be shorter than such a pause and needs names, too: so each file starts with full
 * credit.
 */
#include "kontend/locksnap.h"
#include "kontend/record-sampler.h"
#include "kontend/record.h"

#include <linux/perf_event.h>
#include <string.h>

enum { BYTES_PER_SECOND = 4 << 20, RING_BYTES = 512 << 10, CHUNK = 64 << 10 };

/* A position in the pieces of a run. */
struct place {
	const struct iovec *v;
	int n;
	size_t at; /* in the first piece */
};

/* Copies the next @len bytes to @to; NULL: skips them. False: there are fewer. */
static bool take_bytes(struct place *p, void *to, size_t len)
{
	char *dst = to;

	while (len && p->n) {
		size_t left = p->v->iov_len - p->at, n = len < left ? len : left;
		if (dst)
			memcpy(dst, (const char *)p->v->iov_base + p->at, n);
		dst = dst ? dst + n : NULL;
		len -= n;
		p->at += n;
		if (p->at == p->v->iov_len) {
			p->v++;
			p->n--;
			p->at = 0;
		}
	}
	return !len;
}

/* The chunk being filled. */
struct chunk {
	struct queue_item *item;
	void *data;
	size_t len, cap;
};

static void push(struct record_sampler *s, struct chunk *c, uint32_t ring)
{
	if (c->item && c->len)
		queue_push(s->to, c->item, RECORD_PERF, ring, c->len);
	else if (c->item)
		queue_cancel(s->to, c->item);
	*c = (struct chunk){0};
}

/* Room for @len bytes; NULL: none. */
static char *room(struct record_sampler *s, struct chunk *c, uint32_t ring, size_t len)
{
	if (c->item && c->cap - c->len < len)
		push(s, c, ring);
	if (!c->item)
		c->item = queue_alloc(s->to, len > CHUNK / 4 ? len : CHUNK / 4, &c->data, &c->cap);
	return c->item ? (char *)c->data + c->len : NULL;
}

static bool take_record(struct record_sampler *s, struct chunk *c, uint32_t ring, struct place *p)
{
	struct perf_event_header h;

	if (!take_bytes(p, &h, sizeof(h)) || h.size < sizeof(h))
		return false;
	bool is_sample = h.type == PERF_RECORD_SAMPLE;
	bool wanted = !is_sample || (!s->closed && s->taken < RING_BYTES);
	char *to = wanted ? room(s, c, ring, h.size) : NULL;
	if (!to)
		return take_bytes(p, NULL, h.size - sizeof(h));
	memcpy(to, &h, sizeof(h));
	if (!take_bytes(p, to + sizeof(h), h.size - sizeof(h)))
		return false;
	c->len += h.size;
	s->taken += is_sample ? h.size : 0;
	s->credit -= is_sample ? h.size : 0;
	return true;
}

void record_sampler_run(struct record_sampler *s, uint32_t ring, const struct iovec *pieces, int n)
{
	struct place p = {pieces, n, 0};
	struct chunk c = {0};

	if (!s->to || s->only_locks)
		return;
	if (ring != s->ring)
		s->taken = 0;
	s->ring = ring;
	while (p.n && take_record(s, &c, ring, &p))
		;
	push(s, &c, ring);
}

/* Decides for all samples until the next round. */
static void open_or_close(struct record_sampler *s, uint64_t now_ns)
{
	uint64_t ns = s->credit_ns ? now_ns - s->credit_ns : 0;

	if (ns > 1000000000)
		ns = 1000000000;
	s->credit_ns = now_ns;
	s->credit += (int64_t)(ns * BYTES_PER_SECOND / 1000000000);
	if (s->credit > RECORD_SAMPLER_CREDIT)
		s->credit = RECORD_SAMPLER_CREDIT;
	s->closed = s->credit < 0;
	s->taken = 0;
}

static bool is_of_locks(const struct record *r)
{
	struct record_snapshot h;

	if (r->len < sizeof(h))
		return false;
	memcpy(&h, r->data, sizeof(h));
	return h.kind == SNAPSHOT_LOCKS;
}

/* Has it a lock of a program that is in a file, and so may have the name of a variable? */
static bool has_locks(const struct record *r)
{
	const size_t head = sizeof(struct record_snapshot);
	struct locksnap locks = {0};
	bool found = false;

	if (!is_of_locks(r) ||
	    locksnap_decode(&locks, (const char *)r->data + head, r->len - head) < 0)
		return false;
	for (size_t i = 0; i < locks.n_names && !found; i++)
		found = locks.names[i].kind == LOCKSNAP_USER &&
			*locksnap_text(&locks, locks.names[i].text) == '/';
	locksnap_deinit(&locks);
	return found;
}

static bool is_wanted(struct record_sampler *s, const struct record *r)
{
	if (r->kind == RECORD_SNAPSHOT) {
		bool has = has_locks(r);
		s->has_locks |= has;
		return has || (s->all_locks && is_of_locks(r));
	}
	if (!s->only_locks)
		return true;
	return r->kind == RECORD_HOST || r->kind == RECORD_START ||
	       (s->has_locks && (r->kind == RECORD_TICK || r->kind == RECORD_ROUND));
}

void record_sampler_put(struct record_sampler *s, const struct record *r, uint64_t now_ns)
{
	struct iovec v = {(void *)(uintptr_t)r->data, r->len};

	if (!s->to || !is_wanted(s, r))
		return;
	if (r->kind == RECORD_PERF) {
		record_sampler_run(s, r->ring, &v, 1);
		return;
	}
	if (r->kind == RECORD_ROUND)
		open_or_close(s, now_ns);
	/* Without memory the round is left out; the next one has the same meaning. */
	(void)queue_put_always(s->to, r->kind, r->ring, r->data, r->len);
}

void record_sampler_cut(struct record_sampler *s, uint64_t now_ns)
{
	struct record r = {.kind = RECORD_ROUND, .data = &now_ns, .len = sizeof(now_ns)};

	record_sampler_put(s, &r, now_ns);
	s->credit = RECORD_SAMPLER_CREDIT;
	s->closed = false;
}
