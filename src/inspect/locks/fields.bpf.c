// SPDX-License-Identifier: GPL-2.0-only
/*
 * In which object of the kernel is a lock? User space knows from BTF at which offsets the types
 * have locks, and makes candidates of these: the lock may be in an object of that type there. Here
 * each has to prove it, by pointers that lead from the object to another one and back, as anything
 * may be at a lock's address, also memory that was freed. So nothing is believed because of
 * a slab cache or a function alone, and an object that another one has replaced is found out.
 *
 * All is read by probe reads, on demand; no event runs this.
 */
#include "kernel/fields-devices.h"
#include "kernel/walk-files.h"

#include "fields-shared.h"
#include "read-path.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_fields_config config = {0};
struct raw_fields_state state = {0};

ARRAY(candidates, struct raw_candidate, RAW_CANDIDATES);
ARRAY(fields, struct raw_field, RAW_FIELDS);

/* Objects that lead to none that has them: the index of their candidate. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RAW_CANDIDATES);
	__type(key, __u64);
	__type(value, __u32);
} by_base SEC(".maps");

enum {
	THREAD,
	PROCESS,
	UNIX = 1,
	INET = 2,
	INET6 = 10,
	MOST_NODES = 1024,
	MOST_ZONES = 8,
	LINKS = 8
};

/* The object at hand; one program runs at a time. */
struct {
	struct raw_lock_file id;
	__u32 field; /* index */
	__u32 pad;
} at = {0};

#include "field-proofs.bpf.c"
#include "field-texts.bpf.c"

/* Room for one more that was found; false: there is none. */
static __always_inline bool begin_field(struct raw_candidate *c)
{
	__u32 i = state.found;
	struct raw_field *r = bpf_map_lookup_elem(&fields, &i);

	if (!r) {
		state.dropped++;
		return false;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->node = r->cpu = -1;
	at.field = i;
	state.found = i + 1;
	c->field = i + 1;
	return true;
}

static __always_inline void look_at(struct raw_candidate *c)
{
	__u64 base = c->base, via = c->via;
	__u32 type = c->type;

	at.id = (struct raw_lock_file){0};
	c->field = 0;
	if (!prove(type, base, via)) {
		c->id.ino = 0;
		return;
	}
	c->id = at.id;
	if ((type == RAW_F_CACHE_NODE || type == RAW_F_BARN) && !via)
		c->via = via = at.id.ino;
	if (!state.brief && begin_field(c))
		describe(type, base, via, c->who);
}

static long see_candidate(__u32 i, void *ctx)
{
	struct raw_candidate *c = bpf_map_lookup_elem(&candidates, &i);

	if (!c || i >= state.n)
		return 1;
	look_at(c);
	return 0;
}

SEC("raw_tp")
int read_fields(void *ctx)
{
	bpf_loop(RAW_CANDIDATES, see_candidate, NULL, 0);
	return 0;
}

static __always_inline void note_via(__u64 base, __u64 via, __u64 who)
{
	__u32 *i = base ? bpf_map_lookup_elem(&by_base, &base) : NULL;
	struct raw_candidate *c = i ? bpf_map_lookup_elem(&candidates, i) : NULL;

	if (!c || c->via || c->who)
		return;
	c->via = via;
	c->who = who;
}

/* The tasks that have what leads back to none. */
__noinline int see_task(__u64 task)
{
	struct task_struct___field *t = (void *)task;

	note_via((__u64)BPF_CORE_READ(t, sighand), task, 0);
	note_via((__u64)BPF_CORE_READ(t, files), task, 0);
	return 0;
}

WALK_TASKS(find_tasks, see_task, state.dropped)

/* The same of files. */
__noinline int see_file(__u64 task, __u64 file, __u32 fd)
{
	struct file___field *f = (void *)file;
	struct inode___field *i = BPF_CORE_READ(f, f_inode);
	__u64 queue = 0, scheduler;

	/* It is asked for, so that the compiler passes it: the verifier insists. */
	if (!i || (int)fd < 0)
		return 0;
	if (bpf_core_field_exists(i->i_flctx))
		note_via((__u64)BPF_CORE_READ(i, i_flctx), (__u64)i, task);
	note_via((__u64)BPF_CORE_READ(i, i_pipe), (__u64)i, task);
	note_via(groups_of(BPF_CORE_READ(i, i_sb)), (__u64)BPF_CORE_READ(i, i_sb), task);
	note_via((__u64)BPF_CORE_READ(f, private_data), 0, task);
	scheduler = scheduler_of(BPF_CORE_READ(i, i_sb), &queue);
	note_via(scheduler, queue, task);
	return 0;
}

WALK_FILES(find_files, see_file, state.dropped)
