// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdict: each rule at its limits, the order of several, their text and the task that others
 * wait for; and limits as users write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/filelock.h"
#include "kontend/idleclock.h"
#include "kontend/query-elsewhere.h"
#include "kontend/query-overview.h"
#include "kontend/query-verdict.h"
#include "kontend/userlock.h"
#include "kontend/waitrec.h"
#include "lock-snaps.h"

#include <errno.h>
#include <string.h>

#define MS CANNED_MS
#define INODE_LOCK 0xffff888011111100ull

/* The input from a page; all is calm at first. */
struct page {
	struct query_overview now;
	struct query_perf_sum perf;
	struct query_rotation_sum rotation;
	struct query_uprobe_sum uprobe;
	struct query_verdict_facts facts;
	double lost_pct;
};

static struct query_verdict judge(struct asked *w, struct page *p)
{
	struct query_verdict v;

	query_begin(&w->q);
	assert_int_equal(query_overview(&w->q, &p->now), 0);
	p->now.loss.waits_lost_pct = p->now.loss_now.waits_lost_pct = p->lost_pct;
	p->facts.now = &p->now;
	p->facts.perf = &p->perf;
	p->facts.rotation = &p->rotation;
	p->facts.uprobe = &p->uprobe;
	assert_int_equal(query_verdict(&w->q, &p->facts, &v), 0);
	assert_string_equal(v.worst.level_name, query_verdict_level(v.worst.level));
	return v;
}

/* One CPU; @waiters began to wait for an inode's lock @ns before the tick at the end. */
static void play(struct asked *w, unsigned waiters, uint64_t ns, bool look)
{
	const struct record_host host = {.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1};
	uint64_t end = CANNED_START + 3000 * MS;
	struct locksnap s = {0};
	struct synth *y;

	rig_init(&w->rig, 1);
	y = w->rig.synth;
	synth_record(y, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(y, CANNED_START);
	synth_tick(y, CANNED_START + 1000 * MS);
	for (unsigned i = 0; i < waiters; i++)
		synth_begin(y, 0, end - ns + i, 700, 702 + (int)i, INODE_LOCK, LCB_F_WRITE, NULL,
			    0);
	if (look) {
		const struct locksnap_queue q = {.addr = INODE_LOCK,
						 .type = LOCKSNAP_RWSEM,
						 .certainty = LOCKSNAP_SURE,
						 .holder_pid = 700,
						 .holder_tid = 701,
						 .holder_comm = locksnap_add_text(&s, "dd"),
						 .holder_state = LOCKSNAP_RUNNING,
						 .holder_cpu = 1,
						 .writers_waiting = waiters};
		lock_snap_name(&s, INODE_LOCK, LOCKSNAP_INODE, -1, 700, "dd", "/var/x.img", 0);
		for (unsigned i = 0; i < waiters; i++)
			lock_snap_waiter(&s, i + 1, 700, 702 + (int)i, "dd", false);
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
		lock_snap_emit(y, &s, end);
	}
	synth_tick(y, end);
	asked_play(w, NULL);
}

static void nothing_waits(void **state)
{
	struct asked *w = *state;
	struct page p = {0};

	play(w, 0, 0, false);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_QUIET);
	assert_string_equal(v.worst.text, "nothing waits for a kernel lock");
	assert_null(v.worst.rule_name);
	assert_int_equal(v.more, 0);
}

static void a_queue_is_bad_and_says_because_of_whom(void **state)
{
	struct asked *w = *state;
	struct page p = {0};

	play(w, 4, 1500 * MS, true);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_int_equal(v.worst.rule, VERDICT_WAIT);
	assert_string_equal(v.worst.text,
			    "4 tasks wait for i_rwsem /var/x.img, avg 3.00, longest 1.50s");
	assert_string_equal(v.worst.name, "i_rwsem /var/x.img");
	assert_non_null(strstr(v.worst.text, v.worst.name));
	assert_string_equal(v.worst.because, "held by dd/701 W, running on 1");
	assert_int_equal(v.more, 0); /* waiting long is no second thing */
	assert_int_equal(v.worst.lock, asked_locks(w, (struct query_spec){.by = BY_LOCK}).ids[0]);
}

static void wait_beside_idle_cpus(struct synth *y, int tid, uint64_t lock, uint64_t ms,
				  uint64_t lost_ms)
{
	const uint64_t t = CANNED_START + 1100 * MS;
	const struct waitrec_begin b = {.magic = WAITREC_BEGIN_MAGIC,
					.lock = lock,
					.flags = LCB_F_WRITE,
					.tid = tid,
					.held = idleclock_short(1000 * MS)};
	const struct waitrec_end e = {.magic = WAITREC_END_MAGIC,
				      .lock = lock,
				      .tid = tid,
				      .idle = idleclock_short((1000 + lost_ms) * MS)};

	synth_wait_begin(y, 0, t, 700, tid, &b);
	synth_wait_end(y, 0, t + ms * MS, 700, tid, &e);
}

/* More is waited for the lock of the inode; of both so much while the CPU is idle. */
static struct query_verdict judge_lost(struct asked *w, uint64_t inode_lost_ms, uint64_t lost_ms)
{
	const struct record_host host = {.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1};
	struct page p = {.facts = {.average = true}};

	rig_init(&w->rig, 1);
	synth_record(w->rig.synth, RECORD_HOST, 0, &host, sizeof(host));
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
	wait_beside_idle_cpus(w->rig.synth, 702, INODE_LOCK, 800, inode_lost_ms);
	wait_beside_idle_cpus(w->rig.synth, 703, INODE_LOCK + 0x1000, 600, lost_ms);
	synth_tick(w->rig.synth, CANNED_START + 2000 * MS);
	asked_play(w, NULL);
	return judge(w, &p);
}

static void it_is_the_lock_that_costs_most(void **state)
{
	struct asked *w = *state;
	struct query_verdict v = judge_lost(w, 100, 500);
	const struct query_spec waited = {.sort = "total_ns", .average = true};
	const struct query_spec lost = {.sort = "wait_lost_ns", .average = true};

	assert_int_equal(v.worst.rule, VERDICT_WAIT);
	assert_int_equal(v.worst.lock, asked_locks(w, lost).ids[0]);
	assert_int_not_equal(v.worst.lock, asked_locks(w, waited).ids[0]);
	/* The part that goes where the sentence has no room. */
	assert_string_equal(v.worst.spare, ", of it 0.25 while a CPU was idle");
	assert_non_null(strstr(v.worst.text, v.worst.spare));
}

/* 20 ms in two seconds are a hundredth of a CPU. */
static void what_costs_hardly_anything_is_not_the_worst(void **state)
{
	struct asked *w = *state;
	struct query_verdict v = judge_lost(w, 0, 20);
	const struct query_spec waited = {.sort = "total_ns", .average = true};
	const struct query_spec lost = {.sort = "wait_lost_ns", .average = true};

	assert_int_equal(v.worst.lock, asked_locks(w, waited).ids[0]);
	assert_int_not_equal(v.worst.lock, asked_locks(w, lost).ids[0]);
}

/* A queue of programs that lock a file is bad, and no fault of the kernel. */
static void who_locks_a_file_is_said(void **state)
{
	const uint64_t file = filelock_addr(FILELOCK_FLOCK, 254 << 20, 12);
	struct asked *w = *state;
	struct page p = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_comm(w->rig.synth, 0, CANNED_START + MS, 700, 700, "apt");
	synth_begin(w->rig.synth, 0, CANNED_START + 2 * MS, 700, 700, file,
		    filelock_flags(FILELOCK_FLOCK, 0), NULL, 0);
	synth_tick(w->rig.synth, CANNED_START + 3000 * MS);
	asked_play(w, NULL);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_non_null(v.worst.because);
	assert_ptr_equal(strstr(v.worst.because, "apt locks this file by design"), v.worst.because);
}

/* One CPU; three tasks wait for a lock of their program for @user_ns, which a look has seen, and
 * one for that of an inode for @kernel_ns; 0: none does. */
static void play_worlds(struct asked *w, uint64_t user_ns, uint64_t kernel_ns)
{
	const struct record_host host = {.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1};
	const uint64_t addr = userlock_addr(9, 0x403060), end = CANNED_START + 3000 * MS;
	struct locksnap s = {0};
	struct synth *y;

	rig_init(&w->rig, 1);
	y = w->rig.synth;
	synth_record(y, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(y, CANNED_START);
	synth_tick(y, CANNED_START + 1000 * MS);
	const struct locksnap_queue q = {.addr = addr,
					 .type = LOCKSNAP_USER_MUTEX,
					 .certainty = LOCKSNAP_EVIDENCE,
					 .holder_pid = 800,
					 .holder_tid = 800,
					 .holder_comm = locksnap_add_text(&s, "app"),
					 .holder_state = LOCKSNAP_RUNNING,
					 .holder_cpu = 1,
					 .writers_waiting = 3};
	lock_snap_name(&s, addr, LOCKSNAP_USER, -1, 800, "app", "app:hot_mutex", 0);
	for (int i = 0; user_ns && i < 3; i++) {
		synth_begin(y, 0, end - user_ns + (unsigned)i, 800, 801 + i, addr,
			    userlock_flags(USERLOCK_MUTEX, 0), NULL, 0);
		lock_snap_waiter(&s, (unsigned)i + 1, 800, 801 + i, "app", false);
	}
	if (kernel_ns)
		synth_begin(y, 0, end - kernel_ns, 700, 702, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	if (user_ns)
		assert_int_equal(locksnap_add_queue(&s, &q), 0);
	lock_snap_emit(y, &s, end);
	synth_tick(y, end);
	asked_play(w, NULL);
}

/* Waits for locks of programs are in a rule of their own and in no other; the longest wait goes
 * with the rule that it belongs to. */
static void locks_of_programs_are_judged_apart(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct page p = {.facts.limits = &l};
	struct asked *w = *state;

	play_worlds(w, 1500 * MS, 0);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_string_equal(v.worst.rule_name, "user");
	assert_non_null(strstr(v.worst.text, "3 tasks wait for "));
	assert_non_null(strstr(v.worst.text, "hot_mutex"));
	assert_non_null(strstr(v.worst.text, ", longest 1.50s"));
	assert_non_null(strstr(v.worst.because, "held by app/800"));
	assert_int_equal(v.n_findings, 1);

	l.of[VERDICT_USER] = (struct verdict_limit){0};
	v = judge(w, &p);
	assert_string_equal(v.worst.rule_name, "longest");
	assert_non_null(strstr(v.worst.text, "hot_mutex"));
	l.of[VERDICT_LONGEST] = (struct verdict_limit){0};
	v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_OK);
	assert_string_equal(v.worst.text, "nothing waits for a kernel lock");
}

static void each_world_has_its_finding(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct page p = {.facts.limits = &l};
	struct asked *w = *state;

	l.of[VERDICT_LONGEST] = (struct verdict_limit){200e6, 400e6};
	play_worlds(w, 250 * MS, 500 * MS);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.n_findings, 2);
	assert_string_equal(v.findings[0].rule_name, "longest");
	assert_non_null(strstr(v.findings[0].text, "for 500ms"));
	assert_null(strstr(v.findings[0].text, "hot_mutex"));
	assert_string_equal(v.findings[1].rule_name, "user");
	assert_non_null(strstr(v.findings[1].text, "hot_mutex"));
	/* Together they would be bad. */
	l.of[VERDICT_WAIT] = l.of[VERDICT_USER] = (struct verdict_limit){20, 40};
	l.of[VERDICT_LONGEST] = (struct verdict_limit){0};
	p.facts.average = true;
	v = judge(w, &p);
	assert_int_equal(v.n_findings, 1);
	assert_string_equal(v.worst.rule_name, "user");
	assert_int_equal(v.worst.level, VERDICT_LOOK);
}

static void check_order(struct asked *w, uint64_t user_ns, const char *first, const char *second)
{
	struct verdict_limits l = verdict_defaults;
	struct page p = {.facts.limits = &l};

	l.of[VERDICT_LONGEST] = (struct verdict_limit){0};
	play_worlds(w, user_ns, 500 * MS);
	const struct query_verdict v = judge(w, &p);
	assert_int_equal(v.n_findings, 2);
	assert_int_equal(v.findings[0].level, v.findings[1].level);
	assert_string_equal(v.findings[0].rule_name, first);
	assert_string_equal(v.findings[1].rule_name, second);
}

/* Three tasks wait for the lock of the program, and one for that of the kernel. */
static void the_world_with_more_waiting_is_first(void **state)
{
	check_order(*state, 250 * MS, "user", "wait");
}

static void the_world_with_less_waiting_is_second(void **state)
{
	check_order(*state, 100 * MS, "wait", "user");
}

static void one_long_wait_is_enough(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct asked *w = *state;
	struct page p = {.facts.limits = &l};

	l.of[VERDICT_WAIT] = (struct verdict_limit){0};
	play(w, 1, 1200 * MS, false);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_int_equal(v.worst.rule, VERDICT_LONGEST);
	assert_non_null(strstr(v.worst.text, " for 1.20s"));
	assert_null(v.worst.because);
}

/* At the limit it is over it. */
static void limits_are_what_they_say(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct asked *w = *state;
	struct page p = {.facts.limits = &l};

	l.of[VERDICT_WAIT] = (struct verdict_limit){0};
	play(w, 1, 150 * MS, false);
	l.of[VERDICT_LONGEST] = (struct verdict_limit){150e6, 150e6};
	assert_int_equal(judge(w, &p).worst.level, VERDICT_BAD);
	l.of[VERDICT_LONGEST] = (struct verdict_limit){150e6, 150e6 + 1};
	assert_int_equal(judge(w, &p).worst.level, VERDICT_LOOK);
	l.of[VERDICT_LONGEST] = (struct verdict_limit){150e6 + 1, 0};
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_OK);
	assert_non_null(strstr(v.worst.text, " tasks wait for kernel locks on average"));
}

static void other_rules_have_their_turn(void **state)
{
	struct asked *w = *state;
	struct page p = {0};

	play(w, 0, 0, false);
	p.perf = (struct query_perf_sum){.known = true, .events = 9, .own = 3, .starved = 2};
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_LOOK);
	assert_string_equal(v.worst.rule_name, "short");
	assert_string_equal(v.worst.text, "2 of 12 perf events get a part of their time only");

	p.rotation.ns_per_s = 60 * MS;
	v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD); /* worse goes before earlier */
	assert_string_equal(v.worst.rule_name, "rotation");
	assert_string_equal(v.worst.text, "rotation of perf events takes 6.0% of a CPU");
	assert_int_equal(v.more, 1);

	p.uprobe = (struct query_uprobe_sum){.known = true, .cpu_known = true, .cpu_pct = 53.6};
	v = judge(w, &p);
	assert_string_equal(v.worst.rule_name, "rotation"); /* of two the first one */
	assert_int_equal(v.more, 2);

	p.rotation.ns_per_s = 0;
	p.perf.missing = SNAP_NO_EVENTS; /* what is not known is nothing to look at */
	v = judge(w, &p);
	assert_string_equal(v.worst.text, "uprobes take 53.6% of a CPU");
	p.uprobe = (struct query_uprobe_sum){.known = true, .waiting = 1, .worst = "app/931"};
	v = judge(w, &p);
	assert_string_equal(v.worst.text,
			    "1 task waits for an out-of-line slot of uprobes, fullest is "
			    "app/931");
}

/* Many losses are the first thing to report, but after things that are bad all the same. */
static void losses_are_said(void **state)
{
	struct asked *w = *state;
	struct page p = {.lost_pct = 2};

	play(w, 0, 0, false);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_LOOK);
	p.lost_pct = 31;
	p.perf = (struct query_perf_sum){.known = true, .starved = 2};
	v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_LOST);
	assert_string_equal(v.worst.rule_name, "lost");
	assert_string_equal(v.worst.text,
			    "31.0% of the records were lost: figures are lower bounds");
	assert_int_equal(v.more, 1);
	p.rotation.ns_per_s = 60 * MS;
	assert_string_equal(judge(w, &p).worst.rule_name, "rotation");
}

static void of_a_report_it_is_about_all_of_it(void **state)
{
	struct asked *w = *state;
	struct page p = {.facts.average = true};

	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_LOOK);
	assert_non_null(strstr(v.worst.text, ", avg "));
}

static void put_sleepers(struct locksnap *s, int pid, const char *comm, enum locksnap_sleeps kind,
			 uint32_t tasks, uint32_t idle)
{
	const struct locksnap_sleepers r = {.pid = pid,
					    .comm = locksnap_add_text(s, comm),
					    .kind = kind,
					    .tasks = tasks,
					    .idle = idle};

	s->head.counts_sleepers = 1;
	assert_int_equal(locksnap_add_sleepers(s, &r), 0);
}

/* A snapshot sees one wait that began before the measurement, while it lasts. */
static void look_at_early(struct synth *y, uint64_t t)
{
	struct locksnap s = {0};
	const struct locksnap_queue q = {.addr = INODE_LOCK,
					 .type = LOCKSNAP_RWSEM,
					 .certainty = LOCKSNAP_SURE,
					 .holder_pid = 700,
					 .holder_tid = 701,
					 .writers_waiting = 1};

	lock_snap_name(&s, INODE_LOCK, LOCKSNAP_INODE, -1, 700, "dd", "/var/x.img", 0);
	lock_snap_waiter(&s, 1, 700, 702, "dd", false);
	s.waiters[0].ran_ns = CANNED_START - 500 * MS;
	s.waiters[0].cpu = 1;
	assert_int_equal(locksnap_add_queue(&s, &q), 0);
	put_sleepers(&s, 812, "java", LOCKSNAP_FUTEX, 31, 0);
	lock_snap_emit_late(y, &s, t, t + 2 * MS, MS);
}

static void play_early(struct asked *w, bool ends)
{
	const struct record_host host = {
		.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1, .targets = "all CPUs"};
	struct synth *y;

	rig_init(&w->rig, 1);
	y = w->rig.synth;
	synth_record(y, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(y, CANNED_START);
	synth_comm(y, 0, CANNED_START, 700, 702, "dd");
	look_at_early(y, CANNED_START);
	synth_tick(y, CANNED_START + 1000 * MS);
	look_at_early(y, CANNED_START + 1000 * MS);
	synth_tick(y, CANNED_START + 2000 * MS);
	if (ends)
		synth_end(y, 0, CANNED_START + 2500 * MS, 700, 702, INODE_LOCK, 0);
	synth_tick(y, CANNED_END);
	asked_play(w, NULL);
}

/* While it lasts, and in a report also when it has ended. */
static void a_wait_from_before_the_start_is_bad(void **state)
{
	struct page live = {0}, report = {.facts.average = true};

	play_early(*state, false);
	struct query_verdict v = judge(*state, &live);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_non_null(strstr(v.worst.text, "i_rwsem /var/x.img"));
	assert_non_null(strstr(v.worst.text, ", longest >=3.50s"));
	/* Tasks that wait elsewhere are known also where kernel locks are bad. */
	assert_int_equal(v.elsewhere.tasks[LOCKSNAP_FUTEX], 31);
	v = judge(*state, &report);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_non_null(strstr(v.worst.text, ">=3.50s"));
}

static void one_that_has_ended_is_in_a_report(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct page report = {.facts = {.average = true, .limits = &l}};

	play_early(*state, true);
	struct query_verdict v = judge(*state, &report);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_non_null(strstr(v.worst.text, "i_rwsem /var/x.img"));
	l.of[VERDICT_WAIT] = (struct verdict_limit){0};
	v = judge(*state, &report);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_int_equal(v.worst.rule, VERDICT_LONGEST);
	assert_string_equal(v.worst.text, "dd/702 waited for i_rwsem /var/x.img for >=3.00s");
}

static struct query_elsewhere elsewhere(struct asked *w)
{
	struct query_elsewhere e;

	assert_int_equal(query_elsewhere(&w->q, &e), 0);
	return e;
}

/* Nothing waits for kernel locks; what tasks sleep for besides is in @s. */
static struct query_verdict judge_sleepers(struct asked *w, struct locksnap *s)
{
	const struct record_host host = {.clock_ns = CANNED_START, .cpus = 1, .cpus_online = 1};
	struct page p = {0};

	rig_init(&w->rig, 1);
	synth_record(w->rig.synth, RECORD_HOST, 0, &host, sizeof(host));
	synth_round(w->rig.synth, CANNED_START);
	lock_snap_emit(w->rig.synth, s, CANNED_END);
	synth_tick(w->rig.synth, CANNED_END);
	asked_play(w, NULL);
	return judge(w, &p);
}

static void put_crossed(struct locksnap *s, int holder, int waiter, uint64_t addr)
{
	const struct locksnap_queue q = {.addr = addr,
					 .type = LOCKSNAP_MUTEX,
					 .certainty = LOCKSNAP_SURE,
					 .holder_pid = holder,
					 .holder_tid = holder,
					 .holder_comm = locksnap_add_text(s, "nix"),
					 .holder_state = LOCKSNAP_ASLEEP};

	lock_snap_waiter(s, 1, waiter, waiter, "nix", false);
	assert_int_equal(locksnap_add_queue(s, &q), 0);
}

/* Each waits for the lock of the other, for too short a time to be bad by itself. */
static void a_deadlock_is_bad_at_once(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};
	struct page p = {0};

	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_tick(w->rig.synth, CANNED_END - 1000 * MS);
	synth_begin(w->rig.synth, 0, CANNED_END - 20 * MS, 100, 100, INODE_LOCK, LCB_F_MUTEX, NULL,
		    0);
	synth_begin(w->rig.synth, 0, CANNED_END - 10 * MS, 101, 101, INODE_LOCK + 64, LCB_F_MUTEX,
		    NULL, 0);
	put_crossed(&s, 101, 100, INODE_LOCK);
	put_crossed(&s, 100, 101, INODE_LOCK + 64);
	lock_snap_emit(w->rig.synth, &s, CANNED_END - 5 * MS);
	synth_tick(w->rig.synth, CANNED_END);
	asked_play(w, NULL);
	struct query_verdict v = judge(w, &p);
	assert_int_equal(v.worst.level, VERDICT_BAD);
	assert_string_equal(v.worst.rule_name, "deadlock");
	assert_string_equal(v.worst.text, "deadlock of 2 tasks for 20.0ms: nix/101, nix/100");
	assert_string_equal(v.worst.because,
			    "nix/101 has 0xffff888011111100, nix/100 has 0xffff888011111140");
}

/* No lock, no event, and no kernel thread, as some of these are always in state D. */
static void a_task_that_is_blocked_for_long_deserves_a_look(void **state)
{
	struct locksnap s = {0};
	const struct locksnap_blocked b = {.pid = 7, .tid = 8, .state = LOCKSNAP_BLOCKED_D};
	const struct locksnap_blocked thread = {
		.pid = 6, .tid = 6, .state = LOCKSNAP_BLOCKED_D, .kthread = 1};

	lock_snap_blocked(&s, b, "sqlite", LOCK_SNAP_UNKNOWN, CANNED_END - 3000 * CANNED_MS);
	lock_snap_blocked(&s, thread, "scrub", LOCK_SNAP_UNKNOWN, CANNED_END - 3900 * CANNED_MS);
	struct query_verdict v = judge_sleepers(*state, &s);
	assert_int_equal(v.worst.level, VERDICT_LOOK);
	assert_string_equal(v.worst.rule_name, "blocked");
	assert_string_equal(v.worst.text, "1 task is blocked: unknown, longest 3.00s");
}

static void ok_names_who_waits_elsewhere(void **state)
{
	struct locksnap s = {0};

	put_sleepers(&s, 812, "java", LOCKSNAP_FUTEX, 40, 9);
	put_sleepers(&s, 7, "dd", LOCKSNAP_IO, 1, 0);
	put_sleepers(&s, 9, "idle", LOCKSNAP_FUTEX, 64, 64);
	struct query_verdict v = judge_sleepers(*state, &s);
	assert_string_equal(v.worst.text,
			    "kernel locks; 31 tasks of java/812 wait in futex (user space)");
	assert_string_equal(v.worst.because, "nothing waits for a kernel lock");
	assert_int_equal(v.worst.level, VERDICT_QUIET);
	const struct query_elsewhere e = elsewhere(*state);
	assert_true(e.known);
	assert_int_equal(e.tasks[LOCKSNAP_FUTEX], 31);
	assert_int_equal(e.idle, 73);
	assert_int_equal(e.tasks[LOCKSNAP_IO], 1);
	assert_int_equal(e.n, 3);
	assert_int_equal(e.rows[0].pid, 812);
}

static void processes_of_one_name_are_one(void **state)
{
	struct locksnap s = {0};

	for (int i = 0; i < 16; i++)
		put_sleepers(&s, 500 + i, "python3", LOCKSNAP_FUTEX, 1, 0);
	put_sleepers(&s, 7, "mysqld", LOCKSNAP_FUTEX, 5, 0);
	assert_string_equal(judge_sleepers(*state, &s).worst.text,
			    "kernel locks; 16 tasks named python3 wait in futex (user space)");
}

/* Two processes of one task each: not the first of them alone. */
static void two_processes_of_one_task_are_two(void **state)
{
	struct locksnap s = {0};

	put_sleepers(&s, 500, "sh", LOCKSNAP_FUTEX, 1, 0);
	put_sleepers(&s, 501, "sh", LOCKSNAP_FUTEX, 1, 0);
	assert_string_equal(judge_sleepers(*state, &s).worst.text,
			    "kernel locks; 2 tasks named sh wait in futex (user space)");
}

static void each_kind_is_in_the_short_text(void **state)
{
	struct asked *w = *state;
	struct locksnap s = {0};

	put_sleepers(&s, 812, "java", LOCKSNAP_FUTEX, 40, 9);
	put_sleepers(&s, 7, "dd", LOCKSNAP_IO, 1, 0);
	put_sleepers(&s, 8, "cp", LOCKSNAP_DISK, 3, 0);
	(void)judge_sleepers(w, &s);
	const struct query_elsewhere e = elsewhere(w);
	assert_string_equal(query_elsewhere_short(&w->q, &e), "futex 31, I/O 1, state D 3");
}

/* Of two tasks in state D one waits for a lock of the kernel; a third waits for a file. */
static void waits_for_files_are_not_in_state_d(void **state)
{
	const uint64_t file = filelock_addr(FILELOCK_FLOCK, 254 << 20, 12);
	struct asked *w = *state;
	struct locksnap s = {0};

	put_sleepers(&s, 700, "dd", LOCKSNAP_DISK, 2, 0);
	rig_init(&w->rig, 1);
	synth_round(w->rig.synth, CANNED_START);
	synth_begin(w->rig.synth, 0, CANNED_START + MS, 700, 701, INODE_LOCK, LCB_F_WRITE, NULL, 0);
	synth_begin(w->rig.synth, 0, CANNED_START + MS, 700, 702, file,
		    filelock_flags(FILELOCK_FLOCK, 0), NULL, 0);
	lock_snap_emit(w->rig.synth, &s, CANNED_END);
	synth_tick(w->rig.synth, CANNED_END);
	asked_play(w, NULL);
	assert_int_equal(elsewhere(w).tasks[LOCKSNAP_DISK], 1);
}

static void one_idle_or_single_task_is_nothing(void **state)
{
	struct locksnap s = {0};

	put_sleepers(&s, 812, "java", LOCKSNAP_FUTEX, 33, 32);
	assert_string_equal(judge_sleepers(*state, &s).worst.text,
			    "nothing waits for a kernel lock");
}

static void a_file_lock_is_enough(void **state)
{
	struct locksnap s = {0};

	put_sleepers(&s, 44, "apt", LOCKSNAP_FILE_LOCK, 1, 0);
	assert_string_equal(judge_sleepers(*state, &s).worst.text,
			    "kernel locks; 1 task of apt/44 waits for file locks");
}

/* A snapshot that could not count has a reason; no snapshot has none. */
static void what_was_not_counted_is_not_known(void **state)
{
	struct locksnap s = {0};

	s.head.no_sleepers = locksnap_add_text(&s, "BPF is switched off");
	assert_string_equal(judge_sleepers(*state, &s).worst.text,
			    "nothing waits for a kernel lock");
	assert_false(elsewhere(*state).known);
	assert_string_equal(elsewhere(*state).reason, "BPF is switched off");
}

static void check(const char *text, const char *wrong)
{
	struct verdict_limits l = verdict_defaults;
	struct error err = {0};
	int r = query_verdict_parse(text, &l, &err);

	assert_int_equal(r, wrong ? -EINVAL : 0);
	if (wrong && !strstr(err.text, wrong))
		fail_msg("'%s': %s", text, err.text);
}

static void limits_are_read(void **state)
{
	struct verdict_limits l = verdict_defaults;
	struct error err;

	(void)state;
	assert_int_equal(
		query_verdict_parse("wait=10/75% longest=5ms/2s,slots=off, rotation=3", &l, &err),
		0);
	assert_true(l.of[VERDICT_WAIT].look == 10 && l.of[VERDICT_WAIT].bad == 75);
	assert_true(l.of[VERDICT_LONGEST].look == 5e6 && l.of[VERDICT_LONGEST].bad == 2e9);
	assert_true(l.of[VERDICT_SLOTS].look == 0 && l.of[VERDICT_SLOTS].bad == 0);
	assert_true(l.of[VERDICT_ROTATION].look == 3 && l.of[VERDICT_ROTATION].bad == 0);
	assert_true(l.of[VERDICT_XOL].look == verdict_defaults.of[VERDICT_XOL].look);
	check("", NULL);
	check("waits=3", "the rules are deadlock, inversion, wait, user, longest");
	check("user=1/2", NULL);
	check("user=2/1", "user=off");
	check("wait", "wait=off");
	check("wait=", "wait=5/50");
	check("wait=x", "wait=5/50");
	check("wait=-3", "wait=5/50");
	check("wait=50/5", "wait=5/50");
	check("wait=nan", "wait=5/50");
	check("wait=inf", "wait=5/50");
	check("longest=5", NULL); /* seconds */
	check("longest=5parsec", "longest=100ms/1s");
	check("longest=0", "longest=100ms/1s");
	check("wait=5/50/500", "wait=5/50");
	check("wait=1111111111111111111111111111111111111111111111111111111111111111111111",
	      "long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locks_of_programs_are_judged_apart,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(each_world_has_its_finding, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(the_world_with_more_waiting_is_first,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(the_world_with_less_waiting_is_second,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_deadlock_is_bad_at_once, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_task_that_is_blocked_for_long_deserves_a_look,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(nothing_waits, asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_queue_is_bad_and_says_because_of_whom,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(it_is_the_lock_that_costs_most, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(what_costs_hardly_anything_is_not_the_worst,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(who_locks_a_file_is_said, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(one_long_wait_is_enough, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(limits_are_what_they_say, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(other_rules_have_their_turn, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(losses_are_said, asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(of_a_report_it_is_about_all_of_it, asked_setup,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_wait_from_before_the_start_is_bad,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(one_that_has_ended_is_in_a_report,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(ok_names_who_waits_elsewhere, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(processes_of_one_name_are_one, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(two_processes_of_one_task_are_two,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(each_kind_is_in_the_short_text, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(waits_for_files_are_not_in_state_d,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(one_idle_or_single_task_is_nothing,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_file_lock_is_enough, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(what_was_not_counted_is_not_known,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test(limits_are_read),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
