// SPDX-License-Identifier: GPL-2.0-only
/* Streams in which it is known what locks belong to, or why it is not. */
#include "kontend/mem.h"
#include "lock-snaps.h"
#include "streams-int.h"
#include <stdlib.h>

/* What the locks of the storm belong to; and one that nobody but a snapshot saw being waited for.
 */
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
	lock_snap_waiter(&snap, 1, 7000, 7002, "forker", false);
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

/* Nothing can be known of what locks belong to. */
struct synth *stream_mmap_none(void)
{
	struct locksnap none = {0};
	struct stage st;
	size_t i = 0;

	stage_open(&st, 2, 2, synth_kallsyms);
	none.head.reason = locksnap_add_text(&none, "BPF is switched off (--no-bpf)");
	lock_snap_emit(st.synth, &none, START_NS + MS);
	for (uint32_t s = 1; s <= st.seconds; s++)
		i = stage_second(&st, i, START_NS + (uint64_t)s * SECOND);
	return st.synth;
}
