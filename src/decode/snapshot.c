// SPDX-License-Identifier: GPL-2.0-only
/*
 * The latest snapshot of each kind, in a short array, since kinds are few. Jumping to a moment of a
 * stream (a checkpoint of the model, a cut, the next part of a recording) needs the last snapshots
 * before it, and no older ones. Kinds and bytes are limited, as both may come from a file.
 *
 * Sums of short waits are read once a second only. A cut or a jump to a moment between two readings
 * gets a snapshot of that moment, with estimated sums (shortsnap_at()).
 */
#include "kontend/snapshot.h"
#include "kontend/buildids.h"
#include "kontend/cfisnap.h"
#include "kontend/eventsnap.h"
#include "kontend/funcsnap.h"
#include "kontend/holdsnap.h"
#include "kontend/incident.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include "kontend/mmlevel.h"
#include "kontend/perfsnap.h"
#include "kontend/phasesnap.h"
#include "kontend/pmus.h"
#include "kontend/shortsnap.h"
#include "kontend/sleptsnap.h"
#include "kontend/textsnap.h"
#include "kontend/upsnap.h"
#include "kontend/usersnap.h"
#include <errno.h>
#include <string.h>

/* A new kind needs a line here, a number in record.h, and code that takes and shows it. */
static const struct snapshot_kind kinds[SNAPSHOT_KINDS] = {
	[SNAPSHOT_PERF] = {"perf", SNAP_VERSION, false},
	[SNAPSHOT_UPROBES] = {"uprobes", UPSNAP_VERSION, false},
	[SNAPSHOT_SLOTS] = {"slots", SNAP_VERSION, false},
	[SNAPSHOT_PMUS] = {"pmus", PMUS_VERSION, false},
	[SNAPSHOT_LOCKS] = {"locks", LOCKSNAP_VERSION, false},
	[SNAPSHOT_BURST] = {"bursts", RECORD_BURST_VERSION, false},
	[SNAPSHOT_TEXT] = {"text", TEXTSNAP_VERSION, false},
	[SNAPSHOT_MMAP] = {"mmap", MMLEVEL_VERSION, false},
	[SNAPSHOT_BUILD_IDS] = {"build_ids", BUILDIDS_VERSION, true},
	[SNAPSHOT_FUNCS] = {"functions", FUNCSNAP_VERSION, true},
	[SNAPSHOT_CFI] = {"tables", CFISNAP_VERSION, true},
	[SNAPSHOT_COST] = {"cost", RECORD_COST_VERSION, false},
	[SNAPSHOT_INCIDENT] = {"incident", INCIDENT_VERSION, true},
	[SNAPSHOT_SHORT] = {"short", SHORTSNAP_VERSION, false},
	[SNAPSHOT_PHASES] = {"phases", PHASESNAP_VERSION, false},
	[SNAPSHOT_MACHINE] = {"machine", RECORD_MACHINE_VERSION, false},
	[SNAPSHOT_EVENTS] = {"events", EVENTSNAP_VERSION, true},
	[SNAPSHOT_SLEPT] = {"slept", SLEPTSNAP_VERSION, false},
	[SNAPSHOT_USERS] = {"users", USERSNAP_VERSION, false},
	[SNAPSHOT_HOLDS] = {"holds", HOLDSNAP_VERSION, false},
};

const struct snapshot_kind *snapshot_kind(uint16_t kind)
{
	return kind < SNAPSHOT_KINDS && kinds[kind].name ? &kinds[kind] : NULL;
}

bool snapshot_is_lasting(uint16_t kind)
{
	const struct snapshot_kind *k = snapshot_kind(kind);

	return k && k->is_lasting;
}

bool snapshot_parse(const void *data, size_t len, struct record_snapshot *ret)
{
	if (len < sizeof(*ret) || len - sizeof(*ret) > RECORD_SNAPSHOT_MOST)
		return false;
	memcpy(ret, data, sizeof(*ret));
	return true;
}

static struct snapshot *make_snapshot(const struct record_snapshot *head, const uint8_t *payload,
				      size_t len)
{
	struct snapshot *s = mem_calloc(1, sizeof(*s) + len);

	if (!s)
		return NULL;
	s->refs = 1;
	s->head = *head;
	s->len = len;
	if (len)
		memcpy(s->bytes, payload, len);
	return s;
}

static void put_back(struct snapshot *s)
{
	if (!--s->refs)
		mem_free(s);
}

static size_t place_of(const struct snapshot_set *s, uint16_t kind)
{
	size_t i = 0;

	while (i < s->n && s->last[i]->head.kind != kind)
		i++;
	return i;
}

int snapshot_set_put(struct snapshot_set *s, const void *data, size_t len)
{
	struct record_snapshot head;

	if (!snapshot_parse(data, len, &head))
		return -EINVAL;
	size_t i = place_of(s, head.kind), n = len - sizeof(head);
	size_t before = i < s->n ? s->last[i]->len : 0;
	if (i == SNAPSHOT_SET_KINDS || s->bytes - before + n > SNAPSHOT_SET_BYTES)
		return -ENOSPC;
	struct snapshot *new = make_snapshot(&head, (const uint8_t *)data + sizeof(head), n);
	if (!new)
		return -ENOMEM;
	if (i < s->n)
		put_back(s->last[i]);
	else
		s->n++;
	s->last[i] = new;
	s->bytes += n - before;
	return 0;
}

const struct snapshot *snapshot_set_get(const struct snapshot_set *s, uint16_t kind)
{
	size_t i = place_of(s, kind);

	return i < s->n ? s->last[i] : NULL;
}

static struct snapshot *take_out(struct snapshot_set *s, uint16_t kind)
{
	size_t i = place_of(s, kind);

	if (i == s->n)
		return NULL;
	struct snapshot *taken = s->last[i];
	s->last[i] = s->last[--s->n];
	s->bytes -= taken->len;
	return taken;
}

void snapshot_set_move(struct snapshot_set *dst, struct snapshot_set *src, uint16_t kind)
{
	struct snapshot *old = take_out(dst, kind), *moved = take_out(src, kind);

	if (old)
		put_back(old);
	if (!moved)
		return;
	if (dst->n == SNAPSHOT_SET_KINDS) {
		put_back(moved);
		return;
	}
	dst->last[dst->n++] = moved;
	dst->bytes += moved->len;
}

void snapshot_set_copy(struct snapshot_set *dst, const struct snapshot_set *src)
{
	*dst = *src;
	for (size_t i = 0; i < dst->n; i++)
		dst->last[i]->refs++;
}

void snapshot_set_deinit(struct snapshot_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		put_back(s->last[i]);
	*s = (struct snapshot_set){0};
}

bool snapshot_is_shorts(const struct record *r, uint64_t *ret_ns)
{
	struct record_snapshot head;

	if (r->kind != RECORD_SNAPSHOT || !snapshot_parse(r->data, r->len, &head) ||
	    head.kind != SNAPSHOT_SHORT || head.flags & RECORD_SNAPSHOT_LOST)
		return false;
	*ret_ns = head.time_ns;
	return true;
}

/* Joins @r's head and the payload into a record of its own. 1 or -ENOMEM. */
static int join_payload(const struct record *r, uint64_t at_ns, const void *payload, size_t len,
			struct record *ret)
{
	struct record_snapshot head;
	uint8_t *body = mem_calloc(1, sizeof(head) + len);

	if (!body)
		return -ENOMEM;
	memcpy(&head, r->data, sizeof(head));
	head.time_ns = at_ns;
	memcpy(body, &head, sizeof(head));
	memcpy(body + sizeof(head), payload, len);
	*ret = (struct record){.kind = RECORD_SNAPSHOT, .data = body, .len = sizeof(head) + len};
	return 1;
}

int snapshot_shorts_between(const void *payload, size_t len, uint64_t before_ns,
			    const struct record *now, uint64_t at_ns, struct record *ret)
{
	const size_t head = sizeof(struct record_snapshot);
	struct shortsnap_pair p = {.before_ns = before_ns};
	void *estimated;
	size_t n;

	if (!snapshot_is_shorts(now, &p.now_ns) || at_ns <= p.before_ns || at_ns >= p.now_ns ||
	    !shortsnap_decode(payload, len, &p.before) ||
	    !shortsnap_decode((const char *)now->data + head, now->len - head, &p.now))
		return 0;
	int e = shortsnap_at(&p, at_ns, &estimated, &n);
	if (e)
		return e;
	e = join_payload(now, at_ns, estimated, n, ret);
	mem_free(estimated);
	return e;
}
