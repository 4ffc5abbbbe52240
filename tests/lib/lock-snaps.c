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
