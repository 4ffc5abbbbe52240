// SPDX-License-Identifier: GPL-2.0-only
/* Tasks that are followed: what they did, for which lock, and at which line of a program. */
#include "streams-int.h"
#include "synth-profile.h"
#include <stdio.h>

#define CODE 0x400000ull

enum { PID = 70, APP = 70, WORKER = 71, KEEPER = 72 };

static const char *const names[] = {"app", "worker", "keeper"};

static void set_name(char to[16], int tid)
{
	snprintf(to, 16, "%s", tid ? names[tid - PID] : "swapper/0");
}

/* A round of a task that is followed, which ends at @t. */
static struct runrec round_of(uint64_t t, int32_t tid, int32_t waker)
{
	struct runrec r = {.magic = RUNREC_MAGIC,
			   .on_ns = t - 400 * MS,
			   .off_ns = t - 300 * MS,
			   .woken_ns = t - 20 * MS,
			   .in_ns = t,
			   .pid = PID,
			   .tid = tid,
			   .waker_pid = waker ? PID : 0,
			   .waker_tid = waker,
			   .state = RUNREC_ASLEEP,
			   .flags = RUNREC_CHOSEN,
			   .by = {{77, 77, 15 * MS, "hog"}},
			   .n_waker_frames = 1};

	set_name(r.comm, tid);
	set_name(r.waker_comm, waker);
	return r;
}

static void add_waker(struct runrec *r)
{
	r->frames[r->n_frames + r->n_user] = synth_addr(SYNTH_PIPE_WRITE);
}

/* The app reads from a pipe, in a script: the line is known by the name of the compiled function.
 */
static void emit_app(struct synth *s, uint64_t t)
{
	struct runrec r = round_of(t, APP, WORKER);

	r.frames[r.n_frames++] = synth_addr(SYNTH_PIPE_READ);
	r.frames[r.n_frames++] = synth_addr(SYNTH_VFS_READ);
	r.frames[r.n_frames++] = synth_addr(SYNTH_KSYS_READ);
	r.frames[r.n_frames++] = synth_addr(SYNTH_DO_SYSCALL_64);
	r.frames[r.n_frames++] = synth_addr(SYNTH_ENTRY_SYSCALL);
	r.frames[r.n_frames + r.n_user++] = CODE + 0x2230;
	r.user = WAITREC_USER_WHOLE;
	r.on = (struct runrec_on){8120, 0, 0010600, WAITREC_ON_FILE, ""};
	add_waker(&r);
	synth_run(s, 0, t, &r);
}

/* The worker waits for the mmap_lock, which the keeper has and releases. */
static void emit_worker(struct synth *s, uint64_t t)
{
	struct runrec r = round_of(t, WORKER, KEEPER);
	const struct ownerrec owner = {.magic = OWNERREC_MAGIC,
				       .lock = STREAM_MMAP_LOCK,
				       .pid = PID,
				       .tid = KEEPER,
				       .comm = "keeper"};
	const uint64_t chain[] = {
		synth_addr(SYNTH_RWSEM_DOWN_READ_SLOWPATH), synth_addr(SYNTH_DOWN_READ),
		synth_addr(SYNTH_LOCK_MM_AND_FIND_VMA), synth_addr(SYNTH_DO_USER_ADDR_FAULT),
		synth_addr(SYNTH_EXC_PAGE_FAULT)};

	for (size_t i = 0; i < sizeof(chain) / sizeof(*chain); i++)
		r.frames[r.n_frames++] = chain[i];
	add_waker(&r);
	synth_begin(s, 0, r.off_ns - 1000, PID, WORKER, STREAM_MMAP_LOCK, LCB_F_READ, chain,
		    sizeof(chain) / sizeof(*chain));
	synth_owner(s, 0, r.off_ns - 900, WORKER, &owner);
	synth_run(s, 0, t, &r);
	synth_end(s, 0, t + 1000, PID, WORKER, STREAM_MMAP_LOCK, 0);
}

/* An app, and a worker that wakes it after it has waited for a lock itself. */
struct synth *stream_why(void)
{
	struct stage st;
	size_t i = 0;

	stage_open(&st, 2, 4, synth_kallsyms);
	synth_outputs(st.synth);
	synth_mmap(st.synth, 0, START_NS, PID, CODE, 0x10000, 0x1000, "/srv/bin/app");
	streams_state_names(st.synth, "/srv/bin/app",
			    &(const struct stated_function){0x322c, "next_job"}, 1);
	for (uint32_t n = 1; n <= st.seconds; n++) {
		const uint64_t end = START_NS + (uint64_t)n * SECOND;
		emit_worker(st.synth, end - 500 * MS);
		emit_app(st.synth, end - 400 * MS);
		synth_begin(st.synth, 0, end - 300 * MS, APP, APP, STREAM_PIPE_MUTEX, LCB_F_MUTEX,
			    NULL, 0);
		synth_end(st.synth, 0, end - 250 * MS, APP, APP, STREAM_PIPE_MUTEX, 0);
		i = stage_second(&st, i, end);
	}
	return st.synth;
}
