// SPDX-License-Identifier: GPL-2.0-only
/* Streams in which it is known what locks belong to, or why it is not. */
#include "kontend/mem.h"
#include "kontend/mmlevel.h"
#include "lock-snaps.h"
#include "streams-int.h"
#include "synth-mm.h"
#include <stdio.h>
#include <stdlib.h>

static uint32_t add_calls(struct locksnap *s, const enum synth_address *calls, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t addr = synth_addr(calls[i]);
		if (locksnap_add_frame(s, &addr))
			abort();
	}
	return n;
}

/* The writer that waits first, and the holder, who waits for something else itself. */
static void add_first(struct locksnap *s, struct locksnap_queue *q)
{
	static const enum synth_address waits[] = {SYNTH_RWSEM_DOWN_WRITE_SLOWPATH,
						   SYNTH_DOWN_WRITE_KILLABLE,
						   SYNTH_VM_MMAP_PGOFF,
						   SYNTH_X64_SYS_MMAP,
						   SYNTH_DO_SYSCALL_64,
						   SYNTH_ENTRY_SYSCALL};
	static const enum synth_address holds[] = {SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK,
						   SYNTH_PIPE_READ, SYNTH_VFS_READ};
	struct locksnap_waiter w = {
		.position = 1, .pid = 7000, .tid = 7002, .comm = q->holder_comm};

	w.frame = (uint32_t)s->n_frames;
	w.n_frames = add_calls(s, waits, 6);
	q->holder_frame = (uint32_t)s->n_frames;
	q->holder_n_frames = add_calls(s, holds, 4);
	q->holder_state = LOCKSNAP_ASLEEP;
	if (locksnap_add_waiter(s, &w))
		abort();
}

/* Names of the storm's locks, and of one whose waiters are in a snapshot only. */
static void emit_names(struct synth *s, uint64_t t)
{
	static const uint64_t early_lock = 0xffff888044444478;
	struct locksnap snap = {0};
	struct locksnap_queue q = {.addr = early_lock,
				   .type = LOCKSNAP_RWSEM,
				   .certainty = LOCKSNAP_SURE,
				   .holder_pid = 7000,
				   .holder_tid = 7001,
				   .writers_waiting = 1,
				   .readers_waiting = 2};

	q.holder_comm = locksnap_add_text(&snap, "forker");
	lock_snap_name(&snap, STREAM_MMAP_LOCK, LOCKSNAP_MMAP, -1, 5214, "mm",
		       "/system.slice/storm.service", 0);
	lock_snap_name(&snap, STREAM_MMAP_LOCK + 0x1000, LOCKSNAP_MMAP, -1, 700, "firefox",
		       "/user.slice/user-0.slice/session-3.scope", 0);
	lock_snap_name(&snap, STREAM_MMAP_LOCK + 0x2000, LOCKSNAP_SLAB, -1, 0, "", "mm_struct", 0);
	lock_snap_name(&snap, early_lock, LOCKSNAP_MMAP, -1, 7000, "forker",
		       "/system.slice/storm.service", 0);
	lock_snap_name(&snap, STREAM_PIPE_MUTEX, LOCKSNAP_PIPE, -1, 612, "sh", "pipe:[8120]", 0);
	add_first(&snap, &q);
	lock_snap_waiter(&snap, 2, 7000, 7003, "forker", true);
	lock_snap_waiter(&snap, 3, 7000, 7004, "forker", true);
	if (locksnap_add_queue(&snap, &q))
		abort();
	lock_snap_emit(s, &snap, t);
}

/* The storm, with names of its locks; beside it another process, and one that is gone. */
struct synth *stream_mmap(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];
	size_t i = 0;

	chains_init(&c);
	stage_open(&st, 2, 6, synth_kallsyms);
	size_t n = stage_storm(actors, &c);
	actors[n++] = (struct actor){.pid = 700,
				     .tid = 701,
				     .comm = "firefox",
				     .flags = LCB_F_WRITE,
				     .lock = STREAM_MMAP_LOCK + 0x1000,
				     .wait_ns = 40 * US,
				     .pause_ns = 5 * MS,
				     .chain = c.munmap};
	actors[n++] = (struct actor){.pid = 900,
				     .tid = 902,
				     .comm = "gone",
				     .cpu = 1,
				     .flags = LCB_F_READ,
				     .lock = STREAM_MMAP_LOCK + 0x2000,
				     .wait_ns = 90 * US,
				     .pause_ns = 30 * MS,
				     .chain = c.fault};
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		emit_names(st.synth, t - MS);
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

/* A second of acquisitions of one process, all events; every 50th one is waited for. */
static void emit_events(struct synth *s, uint64_t from, uint64_t until, const struct chains *c)
{
	const uint64_t *chain = c->munmap;
	struct synth_mm_event e = {
		.pid = 5214, .tid = 5215, .mm = STREAM_MMAP_LOCK - 0x78, .success = true};
	uint64_t n = 0;

	for (e.t = from; e.t + 3 * MS < until; e.t += 900 * US, n++) {
		uint64_t wait = n % 50 == 49 ? 2 * MS : 250 + n % 7 * 60;
		e.write = n % 3 != 0;
		e.what = SYNTH_MM_START;
		synth_mm(s, &e);
		if (wait >= MS)
			synth_begin(s, 0, e.t + 100, e.pid, e.tid, STREAM_MMAP_LOCK,
				    e.write ? LCB_F_WRITE : LCB_F_READ, chain, 6);
		e.t += wait;
		if (wait >= MS)
			synth_end(s, 0, e.t - 100, e.pid, e.tid, STREAM_MMAP_LOCK, 0);
		e.what = SYNTH_MM_ACQUIRED;
		/* Without the two that wait: with call paths, where it is got. */
		e.frames = (e.write ? c->munmap : c->fault) + 2;
		e.n_frames = e.write ? 4 : 3;
		synth_mm(s, &e);
		e.t += 3 * US + n % 11 * US;
		e.what = SYNTH_MM_RELEASED;
		synth_mm(s, &e);
	}
}

/* All acquisitions of one process: @level as --mmap takes it. */
static struct synth *make_level(const char *level)
{
	struct mmlevel_how how;
	struct chains c;
	struct stage st;

	chains_init(&c);
	stage_open(&st, 1, 4, synth_kallsyms);
	if (mmlevel_parse(level, &how) < 0)
		abort();
	if (how.paths)
		synth_mm_prologue_paths(st.synth);
	else
		synth_mm_prologue(st.synth, false);
	synth_comm(st.synth, 0, START_NS, 5214, 5214, "mm");
	how.event_ns = 212;
	synth_mm_how(st.synth, &how, START_NS);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		uint64_t from = t - SECOND, until = how.one_in > 1 ? from + 100 * MS : t;
		emit_events(st.synth, from + MS, until, &c);
		how.from_ns = from;
		how.to_ns = until;
		if (how.level == MMLEVEL_SAMPLED)
			synth_mm_how(st.synth, &how, until);
		emit_names(st.synth, t - MS);
		synth_tick(st.synth, t);
	}
	return st.synth;
}

struct synth *stream_mmap_all(void)
{
	return make_level("all");
}

struct synth *stream_mmap_paths(void)
{
	return make_level("all,paths");
}

struct synth *stream_mmap_sampled(void)
{
	return make_level("sampled=10");
}

/* A snapshot of locks without names: the owners of locks cannot be known. */
static void emit_refusal(struct synth *s)
{
	struct locksnap none = {0};

	none.head.reason = locksnap_add_text(&none, "BPF is switched off (--no-bpf)");
	lock_snap_emit(s, &none, START_NS + MS);
}

/*
 * Tasks behind the log of a file system, whose thread waits for a device, one that waits for its
 * child, one in state S that a server keeps, one that only waits for work.
 */
static void emit_blocked(struct synth *s, uint64_t t, enum locksnap_blocked_by by)
{
	struct locksnap snap = {0};
	struct locksnap_blocked b = {.pid = 900, .state = LOCKSNAP_BLOCKED_D, .io = 1};
	struct locksnap_sleep f = {.tid = 901, .doing = LOCKSNAP_SYNCS, .fd = 3};

	snap.head.blocked_by = by;
	if (by != LOCKSNAP_BLOCKED_BY_BPF)
		snap.head.no_objects = locksnap_add_text(&snap, "BPF is switched off (--no-bpf)");
	b.device = f.device = locksnap_add_text(&snap, "vda1");
	f.file = locksnap_add_text(&snap, "/srv/log.db");
	for (int i = 1; i <= 12; i++) {
		b.tid = 900 + i;
		lock_snap_blocked(&snap, b, "sqlite", LOCK_SNAP_LOG, t - (uint64_t)i * 100 * MS);
	}
	if (locksnap_add_sleep(&snap, &f))
		abort();
	b = (struct locksnap_blocked){
		.pid = 300, .tid = 300, .state = LOCKSNAP_BLOCKED_D, .io = 1, .kthread = 1};
	lock_snap_blocked(&snap, b, "jbd2/vda1-8", LOCK_SNAP_LOG_THREAD, t - 1300 * MS);
	b = (struct locksnap_blocked){.pid = 70, .tid = 70, .state = LOCKSNAP_BLOCKED_D};
	b.by_pid = b.by_tid = 71;
	b.by_comm = locksnap_add_text(&snap, "cc1");
	lock_snap_blocked(&snap, b, "make", LOCK_SNAP_VFORK, t - 5 * MS);
	b = (struct locksnap_blocked){.pid = 80, .tid = 80, .state = LOCKSNAP_BLOCKED_D};
	lock_snap_blocked(&snap, b, "scrub", LOCK_SNAP_UNKNOWN, 0);
	b = (struct locksnap_blocked){.pid = 90, .tid = 90, .state = LOCKSNAP_BLOCKED_S};
	lock_snap_blocked(&snap, b, "cat", LOCK_SNAP_PIPE, t - 9ull * SECOND);
	lock_snap_emit(s, &snap, t);
}

static struct synth *blocked_by(enum locksnap_blocked_by first, enum locksnap_blocked_by then)
{
	char symbols[16384];
	struct stage st;
	size_t i = 0;

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	stage_open(&st, 2, 4, symbols);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		emit_blocked(st.synth, START_NS + (uint64_t)s * SECOND - MS, s > 1 ? then : first);
		i = stage_second(&st, i, START_NS + (uint64_t)s * SECOND);
	}
	return st.synth;
}

struct synth *stream_blocked(void)
{
	return blocked_by(LOCKSNAP_BLOCKED_BY_BPF, LOCKSNAP_BLOCKED_BY_BPF);
}

/* Without BPF. */
struct synth *stream_blocked_proc(void)
{
	return blocked_by(LOCKSNAP_BLOCKED_BY_PROC, LOCKSNAP_BLOCKED_BY_PROC_AGAIN);
}

/* The function in which make sleeps for its child: see lock_snap_symbols. */
enum { SLEPT_FRAMES = 1 };
static const uint64_t slept_frame = 0xffffffff81e00010;

/* Sums of make until the second @n: three more sleeps in each, of 60 ms in total. */
static void emit_slept(struct synth *s, uint64_t t, uint32_t n)
{
	struct sleptsnap snap = {.head = {.time_ns = t,
					  .from_ns = START_NS,
					  .is_first = n == 1,
					  .min_ns = 100000,
					  .level = SLEPTSNAP_LONG_CHAINS}};
	struct sleptsnap_row row = {.pid = 70,
				    .kind = LOCKSNAP_DISK,
				    .n_frames = SLEPT_FRAMES,
				    .sleeps = 3ull * n,
				    .total_ns = 60ull * n * MS,
				    .max_ns = 50 * MS};

	row.comm = sleptsnap_add_text(&snap, "make");
	if (sleptsnap_add_frame(&snap, slept_frame) || sleptsnap_add_row(&snap, &row))
		abort();
	lock_snap_emit_slept(s, &snap);
}

/* One sleep of make that ends at @t. */
static void emit_sleep(struct synth *s, uint64_t t, uint64_t length, int32_t child)
{
	struct sleeprec r = {.magic = SLEEPREC_MAGIC,
			     .begin_ns = t - length,
			     .length_ns = length,
			     .pid = 70,
			     .tid = 70,
			     .waker_pid = child,
			     .waker_tid = child,
			     .kind = SLEEPREC_DISK,
			     .comm = "make",
			     .waker_comm = "cc1",
			     .n_frames = SLEPT_FRAMES};

	r.frames[0] = slept_frame;
	synth_sleep(s, 0, t, &r);
}

/* Blocked tasks of which each sleep is measured, but for call chains of short ones. */
struct synth *stream_blocked_slept(void)
{
	char symbols[16384];
	struct stage st;
	size_t i = 0;

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	stage_open(&st, 2, 4, symbols);
	synth_outputs(st.synth);
	for (uint32_t n = 1; n <= st.seconds; n++) {
		const uint64_t end = START_NS + (uint64_t)n * SECOND;
		emit_sleep(st.synth, end - 800 * MS, n == 2 ? 50 * MS : 20 * MS, 100 + (int)n);
		emit_blocked(st.synth, end - MS, LOCKSNAP_BLOCKED_BY_BPF);
		emit_slept(st.synth, end - MS, n);
		i = stage_second(&st, i, end);
	}
	return st.synth;
}

/* The storm without names of its locks. */
struct synth *stream_no_bpf(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];

	chains_init(&c);
	stage_open(&st, 2, 4, synth_kallsyms);
	size_t n = stage_storm(actors, &c);
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	emit_refusal(st.synth);
	return stage_close(&st);
}

struct synth *stream_mmap_none(void)
{
	struct stage st;
	size_t i = 0;

	stage_open(&st, 2, 2, synth_kallsyms);
	emit_refusal(st.synth);
	for (uint32_t s = 1; s <= st.seconds; s++)
		i = stage_second(&st, i, START_NS + (uint64_t)s * SECOND);
	return st.synth;
}
