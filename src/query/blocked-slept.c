// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps in the table of blocked tasks: by the same causes, which the call chains name.
 * They do not know the device that the rows of snapshots have.
 */
#include "blocked-rows.h"
#include "kontend/hash.h"
#include "kontend/query-blocked.h"
#include "kontend/query-load.h"
#include "kontend/query-origin.h"
#include "kontend/sleptsnap.h"
#include "kontend/taskid.h"
#include "locks/queues.h"
#include "names/names.h"
#include "rows.h"
#include "slept.h"

#include <errno.h>
#include <string.h>

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

static void add_sums(struct blocked_row *r, const struct query_slept *s,
		     const struct query_slept_row *sums)
{
	r->sleeps += sums->sleeps;
	r->slept_ns += sums->total_ns;
	r->slept_max_ns = sums->max_ns > r->slept_max_ns ? sums->max_ns : r->slept_max_ns;
	/* Of sleeps without a record the longest may be of before the window. */
	r->slept_at_least |= !sums->max_ns && !s->of->min_ns;
}

/* By call chain; of a kind that no chain has: not looked up yet. NULL: no memory. */
static enum sleep_cause *make_causes(struct query *q, const struct sleeps *s)
{
	enum sleep_cause *causes = arena_alloc(&q->arena, (s->n_stacks + 1) * sizeof(*causes));

	for (uint32_t i = 0; causes && i < s->n_stacks; i++)
		causes[i] = SLEEP_CAUSES;
	return causes;
}

/*
 * Functions in which tasks sleep for many things; chains of snapshots begin after them, as they are
 * the scheduler's.
 */
static bool is_general(const char *name)
{
	static const char *const begins[] = {
		"io_schedule",	       "schedule",     "__schedule",	"__wait_for_common",
		"wait_for_completion", "bit_wait",     "__wait_on_bit", "out_of_line_wait_on_bit",
		"__traceiter_",	       "__bpf_trace_", "bpf_"};

	for (size_t i = 0; name && i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static uint32_t sleeps_in(struct query *q, const struct sleeps_stack *c)
{
	uint32_t i = 0;

	while (i + 1 < c->n && is_general(query_func_name(q, query_func(q, c->frames[i]))))
		i++;
	return c->n ? query_sleeps_in(q, c->frames + i, c->n - i) : 0;
}

/* Cause, call site and process of a row of these sleeps. */
static struct blocked_row like_of(struct blocked_rows *t, const struct sleeps *s, uint32_t stack,
				  bool io, int32_t pid)
{
	const struct sleeps_stack *c = &s->stacks[stack];
	enum sleep_cause *cause = &t->slept_causes[stack];

	if (*cause == SLEEP_CAUSES)
		*cause = asleep_cause(t->q, c->frames, c->n);
	struct blocked_row like = {.device = "", .pid = pid, .process = "", .cgroup = ""};
	like.cause = blocked_cause_without_words(*cause, false, io);
	if (t->by == BY_CALLER)
		like.site = sleeps_in(t->q, c);
	return like;
}

static int add_rows(struct blocked_rows *t, const struct lone_rows *lone,
		    const struct query_slept *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sleeps_cell *c = &s->of->cells[s->rows[i].cell];
		struct blocked_row like = like_of(t, s->of, c->stack, c->io, c->pid);

		if (t->by == BY_PROCESS)
			like.process = arena_printf(&t->q->arena, "%s", c->comm);
		struct blocked_row *r = like.process ? row_of_sleeps(t, lone, &like) : NULL;
		if (!r)
			return -ENOMEM;
		add_sums(r, s, &s->rows[i]);
	}
	return 0;
}

int blocked_add_slept(struct blocked_rows *t)
{
	struct lone_rows lone = {0};
	struct query_slept s;
	int code = query_slept(t->q, &s);

	if (code < 0 || !s.known)
		return code;
	t->has_slept = true;
	t->slept_span_ns = s.span_ns;
	t->slept_causes = make_causes(t->q, s.of);
	code = t->slept_causes ? find_lone_rows(t, &lone) : -ENOMEM;
	code = code < 0 ? code : add_rows(t, &lone, &s);
	map64_deinit(&lone.at);
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

/* Single sleeps. */

static void origin_of(struct query *q, const struct sleeps *s, const struct sleeps_one *one,
		      struct query_origin *ret)
{
	const struct sleeps_stack *kernel = &s->stacks[one->stack], *user = &s->stacks[one->user];

	query_origin_of(q,
			&(struct query_chain_parts){.kernel = kernel->frames,
						    .n_kernel = kernel->n,
						    .user = user->frames,
						    .n_user = user->n},
			ret);
}

static struct query_sleep describe(struct blocked_rows *t, const struct sleeps *s,
				   const struct sleeps_one *one)
{
	const struct sleeps_stack *c = &s->stacks[one->stack];
	const struct blocked_row like = like_of(t, s, one->stack, one->io, one->pid);
	struct query *q = t->q;
	struct query_origin o;

	origin_of(q, s, one, &o);
	return (struct query_sleep){
		.begin_ns = one->begin_ns,
		.length_ns = one->length_ns,
		.pid = taskid_number(one->pid),
		.tid = taskid_number(one->tid),
		.waker_pid = taskid_number(one->waker_pid),
		.waker_tid = taskid_number(one->waker_tid),
		.comm = query_in_words(q, one->comm),
		.waker_comm = query_in_words(q, one->waker_comm),
		.task = query_slash(&q->arena, query_in_words(q, one->comm), one->tid, "-"),
		.waker = one->waker_tid ? query_slash(&q->arena, query_in_words(q, one->waker_comm),
						      one->waker_tid, "-")
					: "an interrupt of an idle CPU",
		.io = one->io,
		.cause = blocked_cause_words(like.cause),
		.sleeps_in = query_func_name(q, sleeps_in(q, c)),
		.at = o.at,
		.at_why = o.at_why,
	};
}

static uint64_t end_of(const struct sleeps_one *one)
{
	return one->begin_ns + one->length_ns;
}

/* Of those that are kept; @nth 0: the last one. NULL: there is none. */
static const struct sleeps_one *kept_at(const struct sleeps *s, uint32_t nth)
{
	return nth < s->n_kept ? &s->kept[(s->next_kept + SLEEPS_KEPT - 1 - nth) % SLEEPS_KEPT]
			       : NULL;
}

static void insert(const struct sleeps_one **best, size_t *n, size_t most,
		   const struct sleeps_one *one)
{
	size_t at = *n;

	while (at && best[at - 1]->length_ns < one->length_ns)
		at--;
	if (at == most)
		return;
	*n += *n < most;
	for (size_t i = *n - 1; i > at; i--)
		best[i] = best[i - 1];
	best[at] = one;
}

/* The longest sleeps that ended in the window, or of all. Returns how many. */
static size_t find_longest(struct query *q, const struct sleeps *s,
			   const struct sleeps_one *best[SLEEPS_LONGEST])
{
	uint64_t begin_ns = query_window_begin(q);
	size_t n = 0;

	if (!query_has_window(q)) {
		for (; n < s->n_longest; n++)
			best[n] = &s->longest[n];
		return n;
	}
	for (uint32_t i = 0; i < s->n_kept; i++)
		if (end_of(&s->kept[i]) > begin_ns)
			insert(best, &n, SLEEPS_LONGEST, &s->kept[i]);
	return n;
}

static const char *const levels[SLEPTSNAP_LEVELS] = {
	[SLEPTSNAP_ALL] = "all",
	[SLEPTSNAP_LONG_CHAINS] = "long",
	[SLEPTSNAP_OFF] = "off",
};

static void fill_how(struct query *q, const struct query_slept *s, struct query_sleeps *ret)
{
	*ret = (struct query_sleeps){.known = s->known, .reason = s->reason};
	if (!s->known)
		return;
	ret->level = levels[s->of->level];
	ret->min_ns = s->of->min_ns;
	ret->switch_ns = (double)s->of->switch_ps / 1e3;
	ret->dropped = s->dropped;
	ret->missed = s->missed;
	ret->off_ns = s->off_ns;
	ret->span_ns = s->span_ns;
	ret->now = s->of->now;
	ret->now_ns = s->of->now_ns;
	ret->is_short = s->is_short ||
			(query_has_window(q) && s->of->kept_dropped_ns > query_window_begin(q));
	ret->left_out = s->of->level == SLEPTSNAP_OFF
				? "sleeps in state D cost too much: only snapshots show them now"
			: s->of->level == SLEPTSNAP_LONG_CHAINS
				? "sleeps in state D cost too much: short ones have no cause"
				: NULL;
}

int query_blocked_sleeps(struct query *q, struct query_sleeps *ret)
{
	const struct sleeps_one *best[SLEEPS_LONGEST];
	struct blocked_rows t = {.q = q};
	struct query_slept s;

	*ret = (struct query_sleeps){.reason = ""};
	if (query_sync(q) < 0 || query_slept(q, &s) < 0)
		return -ENOMEM;
	fill_how(q, &s, ret);
	size_t n = s.known ? find_longest(q, s.of, best) : 0;
	struct query_sleep *list = arena_alloc(&q->arena, (n + 1) * sizeof(*list));
	t.slept_causes = make_causes(q, s.of);
	if (!list || !t.slept_causes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		list[i] = describe(&t, s.of, best[i]);
	ret->longest = list;
	ret->n = n;
	return q->cache->failed ? -ENOMEM : 0;
}

int query_origin_slept(struct query *q, int32_t tid, struct query_origin *ret)
{
	const struct sleeps *s = q->engine->model->sleeps;
	const struct sleeps_one *one = kept_at(s, 0);

	if (!one || one->tid != tid)
		return -ENOENT;
	query_begin(q);
	do {
		if (query_sync(q) < 0)
			return -ENOMEM;
		origin_of(q, s, one, ret);
	} while (query_load_again(q));
	return q->cache->failed ? -ENOMEM : 0;
}

static bool is_of_row(struct blocked_rows *t, const struct lone_rows *lone, const struct sleeps *s,
		      const struct sleeps_one *one, uint64_t id)
{
	if (t->by == BY_TASK)
		return (uint32_t)one->tid == id;
	struct blocked_row like = like_of(t, s, one->stack, one->io, one->pid);
	const struct blocked_row *r = row_of_sleeps(t, lone, &like);
	return r && r->id == id;
}

/* Rows have been made. */
static void find_of_row(struct blocked_rows *t, const struct query_slept *s, uint64_t id,
			const struct sleeps_one **ret_longest, const struct sleeps_one **ret_last)
{
	uint64_t begin_ns = query_window_begin(t->q);
	struct lone_rows lone = {0};
	const struct sleeps_one *one;

	*ret_longest = *ret_last = NULL;
	if (find_lone_rows(t, &lone) == 0)
		for (uint32_t i = 0; (one = kept_at(s->of, i)) && end_of(one) > begin_ns; i++) {
			if (!is_of_row(t, &lone, s->of, one, id))
				continue;
			*ret_last = *ret_last ? *ret_last : one;
			if (!*ret_longest || one->length_ns > (*ret_longest)->length_ns)
				*ret_longest = one;
		}
	map64_deinit(&lone.at);
}

int query_blocked_slept(struct query *q, enum query_by by, uint64_t id,
			struct query_blocked_slept *ret)
{
	const struct sleeps_one *longest = NULL, *last = NULL;
	struct blocked_rows t = {.q = q, .by = blocked_by(by)};
	struct query_slept s = {0};

	*ret = (struct query_blocked_slept){0};
	int code = query_sync(q) < 0 ? -ENOMEM : query_slept(q, &s);
	if (code == 0 && s.known && s.of->n_kept) {
		code = blocked_make_rows(&t);
		t.slept_causes = t.slept_causes ? t.slept_causes : make_causes(q, s.of);
		code = t.slept_causes ? code : -ENOMEM;
		if (code == 0)
			find_of_row(&t, &s, id, &longest, &last);
	}
	ret->has = last != NULL;
	if (ret->has) {
		ret->longest = describe(&t, s.of, longest);
		ret->last = describe(&t, s.of, last);
		ret->ago_ns = q->model->now_ns > end_of(last) ? q->model->now_ns - end_of(last) : 0;
	}
	blocked_free_maps(&t);
	return code;
}
