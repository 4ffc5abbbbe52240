// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps in the table of blocked tasks: by the same causes, which the call chains name.
 * They do not know the device that the rows of snapshots have.
 */
#include "blocked-rows.h"
#include "kontend/hash.h"
#include "kontend/locksnap-sleepers.h"
#include "locks/queues.h"
#include "rows.h"
#include "slept.h"

#include <errno.h>

/* Of causes that one row has, whatever its device: that row; of others there is none. */
struct lone_rows {
	struct map64 at; /* key -> index + 1; 0: several */
};

static uint64_t lone_key(const struct blocked_rows *t, const struct blocked_row *r)
{
	return hash_u64((uint64_t)r->cause << 32 ^ blocked_row_key(t, r, 0));
}

static int find_lone_rows(const struct blocked_rows *t, struct lone_rows *ret)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < t->n; i++) {
		const uint64_t key = lone_key(t, &t->rows[i]);
		bool is_second = map64_get(&ret->at, key) != NULL;
		code = map64_put(&ret->at, key, is_second ? 0 : (uint32_t)i + 1);
	}
	return code;
}

/* The sums do not know the device: they go to the row of their cause, if there is only one. */
static struct blocked_row *row_of_sleeps(struct blocked_rows *t, const struct lone_rows *lone,
					 const struct blocked_row *like)
{
	const uint32_t *at = map64_get(&lone->at, lone_key(t, like));

	return at && *at ? &t->rows[*at - 1] : blocked_row_at(t, like, blocked_row_key(t, like, 0));
}

static int add_sleeps(struct blocked_rows *t, const struct lone_rows *lone,
		      const struct blocked_row *like, const struct sleptsnap_row *s)
{
	struct blocked_row *r = row_of_sleeps(t, lone, like);

	if (!r)
		return -ENOMEM;
	r->sleeps += s->sleeps;
	r->slept_ns += s->total_ns;
	r->slept_max_ns = s->max_ns > r->slept_max_ns ? s->max_ns : r->slept_max_ns;
	r->slept_at_least |= !s->max_ns;
	return 0;
}

static enum sleep_cause cause_of_sleeps(struct query *q, struct map64 *causes,
					const struct sleptsnap *s, const struct sleptsnap_row *r)
{
	const uint64_t key = (uint64_t)r->frame << 32 | r->n_frames;
	const uint32_t *known = map64_get(causes, key);

	if (known)
		return (enum sleep_cause) * known;
	enum sleep_cause cause = asleep_cause(q, s->frames + r->frame, r->n_frames);
	/* Without memory it is only found again. */
	(void)map64_put(causes, key, cause);
	return cause;
}

static int add_snapshot_of_sleeps(struct blocked_rows *t, const struct lone_rows *lone,
				  const struct sleptsnap *s)
{
	struct map64 causes = {0};
	struct query *q = t->q;
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_rows; i++) {
		const struct sleptsnap_row *r = &s->rows[i];
		struct blocked_row like = {.device = "", .pid = r->pid, .process = ""};

		like.cause = blocked_cause_without_words(cause_of_sleeps(q, &causes, s, r), false,
							 r->kind == LOCKSNAP_IO);
		if (t->by == BY_CALLER)
			like.site = query_sleeps_in(q, s->frames + r->frame, r->n_frames);
		if (t->by == BY_PROCESS)
			like.process = arena_printf(&q->arena, "%s", sleptsnap_text(s, r->comm));
		code = like.process ? add_sleeps(t, lone, &like, r) : -ENOMEM;
	}
	map64_deinit(&causes);
	return code;
}

int blocked_add_slept(struct blocked_rows *t)
{
	struct lone_rows lone = {0};
	struct query_slept s;
	int code = query_slept_open(t->q, &s);

	/* Sums of windows are not kept. */
	if (code == 0 && s.known && !query_has_window(t->q)) {
		t->has_slept = true;
		t->slept_span_ns = s.span_ns;
		code = find_lone_rows(t, &lone);
		code = code < 0 ? code : add_snapshot_of_sleeps(t, &lone, &s.sums);
	}
	map64_deinit(&lone.at);
	query_slept_close(&s);
	return code;
}

void blocked_fill_slept(const struct blocked_rows *t, const struct blocked_row *r, struct value *v)
{
	value_u(&v[0], r->sleeps);
	if (t->slept_span_ns)
		value_d(&v[1], query_per_s(r->slept_ns, t->slept_span_ns));
	value_u(&v[2], r->slept_ns);
	v[3] = (struct value){
		.u = r->slept_max_ns, .known = r->slept_max_ns != 0, .at_least = r->slept_at_least};
	for (int i = 0; i < 4; i++)
		v[i].approx = *r->device != 0;
}
