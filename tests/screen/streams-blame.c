// SPDX-License-Identifier: GPL-2.0-only
/* Holders of locks: the story of followed.h, four times; a lock of a program; a priority inversion.
 */
#include "followed.h"
#include "kontend/locktype.h"
#include "kontend/userlock.h"
#include "lock-snaps.h"
#include "streams-int.h"
#include "synth-profile.h"

#include <stdio.h>
#include <stdlib.h>

struct synth *stream_followed(void)
{
	struct synth *s = synth_new(2);
	char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, followed_symbols);
	synth_prologue(s, symbols);
	synth_outputs(s);
	synth_round(s, START_NS);
	followed_emit(s, START_NS, 4);
	return s;
}

/* One thread waits for a lock of the runtime of Go, of which nothing says who has it. */
static void add_go(struct synth *s, struct locksnap *look)
{
	const uint64_t lock = userlock_addr(10, 1);
	const struct locksnap_queue q = {
		.addr = lock, .type = LOCKSNAP_USER_FUTEX, .holder_cpu = -1, .writers_waiting = 1};

	synth_begin(s, 0, START_NS + SECOND, 900, 901, lock, userlock_flags(USERLOCK_FUTEX, false),
		    NULL, 0);
	lock_snap_name(look, lock, LOCKSNAP_RUNTIME, -1, 900, "server", "Go runtime", 0);
	lock_snap_waiter(look, 1, 900, 901, "server", false);
	if (locksnap_add_queue(look, &q) < 0)
		abort();
}

/* Three threads wait to write and one to read, for a lock of their program that a fifth has. */
struct synth *stream_users(void)
{
	const uint64_t lock = userlock_addr(9, 0x403060), end = START_NS + 4ull * SECOND;
	struct locksnap look = {0};
	struct synth *s = synth_new(2);

	synth_prologue(s, synth_kallsyms);
	synth_outputs(s);
	synth_round(s, START_NS);
	lock_snap_name(&look, lock, LOCKSNAP_USER, -1, 800, "app", "app:table_lock", 0);
	struct locksnap_queue q = {.addr = lock,
				   .type = LOCKSNAP_USER_RWLOCK,
				   .certainty = LOCKSNAP_EVIDENCE,
				   .holder_pid = 800,
				   .holder_tid = 800,
				   .holder_comm = locksnap_add_text(&look, "app"),
				   .holder_state = LOCKSNAP_RUNNING,
				   .holder_cpu = 1,
				   .writers_waiting = 3,
				   .readers_waiting = 1};
	for (int i = 0; i < 4; i++) {
		synth_begin(s, 0, START_NS + (uint64_t)(i + 1) * 300 * MS, 800, 801 + i, lock,
			    userlock_flags(USERLOCK_RWLOCK, i == 3), NULL, 0);
		lock_snap_waiter(&look, (uint32_t)i + 1, 800, 801 + i, "app", i == 3);
	}
	if (locksnap_add_queue(&look, &q) < 0)
		abort();
	add_go(s, &look);
	synth_tick(s, START_NS + 2ull * SECOND);
	lock_snap_emit(s, &look, end);
	synth_tick(s, end);
	return s;
}

/* A real-time task waits for a mutex, whose holder another one keeps off its CPU. */
struct synth *stream_inversion(void)
{
	const uint64_t lock = 0xffff888011111100ull, end = START_NS + 4ull * SECOND;
	struct locksnap look = {0};
	struct synth *s = synth_new(2);
	const struct locksnap_run runs[] = {
		{.tid = 9,
		 .policy = 0,
		 .prio = 120,
		 .normal_prio = 120,
		 .state = LOCKSNAP_RUNNABLE,
		 .cpu = 1,
		 .cpus = 1,
		 .off_pid = 7,
		 .off_tid = 7,
		 .off_comm = locksnap_add_text(&look, "rt"),
		 .off_policy = 1,
		 .off_rt_priority = 50,
		 .off_prio = 49},
		{.tid = 12,
		 .policy = 1,
		 .rt_priority = 80,
		 .prio = 19,
		 .normal_prio = 19,
		 .state = LOCKSNAP_ASLEEP},
	};
	struct locksnap_queue q = {.addr = lock,
				   .type = LOCKSNAP_MUTEX,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = 9,
				   .holder_tid = 9,
				   .holder_comm = locksnap_add_text(&look, "logger"),
				   .holder_state = LOCKSNAP_RUNNABLE,
				   .holder_cpu = 1,
				   .writers_waiting = 1};

	synth_prologue(s, synth_kallsyms);
	synth_outputs(s);
	synth_round(s, START_NS);
	synth_comm(s, 0, START_NS, 12, 12, "audio");
	synth_begin(s, 0, START_NS + 3ull * SECOND, 12, 12, lock, LCB_F_MUTEX, NULL, 0);
	lock_snap_waiter(&look, 1, 12, 12, "audio", false);
	synth_tick(s, START_NS + 2ull * SECOND);
	if (locksnap_add_queue(&look, &q) < 0 || locksnap_add_run(&look, &runs[0]) < 0 ||
	    locksnap_add_run(&look, &runs[1]) < 0)
		abort();
	lock_snap_emit(s, &look, end);
	synth_tick(s, end);
	return s;
}

/* A thread of a program waits for the lock of a file, where there is no debug information. */
static void wait_in(struct synth *s, uint64_t t, int tid, uint64_t lock, uint64_t addr)
{
	const uint64_t frames[] = {synth_addr(SYNTH_MUTEX_LOCK),
				   synth_addr(SYNTH_VFS_WRITE),
				   synth_addr(SYNTH_KSYS_WRITE),
				   synth_addr(SYNTH_DO_SYSCALL_64),
				   synth_addr(SYNTH_ENTRY_SYSCALL),
				   PERF_CONTEXT_USER,
				   addr};

	synth_begin(s, 0, t, 700, tid, lock, LCB_F_MUTEX, frames, sizeof(frames) / sizeof(*frames));
}

/* The first of two that wait has got the lock, and runs; @over: the other one has it, too. */
static struct synth *play_lines(bool over)
{
	const uint64_t lock = 0xffff888011111100ull, code = 0x400000,
		       end = START_NS + 4ull * SECOND;
	const struct stated_function functions[] = {{0x4128, "commit_transaction_log"},
						    {0x80e0, "rotate_log_files"}};
	struct synth *s = synth_new(2);
	struct locksnap look = {0};
	const struct locksnap_queue q = {.addr = lock,
					 .type = LOCKSNAP_MUTEX,
					 .certainty = LOCKSNAP_SURE,
					 .holder_pid = 700,
					 .holder_tid = 701,
					 .holder_comm = locksnap_add_text(&look, "rotate"),
					 .holder_state = LOCKSNAP_RUNNING,
					 .holder_cpu = 1,
					 .writers_waiting = 1};

	synth_prologue(s, synth_kallsyms);
	synth_profile(s);
	synth_round(s, START_NS);
	synth_mmap(s, 0, START_NS, 700, code, 0x10000, 0, "/opt/db/bin/db");
	streams_state_names(s, "/opt/db/bin/db", functions, sizeof(functions) / sizeof(*functions));
	synth_comm(s, 0, START_NS, 700, 701, "rotate");
	synth_comm(s, 0, START_NS, 700, 702, "commit");
	wait_in(s, START_NS + 1000 * MS, 701, lock, code + 0x80e4);
	wait_in(s, START_NS + 1100 * MS, 702, lock, code + 0x412a);
	synth_end(s, 0, START_NS + 1200 * MS, 700, 701, lock, 0);
	synth_tick(s, START_NS + 2ull * SECOND);
	lock_snap_name(&look, lock, LOCKSNAP_POS, -1, 700, "db", "/var/log/db.log", 0);
	lock_snap_waiter(&look, 1, 700, 702, "commit", false);
	if (locksnap_add_queue(&look, &q) < 0)
		abort();
	if (over) {
		locksnap_clear(&look);
		synth_end(s, 0, end - 100 * MS, 700, 702, lock, 0);
	}
	lock_snap_emit(s, &look, end);
	synth_tick(s, end);
	return s;
}

struct synth *stream_lines(void)
{
	return play_lines(false);
}

struct synth *stream_lines_over(void)
{
	return play_lines(true);
}
