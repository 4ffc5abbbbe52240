// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of a lock when a wait began: decoded from records of the BPF program, put on the wait
 * that began right before it, summed up by owner with hints apart, and kept through folds and
 * copies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/damage.h"
#include "kontend/decode.h"
#include "kontend/limits.h"

#include <string.h>

#define MS CANNED_MS
#define LOCK 0xffff888033333300ull
#define OTHER_LOCK 0xffff888033334400ull

static struct ownerrec owner(uint64_t lock, int tid, bool hint)
{
	struct ownerrec r = {.magic = OWNERREC_MAGIC, .lock = lock, .hint = hint};

	if (tid) {
		r.pid = 900;
		r.tid = tid;
		memcpy(r.comm, "holder", 7);
	}
	return r;
}

static void begin(struct asked *w, uint64_t t, int tid, uint64_t lock, uint32_t flags)
{
	synth_begin(w->rig.synth, 0, CANNED_START + t, 700, tid, lock, flags, NULL, 0);
}

static void report_owner(struct asked *w, uint64_t t, int tid, struct ownerrec r)
{
	synth_owner(w->rig.synth, 0, CANNED_START + t, tid, &r);
}

static void end(struct asked *w, uint64_t t, int tid, uint64_t lock)
{
	synth_end(w->rig.synth, 0, CANNED_START + t, 700, tid, lock, 0);
}

static void start(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
}

static struct table play(struct asked *w, const struct model_limits *limits)
{
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	asked_play(w, limits);
	return asked_locks(w, (struct query_spec){.by = BY_OWNER});
}

static size_t row_of(const struct table *t, const char *holder)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!strcmp(cell_s(t, i, "holder"), holder))
			return i;
	fail_msg("no row of %s", holder);
	return 0;
}

static void waits_are_summed_up_by_owner(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LOCK, LCB_F_WRITE);
	report_owner(w, 10 * MS + 5, 701, owner(LOCK, 901, false));
	begin(w, 11 * MS, 702, LOCK, LCB_F_READ);
	report_owner(w, 11 * MS + 5, 702, owner(LOCK, 901, false));
	begin(w, 12 * MS, 703, LOCK, LCB_F_WRITE);
	report_owner(w, 12 * MS + 5, 703, owner(LOCK, 901, true));
	begin(w, 13 * MS, 704, LOCK, LCB_F_WRITE);
	report_owner(w, 13 * MS + 5, 704, owner(LOCK, 0, false));
	end(w, 20 * MS, 701, LOCK);
	end(w, 21 * MS, 702, LOCK);
	end(w, 22 * MS, 703, LOCK);
	end(w, 23 * MS, 704, LOCK);
	begin(w, 30 * MS, 705, LOCK, LCB_F_WRITE); /* without an owner */
	end(w, 31 * MS, 705, LOCK);
	struct table t = play(w, NULL);
	assert_int_equal(t.n_rows, 4);
	size_t sure = row_of(&t, "holder/901"), hint = row_of(&t, "holder/901 R?");
	size_t none = row_of(&t, "(free)"), unknown = row_of(&t, "-");
	assert_int_equal(cell_u(&t, sure, "contended"), 2);
	assert_int_equal(cell_u(&t, sure, "total_ns"), 20 * MS);
	assert_int_equal(cell_u(&t, sure, "owner_pid"), 900);
	assert_int_equal(cell_u(&t, sure, "owner_tid"), 901);
	assert_string_equal(cell_s(&t, sure, "owner_comm"), "holder");
	assert_string_equal(cell_s(&t, sure, "owner_certainty"), "sure");
	assert_int_equal(cell_u(&t, hint, "contended"), 1);
	assert_string_equal(cell_s(&t, hint, "owner_certainty"), "hint");
	assert_string_equal(cell_s(&t, none, "owner_certainty"), "free");
	assert_false(cell_at(&t, none, "owner_pid")->known);
	assert_false(cell_at(&t, unknown, "owner_certainty")->known);
	assert_string_equal(query_title(&w->q, BY_OWNER, t.ids[sure]), "held by holder/901");
	assert_string_equal(query_title(&w->q, BY_OWNER, t.ids[hint]), "held by holder/901 R?");
	assert_string_equal(query_title(&w->q, BY_OWNER, t.ids[none]),
			    "without a holder at that moment");

	struct query_spec in = {.by = BY_TASK};
	in.scope.mask = 1u << BY_OWNER;
	in.scope.id[BY_OWNER] = t.ids[sure];
	assert_int_equal(asked_locks(w, in).n_rows, 2);
}

/* Each of two nested waits has its own; a mutex keeps the first owner reported for it. */
static void nested_waits_have_their_own(void **state)
{
	struct asked *w = *state;

	start(w);
	begin(w, 10 * MS, 701, LOCK, LCB_F_MUTEX | LCB_F_SPIN);
	report_owner(w, 10 * MS + 5, 701, owner(LOCK, 0, false));
	begin(w, 11 * MS, 701, LOCK, LCB_F_MUTEX);
	report_owner(w, 11 * MS + 5, 701, owner(LOCK, 901, false));
	begin(w, 12 * MS, 701, OTHER_LOCK, LCB_F_WRITE);
	report_owner(w, 12 * MS + 5, 701, owner(OTHER_LOCK, 902, false));
	end(w, 13 * MS, 701, OTHER_LOCK);
	begin(w, 14 * MS, 701, LOCK, LCB_F_MUTEX);
	report_owner(w, 14 * MS + 5, 701, owner(LOCK, 903, false));
	struct table t = play(w, NULL);
	assert_int_equal(t.n_rows, 2);
	assert_int_equal(cell_u(&t, row_of(&t, "holder/901"), "waiting"), 1);
	assert_int_equal(cell_u(&t, row_of(&t, "holder/902"), "contended"), 1);
}

/* Of tasks that are not measured, and of locks that they do not wait for. */
static void what_fits_no_wait_is_left_out(void **state)
{
	struct asked *w = *state;
	struct ownerrec wrong = owner(LOCK, 904, false);

	start(w);
	report_owner(w, 5 * MS, 799, owner(LOCK, 901, false));
	begin(w, 10 * MS, 701, LOCK, LCB_F_WRITE);
	report_owner(w, 10 * MS + 5, 701, owner(OTHER_LOCK, 901, false));
	report_owner(w, 10 * MS + 6, 702, owner(LOCK, 901, false));
	wrong.magic++; /* written by another program */
	report_owner(w, 10 * MS + 7, 701, wrong);
	end(w, 20 * MS, 701, LOCK);
	struct table t = play(w, NULL);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "holder"), "-");
	assert_int_equal(w->rig.engine.model->damage->bad, 0);
	assert_false(w->rig.engine.model->owners_reported);
}

static void bad_records_are_counted(void **state)
{
	struct asked *w = *state;
	struct ownerrec bad[3];

	for (int i = 0; i < 3; i++)
		bad[i] = owner(LOCK, 901, false);
	bad[0].tid = -1;
	bad[1].hint = 2;
	memset(bad[2].comm, 'x', sizeof(bad[2].comm));
	start(w);
	for (int i = 0; i < 3; i++)
		report_owner(w, 5 * MS, 701, bad[i]);
	play(w, NULL);
	assert_int_equal(model_damage(w->rig.engine.model).bad, 3);
}

/* Folding gives up owners with the rest, but the sums stay; the owner's task is not swept away. */
static void folding_keeps_the_sums(void **state)
{
	const struct model_limits limits = {
		.locks = 64, .stacks = 64, .tasks = 64, .cells = 16, .hist_groups = 64};
	struct asked *w = *state;
	uint64_t n = 0, contended;

	start(w);
	for (int i = 0; i < 200; i++, n++) {
		uint64_t at = 10 * MS + (uint64_t)i * MS / 10;
		begin(w, at, 701 + i % 7, LOCK + 64ull * (unsigned)(i % 9), LCB_F_WRITE);
		report_owner(w, at + 1, 701 + i % 7,
			     owner(LOCK + 64ull * (unsigned)(i % 9), 901 + i % 5, i % 2));
		end(w, at + 1000, 701 + i % 7, LOCK + 64ull * (unsigned)(i % 9));
	}
	struct table t = play(w, &limits);
	contended = column_sum(&t, "contended");
	assert_int_equal(contended, n);
	for (size_t i = 0; i < t.n_rows; i++)
		if (cell_at(&t, i, "owner_tid")->known)
			assert_string_equal(cell_s(&t, i, "owner_comm"), "holder");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		TEST(waits_are_summed_up_by_owner),  TEST(nested_waits_have_their_own),
		TEST(what_fits_no_wait_is_left_out), TEST(bad_records_are_counted),
		TEST(folding_keeps_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
