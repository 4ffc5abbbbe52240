// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps in state D are of the time since measuring began. The model keeps the snapshot at
 * which its own sums begin, which is subtracted here: rows only grow.
 */
#include "slept.h"
#include "kontend/hash.h"
#include "kontend/map64.h"
#include "kontend/model.h"
#include "kontend/record.h"
#include "kontend/snapshot.h"

#include <errno.h>

static int decode(const struct snapshot_set *set, struct sleptsnap *ret)
{
	const struct snapshot *s = snapshot_set_get(set, SNAPSHOT_SLEPT);

	return s ? sleptsnap_decode(ret, s->bytes, s->len) : -ENOENT;
}

static uint64_t key_of(const struct sleptsnap *s, const struct sleptsnap_row *r)
{
	const uint64_t who = (uint64_t)(uint32_t)r->pid << 32 | r->kind;

	return hash_bytes(hash_u64(who), s->frames + r->frame, r->n_frames * sizeof(*s->frames));
}

/* A maximum that has not grown is that of a sleep before. */
static void subtract_row(struct sleptsnap_row *r, const struct sleptsnap_row *before)
{
	r->sleeps -= before->sleeps;
	r->total_ns -= before->total_ns;
	if (r->max_ns <= before->max_ns)
		r->max_ns = 0;
}

static int subtract(struct sleptsnap *s, const struct sleptsnap *before)
{
	struct map64 rows = {0};
	size_t kept = 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < before->n_rows; i++)
		code = map64_put(&rows, key_of(before, &before->rows[i]), (uint32_t)i);
	for (size_t i = 0; code == 0 && i < s->n_rows; i++) {
		struct sleptsnap_row r = s->rows[i];
		const uint32_t *at = map64_get(&rows, key_of(s, &r));
		const struct sleptsnap_row *b = at ? &before->rows[*at] : NULL;

		if (b && b->sleeps <= r.sleeps && b->total_ns <= r.total_ns)
			subtract_row(&r, b);
		if (r.sleeps)
			s->rows[kept++] = r;
	}
	s->n_rows = code ? s->n_rows : kept;
	map64_deinit(&rows);
	return code;
}

static int take(struct query *q, const struct sleptsnap *from, struct query_slept *ret)
{
	const struct sleptsnap_head *now = &ret->sums.head, *before = &from->head;
	uint64_t begin_ns = now->from_ns;

	if (now->reason) {
		ret->reason =
			arena_printf(&q->arena, "%s", sleptsnap_text(&ret->sums, now->reason));
		return ret->reason ? 0 : -ENOMEM;
	}
	ret->known = true;
	ret->dropped = now->dropped;
	/* Of another measurement, or of none, nothing is to be subtracted. */
	bool is_same = before->from_ns == now->from_ns && before->dropped <= now->dropped;
	if (is_same) {
		begin_ns = before->time_ns;
		ret->dropped -= before->dropped;
	}
	ret->span_ns = now->time_ns > begin_ns ? now->time_ns - begin_ns : 0;
	return is_same ? subtract(&ret->sums, from) : 0;
}

int query_slept_open(struct query *q, struct query_slept *ret)
{
	const struct model *m = q->engine->model;
	struct sleptsnap from = {0};

	*ret = (struct query_slept){.reason = ""};
	int code = decode(m->snapshots, &ret->sums);
	if (code == 0)
		code = decode(m->snapshots_before, &from);
	if (code == 0)
		code = take(q, &from, ret);
	else if (code != -ENOENT && code != -ENOMEM)
		ret->reason = "the snapshot is damaged";
	sleptsnap_deinit(&from);
	return code == -ENOMEM ? code : 0;
}

void query_slept_close(struct query_slept *s)
{
	sleptsnap_deinit(&s->sums);
}
