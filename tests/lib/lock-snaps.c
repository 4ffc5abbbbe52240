// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots of locks for tests: the stream gets them as a source would give them. */
#include "lock-snaps.h"
#include "kontend/mem.h"
#include <stdlib.h>
#include <string.h>

void lock_snap_name(struct locksnap *s, uint64_t addr, enum locksnap_kind kind, int cpu, int pid,
		    const char *comm, const char *text, uint32_t offset)
{
	struct locksnap_name n = {.addr = addr, .kind = kind, .cpu = cpu, .pid = pid};

	n.comm = locksnap_add_text(s, comm);
	n.text = locksnap_add_text(s, text);
	n.offset = offset;
	if (locksnap_add_name(s, &n))
		abort();
}

void lock_snap_file(struct locksnap *s, uint64_t ino, uint32_t generation, uint32_t dev)
{
	struct locksnap_name *n = &s->names[s->n_names - 1];

	n->ino = ino;
	n->generation = generation;
	n->dev = dev;
}

void lock_snap_waiter(struct locksnap *s, uint32_t position, int pid, int tid, const char *comm,
		      bool reader)
{
	struct locksnap_waiter w = {.queue = (uint32_t)s->n_queues,
				    .position = position,
				    .pid = pid,
				    .tid = tid,
				    .comm = locksnap_add_text(s, comm),
				    .reader = reader};

	if (locksnap_add_waiter(s, &w))
		abort();
}

const char lock_snap_symbols[] = "ffffffff81e00000 T kernel_clone\n"
				 "ffffffff81e00100 T jbd2_log_wait_commit\n"
				 "ffffffff81e00200 t ext4_sync_file\n"
				 "ffffffff81e00300 t folio_wait_bit_common\n"
				 "ffffffff81e00400 t anon_pipe_read\n"
				 "ffffffff81e00500 t scrub_the_device\n"
				 "ffffffff81e00600 T wait_on_page_writeback\n"
				 "ffffffff81e00700 t __flush_work\n"
				 "ffffffff81e00800 T __x64_sys_fsync\n"
				 "ffffffff81e00900 t request_wait_answer\n";

void lock_snap_blocked(struct locksnap *s, struct locksnap_blocked b, const char *comm,
		       enum lock_snap_sleep sleep, uint64_t ran_ns)
{
	const uint64_t functions = 0xffffffff81e00010;
	const uint64_t frames[LOCK_SNAP_SLEEPS][2] = {
		[LOCK_SNAP_VFORK] = {functions},
		[LOCK_SNAP_LOG] = {functions + 0x100, functions + 0x200},
		[LOCK_SNAP_LOG_THREAD] = {functions + 0x300, functions + 0x600},
		[LOCK_SNAP_LOCK] = {synth_addr(SYNTH_VFS_WRITE)},
		[LOCK_SNAP_PIPE] = {functions + 0x400},
		[LOCK_SNAP_PAGE] = {functions + 0x300},
		[LOCK_SNAP_UNKNOWN] = {functions + 0x500},
		[LOCK_SNAP_WORK] = {functions + 0x700, functions + 0x800},
		[LOCK_SNAP_FUSE] = {functions + 0x900},
	};

	b.comm = b.process = locksnap_add_text(s, comm);
	b.frame = (uint32_t)s->n_frames;
	b.ran_ns = ran_ns;
	for (; b.n_frames < 2 && frames[sleep][b.n_frames]; b.n_frames++)
		if (locksnap_add_frame(s, &frames[sleep][b.n_frames]))
			abort();
	if (locksnap_add_blocked(s, &b))
		abort();
	s->head.knows_blocked = 1;
}

void lock_snap_emit(struct synth *synth, struct locksnap *s, uint64_t t)
{
	lock_snap_emit_late(synth, s, t, t, 0);
}

void lock_snap_emit_late(struct synth *synth, struct locksnap *s, uint64_t t, uint64_t taken_ns,
			 uint64_t cost_ns)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_LOCKS, .version = LOCKSNAP_VERSION, .time_ns = t};
	size_t len = sizeof(head) + locksnap_size(s);
	char *body = mem_calloc(1, len);

	if (!body)
		abort();
	s->head.time_ns = taken_ns;
	s->head.cost_ns = cost_ns;
	memcpy(body, &head, sizeof(head));
	locksnap_encode(s, body + sizeof(head));
	synth_record(synth, RECORD_SNAPSHOT, 0, body, len);
	mem_free(body);
	locksnap_deinit(s);
}

void lock_snap_emit_users(struct synth *synth, struct usersnap *s)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_USERS, .version = USERSNAP_VERSION, .time_ns = s->head.time_ns};
	size_t len = sizeof(head) + usersnap_size(s);
	char *body = mem_calloc(1, len);

	if (!body)
		abort();
	memcpy(body, &head, sizeof(head));
	usersnap_encode(s, body + sizeof(head));
	synth_record(synth, RECORD_SNAPSHOT, 0, body, len);
	mem_free(body);
	usersnap_deinit(s);
}

void lock_snap_emit_slept(struct synth *synth, struct sleptsnap *s)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_SLEPT, .version = SLEPTSNAP_VERSION, .time_ns = s->head.time_ns};
	size_t len = sizeof(head) + sleptsnap_size(s);
	char *body = mem_calloc(1, len);

	if (!body)
		abort();
	memcpy(body, &head, sizeof(head));
	sleptsnap_encode(s, body + sizeof(head));
	synth_record(synth, RECORD_SNAPSHOT, 0, body, len);
	mem_free(body);
	sleptsnap_deinit(s);
}
