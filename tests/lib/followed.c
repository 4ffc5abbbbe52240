// SPDX-License-Identifier: GPL-2.0-only
/* A stream in which BPF reports the states of holders: see followed.h. */
#include "followed.h"

#include <stddef.h>
#include <stdio.h>

#define MS 1000000ull
#define SECOND 1000000000ull
#define IO_SCHEDULE 0xffffffff81f00010ull
#define FOLIO_WAIT 0xffffffff81f00110ull
#define PIPE_WAIT 0xffffffff81f00210ull

const char followed_symbols[] = "ffffffff81f00000 T io_schedule\n"
				"ffffffff81f00100 t folio_wait_bit_common\n"
				"ffffffff81f00200 t anon_pipe_write\n"
				"ffffffff81f00300 t fput\n"
				"ffffffff81f00400 t copy_page_range\n"
				"ffffffff81f00500 t __x64_sys_clone\n";

void followed_record(struct synth *s, uint64_t t, const struct holdrec *r)
{
	struct holdrec h = *r;
	size_t len = offsetof(struct holdrec, frames) + h.n_frames * sizeof(h.frames[0]);

	h.magic = HOLDREC_MAGIC;
	/* In a sample the four bytes of the length precede the record. */
	synth_output(s, 0, t, 0, 0, &h.magic, len - offsetof(struct holdrec, magic));
}

static void wait_for(struct synth *s, uint64_t t, int pid, int tid, uint64_t lock, uint32_t flags,
		     enum synth_address caller)
{
	const uint64_t frames[] = {synth_addr(flags & LCB_F_MUTEX ? SYNTH_MUTEX_LOCK_SLOWPATH
					      : flags & LCB_F_WRITE
						      ? SYNTH_RWSEM_DOWN_WRITE_SLOWPATH
						      : SYNTH_RWSEM_DOWN_READ_SLOWPATH),
				   synth_addr(caller), synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_begin(s, 0, t, pid, tid, lock, flags, frames, 3);
}

static void root_does(struct synth *s, uint64_t t, enum holdrec_what what, enum holdrec_state state)
{
	struct holdrec r = {.lock = FOLLOWED_MMAP_LOCK,
			    .pid = FOLLOWED_PID,
			    .tid = FOLLOWED_ROOT,
			    .what = what,
			    .state = state,
			    .comm = "mysqld"};

	if (state == HOLDREC_RUNNABLE) {
		r.other_pid = r.other_tid = 99;
		snprintf(r.other_comm, sizeof(r.other_comm), "stress");
	}
	if (state == HOLDREC_IO) {
		r.n_frames = 2;
		r.frames[0] = IO_SCHEDULE;
		r.frames[1] = FOLIO_WAIT;
	}
	followed_record(s, t, &r);
}

static void dd_sleeps(struct synth *s, uint64_t t)
{
	followed_record(s, t,
			&(struct holdrec){.lock = FOLLOWED_PIPE_MUTEX,
					  .pid = FOLLOWED_DD,
					  .tid = FOLLOWED_DD,
					  .what = HOLDREC_OFF,
					  .state = HOLDREC_ASLEEP,
					  .comm = "dd",
					  .n_frames = 1,
					  .frames = {PIPE_WAIT}});
}

static void second(struct synth *s, uint64_t t)
{
	const uint64_t mm = FOLLOWED_MMAP_LOCK, pipe = FOLLOWED_PIPE_MUTEX;
	const int pid = FOLLOWED_PID, root = FOLLOWED_ROOT, dd = FOLLOWED_DD;

	wait_for(s, t, pid, root, mm, LCB_F_WRITE, SYNTH_VM_MUNMAP);
	for (int i = 1; i <= FOLLOWED_READERS; i++)
		wait_for(s, t + 5 * MS, pid, root + i, mm, LCB_F_READ, SYNTH_LOCK_MM_AND_FIND_VMA);
	synth_end(s, 0, t + 10 * MS, pid, root, mm, 0);
	wait_for(s, t + 40 * MS, dd, dd, pipe, LCB_F_MUTEX, SYNTH_PIPE_WRITE);
	wait_for(s, t + 45 * MS, dd, dd + 1, pipe, LCB_F_MUTEX, SYNTH_PIPE_READ);
	synth_end(s, 0, t + 50 * MS, dd, dd, pipe, 0);
	dd_sleeps(s, t + 60 * MS);
	root_does(s, t + 160 * MS, HOLDREC_OFF, HOLDREC_RUNNABLE);
	root_does(s, t + 220 * MS, HOLDREC_ON, HOLDREC_RUNNING);
	root_does(s, t + 420 * MS, HOLDREC_OFF, HOLDREC_IO);
	root_does(s, t + 520 * MS, HOLDREC_ON, HOLDREC_RUNNING);
	wait_for(s, t + 580 * MS, pid, root, pipe, LCB_F_MUTEX, SYNTH_PIPE_WRITE);
	synth_end(s, 0, t + 730 * MS, pid, root, pipe, 0);
	for (int i = 1; i <= FOLLOWED_READERS; i++)
		synth_end(s, 0, t + 730 * MS, pid, root + i, mm, 0);
	synth_end(s, 0, t + 740 * MS, dd, dd + 1, pipe, 0);
}

void followed_emit(struct synth *s, uint64_t t, unsigned seconds)
{
	synth_comm(s, 0, t, FOLLOWED_PID, FOLLOWED_PID, "mysqld");
	for (int i = 0; i <= FOLLOWED_READERS; i++)
		synth_comm(s, 0, t, FOLLOWED_PID, FOLLOWED_ROOT + i, "mysqld");
	synth_comm(s, 0, t, FOLLOWED_DD, FOLLOWED_DD, "dd");
	followed_record(s, t, &(struct holdrec){.what = HOLDREC_BEGUN});
	for (unsigned i = 0; i < seconds; i++) {
		second(s, t + 1 + i * SECOND);
		synth_tick(s, t + (i + 1) * SECOND);
	}
}
