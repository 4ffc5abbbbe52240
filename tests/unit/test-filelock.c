// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks of files: their addresses and types, the tracepoints of the kernel, and how the
 * model pairs tries.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/damage.h"
#include "kontend/decode.h"
#include "kontend/filelock.h"
#include "kontend/locktype.h"
#include "kontend/query-blame.h"
#include "kontend/query-chains.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"

#include <linux/perf_event.h>
#include <string.h>

enum { DEV = 254 << 20 | 1, INO = 9987759, FIRST = 100, LAST = 199 };

static void each_file_and_kind_has_its_address(void **state)
{
	const uint64_t a = filelock_addr(FILELOCK_FLOCK, DEV, INO);

	(void)state;
	assert_true(filelock_is(a));
	assert_false(filelock_is(0xffff888000001000));
	assert_int_not_equal(a, filelock_addr(FILELOCK_POSIX, DEV, INO));
	assert_int_not_equal(a, filelock_addr(FILELOCK_LEASE, DEV, INO));
	assert_int_not_equal(a, filelock_addr(FILELOCK_FLOCK, DEV + 1, INO));
	assert_int_not_equal(a, filelock_addr(FILELOCK_FLOCK, DEV, INO + 1));
	/* Recordings keep it. */
	assert_int_equal(a, 0xc0bcd0da7d7777d2);
	assert_int_equal(filelock_part(a, 0, FILELOCK_EOF), a);
	assert_int_equal(filelock_part(a, 0, 0), a);
	const uint64_t part = filelock_part(a, 100, 200);
	assert_true(filelock_is(part));
	assert_int_not_equal(part, a);
	assert_int_not_equal(part, filelock_part(a, 100, 201));
	assert_int_not_equal(part, filelock_part(a, 101, 200));
	assert_int_not_equal(filelock_part(a, 0, 1), a);
	assert_int_equal(part, 0xc0a1aeb84e63e8ed);
}

static void types_come_from_flags(void **state)
{
	static const struct {
		enum filelock_kind kind;
		int reads;
		const char *name;
	} known[] = {{FILELOCK_FLOCK, 1, "flock:R"}, {FILELOCK_FLOCK, 0, "flock:W"},
		     {FILELOCK_POSIX, 1, "posix:R"}, {FILELOCK_POSIX, 0, "posix:W"},
		     {FILELOCK_LEASE, 1, "lease:R"}, {FILELOCK_LEASE, 0, "lease:W"}};
	static const uint32_t unknown[] = {4u << 16 | LCB_F_READ,  1u << 16,   1u << 16 | 6,
					   1u << 16 | LCB_F_MUTEX, 0xffffffff, 64};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		enum lock_type t =
			locktype_from_flags(filelock_flags(known[i].kind, known[i].reads));
		assert_string_equal(locktype_name(t), known[i].name);
		assert_int_equal(locktype_is_reader(t), known[i].reads);
		assert_true(locktype_is_file(t));
		assert_string_equal(locktype_base(locktype_twin(t)), locktype_base(t));
		assert_int_not_equal(locktype_twin(t), t);
		assert_false(locktype_is_spin(t));
	}
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(locktype_from_flags(unknown[i]), LOCK_UNKNOWN);
	assert_false(locktype_is_file(LOCK_UNKNOWN) || locktype_is_file(LOCK_SEMAPHORE));
}

/* As Linux 6.18 has them. */
#define FIELDS                                                                                     \
	"\nID: 700\nformat:\n"                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;\n"                           \
	"\tfield:dev_t s_dev;\toffset:24;\tsize:4;\tsigned:0;\n"                                   \
	"\tfield:struct file_lock_core * blocker;\toffset:32;\tsize:8;\tsigned:0;\n"

static const char flock_format[] =
	"filelock\0name: flock_lock_inode" FIELDS
	"\tfield:unsigned int flags;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned char type;\toffset:56;\tsize:1;\tsigned:0;\n"
	"\tfield:int ret;\toffset:80;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static const char posix_format[] =
	"filelock\0name: posix_lock_inode" FIELDS
	"\tfield:unsigned int flags;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned char type;\toffset:56;\tsize:1;\tsigned:0;\n"
	"\tfield:loff_t fl_start;\toffset:64;\tsize:8;\tsigned:1;\n"
	"\tfield:loff_t fl_end;\toffset:72;\tsize:8;\tsigned:1;\n"
	"\tfield:int ret;\toffset:80;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static const char lease_format[] =
	"filelock\0name: break_lease_block" FIELDS
	"\tfield:unsigned int flags;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned char type;\toffset:52;\tsize:1;\tsigned:0;\n\nprint fmt: \"\"\n";

/* @len: of the raw data. */
static int decode_try(const char *format, size_t format_len, uint32_t flags, uint8_t type, int ret,
		      uint32_t len, struct event *ev)
{
	const struct perf_event_attr a = {.type = PERF_TYPE_TRACEPOINT,
					  .size = 64,
					  .config = 700,
					  .sample_period = 1,
					  .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW};
	const uint64_t ino = INO, first = FIRST, last = LAST;
	const uint32_t dev = DEV, flags_at = ret == INT32_MIN ? 48 : 52;
	uint64_t w[20] = {0};
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = 6 * 8 + 96};
	uint8_t *raw = (uint8_t *)&w[6] + 4;
	struct decode d;
	size_t size;

	memcpy(w, &h, sizeof(h));
	w[1] = 100 | 101ull << 32;
	w[2] = 4242;
	w[3] = 2, w[4] = PERF_CONTEXT_KERNEL, w[5] = 0xffffffff81001010;
	memcpy(&w[6], &len, sizeof(len));
	memcpy(raw + 16, &ino, 8);
	memcpy(raw + 24, &dev, 4);
	memcpy(raw + flags_at, &flags, 4);
	raw[flags_at + 4] = type;
	memcpy(raw + 64, &first, 8);
	memcpy(raw + 72, &last, 8);
	memcpy(raw + 80, &ret, 4);
	assert_int_equal(decode_init(&d, NULL), 0);
	assert_int_equal(decode_add_attr(&d, &a, 64, NULL), 0);
	assert_true(!decode_lacks_locks(&d) || !d.n_formats);
	assert_int_equal(decode_add_format(&d, format, format_len, NULL), 0);
	assert_false(decode_lacks_locks(&d));
	int code = decode_event(&d, w, h.size, 0, ev, &size);
	decode_deinit(&d);
	return code;
}

static struct event tried(uint32_t flags, uint8_t type, int ret)
{
	struct event ev;

	assert_int_equal(
		decode_try(flock_format, sizeof(flock_format) - 1, flags, type, ret, 84, &ev), 0);
	assert_int_equal(ev.tid, 101);
	return ev;
}

static void tries_are_begins_and_ends(void **state)
{
	const uint64_t lock = filelock_addr(FILELOCK_FLOCK, DEV, INO);
	struct event ev = tried(2 | FILELOCK_SLEEP, FILELOCK_WRITE, FILELOCK_DEFERRED);

	(void)state;
	assert_int_equal(ev.kind, EVENT_CONTENTION_BEGIN);
	assert_int_equal(ev.begin.lock, lock);
	assert_int_equal(ev.begin.flags, filelock_flags(FILELOCK_FLOCK, 0));
	assert_int_equal(ev.begin.n_frames, 1);
	assert_int_equal(ev.begin.ino, INO);
	assert_int_equal(ev.begin.dev, DEV);
	ev = tried(2 | FILELOCK_SLEEP, FILELOCK_READ, 0);
	assert_int_equal(ev.kind, EVENT_CONTENTION_END);
	assert_int_equal(ev.end.lock, lock);
	assert_int_equal(ev.end.ret, 0);
	assert_int_equal(tried(2 | FILELOCK_SLEEP, FILELOCK_READ, -EDEADLK).end.ret, -EDEADLK);
	/* These cannot have waited. */
	assert_int_equal(tried(2, FILELOCK_WRITE, -EAGAIN).end.ret, FILELOCK_OVER);
	assert_int_equal(tried(2 | FILELOCK_SLEEP, FILELOCK_UNLOCK, 0).end.ret, FILELOCK_OVER);
}

static void a_part_is_a_lock_of_its_own(void **state)
{
	const uint64_t file = filelock_addr(FILELOCK_POSIX, DEV, INO);
	const size_t len = sizeof(posix_format) - 1;
	struct event ev;

	(void)state;
	assert_int_equal(decode_try(posix_format, len, 1 | FILELOCK_SLEEP, FILELOCK_WRITE,
				    FILELOCK_DEFERRED, 84, &ev),
			 0);
	assert_int_equal(ev.begin.file, file);
	assert_int_equal(ev.begin.lock, filelock_part(file, FIRST, LAST + 1));
	assert_int_equal(ev.begin.start, FIRST);
	assert_int_equal(ev.begin.past, LAST + 1);
	/* The part that it has then may be larger: the end is of the file. */
	assert_int_equal(
		decode_try(posix_format, len, 1 | FILELOCK_SLEEP, FILELOCK_WRITE, 0, 84, &ev), 0);
	assert_int_equal(ev.end.lock, file);
	for (uint32_t cut = 0; cut < 84; cut += 4)
		assert_int_equal(decode_try(posix_format, len, 129, 1, 1, cut, &ev), DECODE_BAD);
}

static void a_lease_is_broken(void **state)
{
	struct event ev;

	(void)state;
	assert_int_equal(decode_try(lease_format, sizeof(lease_format) - 1, 32, FILELOCK_WRITE,
				    INT32_MIN, 84, &ev),
			 0);
	assert_int_equal(ev.kind, EVENT_CONTENTION_BEGIN);
	assert_int_equal(ev.begin.flags, filelock_flags(FILELOCK_LEASE, 0));
	assert_int_equal(ev.begin.lock, filelock_addr(FILELOCK_LEASE, DEV, INO));
}

static void a_cut_entry_is_bad(void **state)
{
	struct event ev;

	(void)state;
	for (uint32_t len = 0; len < 84; len += 4)
		assert_int_equal(
			decode_try(flock_format, sizeof(flock_format) - 1, 130, 1, 1, len, &ev),
			DECODE_BAD);
}

/* The model. */

#define MS CANNED_MS
#define AT(ms) (CANNED_START + (uint64_t)(ms)*MS)

static const uint64_t in_flock[] = {0xffffffff81001010, 0xffffffff81001110, 0xffffffff81001210,
				    0xffffffff81001310, 0xffffffff81001410, 0xffffffff81001510};

static uint64_t file(unsigned i)
{
	return filelock_addr(FILELOCK_FLOCK, DEV, INO + i);
}

/* @held_ns: how long @owner has had it; 0: not known. */
static void wants_held(struct asked *w, int ms, int tid, unsigned i, int owner, uint64_t held_ns)
{
	struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
				  .lock = file(i),
				  .flags = filelock_flags(FILELOCK_FLOCK, 0),
				  .tid = tid,
				  .n_frames = 6,
				  .owner = owner ? WAITREC_OWNED : WAITREC_NOT_SAID,
				  .owner_pid = owner,
				  .owner_tid = owner,
				  .held = held_ns ? waitrec_age(held_ns) : 0};

	memcpy(b.frames, in_flock, sizeof(in_flock));
	synth_wait_begin(w->rig.synth, 0, AT(ms), tid, tid, &b);
}

static void wants(struct asked *w, int ms, int tid, unsigned i, int owner)
{
	wants_held(w, ms, tid, i, owner, 0);
}

static void ends(struct asked *w, int ms, int tid, unsigned i, int ret)
{
	const struct waitrec_end e = {
		.magic = WAITREC_END_MAGIC, .lock = file(i), .ret = ret, .tid = tid};

	synth_wait_end(w->rig.synth, 0, AT(ms), tid, tid, &e);
}

static int start(void **state)
{
	int code = asked_setup_empty(state);
	struct asked *w = *state;

	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	return code;
}

static const struct model *play(struct asked *w)
{
	synth_tick(w->rig.synth, AT(1000));
	asked_play(w, NULL);
	return w->rig.engine.model;
}

/* A task that is woken and tries again goes on waiting, and the lock has another holder now. */
static void a_try_again_continues(void **state)
{
	struct asked *w = *state;

	wants(w, 10, 701, 0, 801);
	wants(w, 30, 701, 0, 802);
	ends(w, 50, 701, 0, 0);
	const struct model *m = play(w);
	const struct rig_sum s = rig_sum_type(m, LOCK_FLOCK_W);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.total_ns, 40 * MS);
	assert_int_equal(model_damage(m).unmatched, 0);
	assert_int_equal(m->waits->in_flight, 0);
}

/* A kernel lock for which it waits meanwhile is taken in calls that the first try was not in. */
static void a_kernel_lock_is_waited_for_within(void **state)
{
	const uint64_t longer[9] = {0xffffffff81009000};
	const uint64_t within[] = {0xffffffff81009000, 0xffffffff81001318, 0xffffffff81001410,
				   0xffffffff81001510};
	struct asked *w = *state;

	synth_begin(w->rig.synth, 0, AT(1), 900, 900, 0xffff888000002000, LCB_F_WRITE, longer, 9);
	synth_end(w->rig.synth, 0, AT(2), 900, 900, 0xffff888000002000, 0);
	wants(w, 10, 701, 0, 801);
	synth_begin(w->rig.synth, 0, AT(20), 701, 701, 0xffff888000001000, LCB_F_WRITE, within, 4);
	synth_end(w->rig.synth, 0, AT(21), 701, 701, 0xffff888000001000, 0);
	ends(w, 50, 701, 0, 0);
	const struct model *m = play(w);
	assert_int_equal(rig_sum_type(m, LOCK_FLOCK_W).total_ns, 40 * MS);
	assert_int_equal(rig_sum_type(m, LOCK_RWSEM_W).total_ns, 2 * MS);
	assert_int_equal(model_damage(m).unmatched, 0);
}

/* In another system call it waits for no file any more. */
static void another_call_shows_that_it_is_over(void **state)
{
	const uint64_t elsewhere[] = {0xffffffff81009000, 0xffffffff81008000, 0xffffffff81008100,
				      0xffffffff81008200, 0xffffffff81008300, 0xffffffff81008400};
	const uint64_t longer[9] = {0xffffffff81009000};
	struct asked *w = *state;

	/* Chains may be longer than these, so they are whole. */
	synth_begin(w->rig.synth, 0, AT(1), 900, 900, 0xffff888000002000, LCB_F_WRITE, longer, 9);
	synth_end(w->rig.synth, 0, AT(2), 900, 900, 0xffff888000002000, 0);
	wants(w, 10, 701, 0, 801);
	synth_begin(w->rig.synth, 0, AT(20), 701, 701, 0xffff888000001000, LCB_F_WRITE, elsewhere,
		    6);
	synth_end(w->rig.synth, 0, AT(21), 701, 701, 0xffff888000001000, 0);
	const struct model *m = play(w);
	assert_int_equal(rig_sum_type(m, LOCK_FLOCK_W).n, 0);
	assert_int_equal(model_damage(m).unmatched, 1);
	assert_int_equal(m->waits->in_flight, 0);
}

static void a_signal_ends_it_without_the_lock(void **state)
{
	struct asked *w = *state;

	wants(w, 10, 701, 0, 801);
	ends(w, 50, 701, 0, FILELOCK_SIGNAL);
	const struct model *m = play(w);
	const struct rig_sum s = rig_sum_type(m, LOCK_FLOCK_W);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.rate_wait_ns, 40 * MS);
	assert_int_equal(model_damage(m).unmatched, 0);
}

/* Of perf's events: no begin is missing where a task need not wait. */
static void other_tries_are_no_damage(void **state)
{
	struct asked *w = *state;

	ends(w, 5, 701, 0, 0);
	ends(w, 6, 701, 0, FILELOCK_OVER);
	wants(w, 10, 701, 0, 801);
	wants(w, 12, 702, 0, 801);
	/* It has another lock than it waited for, so a signal has ended that. */
	ends(w, 20, 701, 1, 0);
	ends(w, 50, 702, 0, 0);
	const struct model *m = play(w);
	assert_int_equal(rig_sum_type(m, LOCK_FLOCK_W).n, 1);
	assert_int_equal(rig_sum_type(m, LOCK_FLOCK_W).total_ns, 38 * MS);
	assert_int_equal(m->waits->in_flight, 0);
	assert_int_equal(m->damage->unmatched_begin, 1);
	assert_int_equal(m->damage->unmatched_end, 0);
}

/* As for other locks, --min-wait leaves short ones out. */
static void short_waits_may_be_left_out(void **state)
{
	struct asked *w = *state;

	synth_tick(w->rig.synth, AT(1));
	wants(w, 10, 701, 0, 801);
	wants(w, 10, 702, 0, 801);
	ends(w, 20, 701, 0, 0);
	ends(w, 50, 702, 0, 0);
	rig_play_ticks(&w->rig, NULL, 1);
	w->rig.engine.model->min_wait_ns = 30 * MS;
	const struct rig_sum s = rig_sum_type(play(w), LOCK_FLOCK_W);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.total_ns, 40 * MS);
}

static void each_waits_for_the_other(void **state)
{
	const struct query_spec spec = {0};
	struct asked *w = *state;
	struct error err = {0};
	struct table t;

	wants(w, 10, 701, 1, 702);
	wants(w, 20, 702, 0, 701);
	play(w);
	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	assert_string_equal(cell_s(&t, 0, "row"), "deadlock");
}

static void ages_keep_six_digits(void **state)
{
	static const uint64_t ages[] = {1,
					999,
					1073741823,
					1073741824,
					5750000000ull,
					86400000000000ull,
					31536000000000000ull};

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		uint64_t ns = waitrec_age_ns(waitrec_age(ages[i]));
		assert_in_range(ns, ages[i] - ages[i] / 1000000, ages[i]);
	}
	assert_int_equal(waitrec_age_ns(0), 0);
	assert_int_not_equal(waitrec_age(0), 0);
	assert_int_equal(waitrec_age_ns(waitrec_age(UINT64_MAX)), (uint64_t)WAITREC_AGE_MOST << 30);
}

/* The holder as a snapshot has it: asleep for I/O with @blocked. */
static void look(struct asked *w, int ms, enum locksnap_state state, bool blocked)
{
	struct locksnap_queue q = {.addr = file(0),
				   .type = LOCKSNAP_FLOCK,
				   .writers_waiting = 1,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = 801,
				   .holder_tid = 801,
				   .holder_state = state};
	struct locksnap s = {0};

	lock_snap_waiter(&s, 1, 701, 701, "a", false);
	q.holder_comm = locksnap_add_text(&s, "holder");
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	if (blocked)
		lock_snap_blocked(
			&s,
			(struct locksnap_blocked){
				.pid = 801, .tid = 801, .state = LOCKSNAP_BLOCKED_D, .io = 1},
			"holder", LOCK_SNAP_LOCK, AT(ms));
	lock_snap_emit(w->rig.synth, &s, AT(ms));
	synth_round(w->rig.synth, AT(ms));
	ends(w, ms, 900, 1, FILELOCK_OVER); /* any event */
}

/* No record follows the holder of a file: from snapshot to snapshot it does what they show. */
static void snapshots_show_what_the_holder_does(void **state)
{
	const struct query_blame_spec by = {.by = BLAME_BY_TASK};
	const struct query_spec spec = {0};
	struct asked *w = *state;
	struct error err = {0};
	struct table t;

	wants(w, 10, 701, 0, 801);
	look(w, 30, LOCKSNAP_RUNNING, false);
	look(w, 50, LOCKSNAP_ASLEEP, true);
	look(w, 80, LOCKSNAP_ASLEEP, false);
	ends(w, 90, 701, 0, 0);
	play(w);
	assert_int_equal(query_blame(&w->q, &by, &spec, &t, &err), 0);
	assert_int_equal(cell_at(&t, 0, "tid")->i, 801);
	assert_int_equal(cell_u(&t, 0, "waited_ns"), 80 * MS);
	assert_int_equal(cell_u(&t, 0, "running_ns"), 40 * MS);
	assert_int_equal(cell_u(&t, 0, "io_ns"), 30 * MS);
	assert_int_equal(cell_u(&t, 0, "asleep_ns"), 10 * MS);
	assert_int_equal(cell_u(&t, 0, "not_followed_ns"), 0);
	assert_string_equal(cell_s(&t, 0, "mostly"), "running 50.0%");
}

/* The row of the lock. */
static struct table held(struct asked *w)
{
	const struct query_spec spec = {0};
	struct error err = {0};
	struct table t;

	play(w);
	assert_int_equal(query_chains(&w->q, &spec, &t, &err), 0);
	assert_string_equal(cell_s(&t, 1, "row"), "lock");
	return t;
}

/* A process took it 4 ms before a task waited. */
static void the_age_of_a_hold_is_reported(void **state)
{
	struct asked *w = *state;

	wants_held(w, 10, 701, 0, 801, 4 * MS);
	const struct table t = held(w);
	const struct value *v = cell_at(&t, 1, "held_ns");
	assert_true(v->known && !v->at_least);
	assert_in_range(v->u, 994 * MS - 1000, 994 * MS + 1000);
	assert_string_equal(cell_s(&t, 1, "is"), "held 994ms");
	assert_false(cell_at(&t, 1, "fd")->known);
}

/* The lock is another one's since, by a report without an age. */
static void an_age_is_of_one_holder(void **state)
{
	struct asked *w = *state;

	wants_held(w, 10, 701, 0, 801, 4 * MS);
	wants(w, 20, 701, 0, 802);
	const struct table t = held(w);
	assert_false(cell_at(&t, 1, "held_ns")->known);
}

/* A task that has waited for it has it since its wait ended. */
static void a_waiter_that_got_it_has_it_since(void **state)
{
	struct asked *w = *state;

	wants(w, 10, 701, 0, 801);
	wants(w, 20, 702, 0, 801);
	ends(w, 50, 701, 0, 0);
	const struct table t = held(w);
	assert_int_equal(cell_at(&t, 1, "pid")->i, 701);
	assert_int_equal(cell_u(&t, 1, "held_ns"), 950 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_and_kind_has_its_address),
		cmocka_unit_test(types_come_from_flags),
		cmocka_unit_test(tries_are_begins_and_ends),
		cmocka_unit_test(a_part_is_a_lock_of_its_own),
		cmocka_unit_test(a_lease_is_broken),
		cmocka_unit_test(a_cut_entry_is_bad),
		cmocka_unit_test_setup_teardown(a_try_again_continues, start, asked_teardown),
		cmocka_unit_test_setup_teardown(a_kernel_lock_is_waited_for_within, start,
						asked_teardown),
		cmocka_unit_test_setup_teardown(another_call_shows_that_it_is_over, start,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_signal_ends_it_without_the_lock, start,
						asked_teardown),
		cmocka_unit_test_setup_teardown(other_tries_are_no_damage, start, asked_teardown),
		cmocka_unit_test_setup_teardown(each_waits_for_the_other, start, asked_teardown),
		cmocka_unit_test_setup_teardown(snapshots_show_what_the_holder_does, start,
						asked_teardown),
		cmocka_unit_test_setup_teardown(short_waits_may_be_left_out, start, asked_teardown),
		cmocka_unit_test(ages_keep_six_digits),
		cmocka_unit_test_setup_teardown(the_age_of_a_hold_is_reported, start,
						asked_teardown),
		cmocka_unit_test_setup_teardown(an_age_is_of_one_holder, start, asked_teardown),
		cmocka_unit_test_setup_teardown(a_waiter_that_got_it_has_it_since, start,
						asked_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
