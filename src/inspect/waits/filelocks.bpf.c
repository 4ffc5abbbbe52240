// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for locks of files (filelock.h), by the kernel's tracepoints where it has tried to take
 * one. waits.bpf.c includes this file.
 *
 * A try that has to wait begins the wait, or continues it: a task that is woken tries again. Any
 * other try of the same task ends it, and so does the delivery of a signal, after which the task
 * may begin again. As each lock and unlock of a file passes here, tasks that wait are counted, and
 * found by their number: a try of a task that does not wait reads no more than the type.
 *
 * The lock names the one that it waits for, which may be that of another waiter: the last one of
 * this chain is held. It names the process that took it. That one may have ended, as children have
 * the file, too: then no holder is reported, and snapshots find it by descriptors.
 *
 * When a process took a lock is kept in an array, where another lock may displace it: two stores.
 */
#include "kernel/filelocks.h"

#include "kontend/filelock.h"

enum {
	FILE_WAITS = 16384,
	FILE_CHAIN = 64, /* waiters between one and the holder */
	FILE_NO_LOCK = 1,
	FILE_TAKEN = 8192,
};

struct file_wait {
	__u64 lock, file; /* of the part that it waits for, and of the whole file */
	__u64 idle;	  /* idleclock.h, when it began */
	__u64 par;	  /* parclock.h, likewise */
};

struct file_state {
	__u64 n; /* in file_waits */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct file_wait);
	__uint(max_entries, FILE_WAITS);
} file_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct file_state);
	__uint(max_entries, 1);
} file_states SEC(".maps");

/* A program that begins to wait is not called again on its CPU before it has returned. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct waitrec_begin);
	__uint(max_entries, 1);
} file_works SEC(".maps");

/* A process took a lock: its hash ^ `ns`, so that what two CPUs have written at once is no match.
 */
struct file_taken {
	__u64 check, ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct file_taken);
	__uint(max_entries, FILE_TAKEN);
} files_taken SEC(".maps");

static __always_inline struct file_state *file_state(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&file_states, &first);
}

static __always_inline __u64 file_of(struct bpf_raw_tracepoint_args *ctx, enum filelock_kind kind)
{
	struct inode___files *inode = (void *)ctx->args[0];

	return filelock_addr(kind, BPF_CORE_READ(inode, i_sb, s_dev), BPF_CORE_READ(inode, i_ino));
}

/* @r: a record, whose first member is the size of what follows; @size: with it. */
static __always_inline bool file_put(void *ctx, struct waitrec_begin *r, __u64 size)
{
	if (config.waits)
		return put_own(ctx, r, size, sizeof(*r), true);
	size -= sizeof(r->size);
	barrier_var(size); /* the same register for test and use, or the verifier forgets */
	if (size > sizeof(*r) - sizeof(r->size))
		return false;
	return bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic, size) == 0;
}

/* @process: its number in the initial namespace. */
static __always_inline struct file_taken *file_taken(struct bpf_raw_tracepoint_args *ctx,
						     enum filelock_kind kind, __u32 process,
						     __u64 *ret_hash)
{
	__u64 hash = (ctx->args[0] ^ (__u64)process << 34 ^ kind) * 0x9e3779b97f4a7c15ull;
	__u32 at;

	hash ^= hash >> 29;
	at = (__u32)hash & (FILE_TAKEN - 1);
	*ret_hash = hash;
	return bpf_map_lookup_elem(&files_taken, &at);
}

static __always_inline void file_note_taken(struct bpf_raw_tracepoint_args *ctx,
					    enum filelock_kind kind)
{
	__u32 process = (__u32)(bpf_get_current_pid_tgid() >> 32);
	struct file_taken *t;
	__u64 hash, now;

	if (filelock_type(ctx->args[1]) == FILELOCK_UNLOCK)
		return;
	t = file_taken(ctx, kind, process, &hash);
	if (!t)
		return;
	now = bpf_ktime_get_ns();
	t->ns = now;
	t->check = hash ^ now;
}

/* For how long @process has the lock, as waitrec_age() has it; 0: not known. */
static __always_inline __u32 file_age(struct bpf_raw_tracepoint_args *ctx, enum filelock_kind kind,
				      __u32 process)
{
	__u64 hash, ns, now = bpf_ktime_get_ns();
	struct file_taken *t = file_taken(ctx, kind, process, &hash);

	ns = t ? t->ns : 0;
	if (!ns || (t->check ^ ns) != hash || ns > now)
		return 0;
	return waitrec_age(now - ns);
}

/* The lock at the end of the chain from @at on, which is held. Global, as owner_read() is. */
__noinline int file_owner(struct lock_owner *o, __u64 at)
{
	struct filelock_view held = {.blocker = at};

	for (int i = 0; i < FILE_CHAIN && held.blocker; i++)
		filelock_read(&held, held.blocker);
	if (!o || !at || held.blocker)
		return 0;
	o->host = held.pid;
	o->task = filelock_task(o->host);
	if (!o->task)
		return 0;
	o->is = held.type == FILELOCK_READ ? WAITREC_READ : WAITREC_OWNED;
	o->tid = ns_tid((void *)o->task, &config.ns);
	o->pid = ns_pid((void *)o->task, &config.ns);
	if (o->tid <= 0)
		o->is = WAITREC_NOT_SAID;
	return 0;
}

/* Its lock, and into the record of the file which part it is of. */
static __always_inline __u64 file_part(struct bpf_raw_tracepoint_args *ctx, enum filelock_kind kind,
				       __u64 file)
{
	struct file_lock___bytes *l = (void *)ctx->args[1];
	struct inode_work *w = inode_work();

	if (!w)
		return file;
	w->rec.start = w->rec.past = 0;
	if (kind == FILELOCK_POSIX) {
		w->rec.start = BPF_CORE_READ(l, fl_start);
		w->rec.past = (__u64)BPF_CORE_READ(l, fl_end) + 1;
	}
	return filelock_part(file, w->rec.start, w->rec.past);
}

static __always_inline void file_name(struct bpf_raw_tracepoint_args *ctx, __u64 lock)
{
	struct inode___files *inode = (void *)ctx->args[0];
	struct inode_reported now = {.lock = lock, .which = INODEREC_FILE};

	if (!inode_kernel_fits())
		return;
	now.ino = BPF_CORE_READ(inode, i_ino);
	now.generation = BPF_CORE_READ(inode, i_generation);
	now.sb = (__u64)BPF_CORE_READ(inode, i_sb);
	inode_note(ctx, inode, &now);
}

static __always_inline void file_forget(__u32 tid)
{
	struct file_state *s = file_state();

	if (s && bpf_map_delete_elem(&file_waits, &tid) == 0)
		__sync_fetch_and_add(&s->n, -1);
}

/* A task that is woken tries again: its wait goes on. */
static __always_inline void file_clocks(struct file_wait *new, __u64 pid_tid)
{
	__u32 tid = (__u32)pid_tid;
	const struct file_wait *w = bpf_map_lookup_elem(&file_waits, &tid);
	bool goes_on = w && w->lock == new->lock;
	__u64 now = bpf_ktime_get_ns();

	new->idle = goes_on ? w->idle : idle_begin((void *)bpf_get_current_task_btf(), now);
	new->par = goes_on ? w->par : par_here((__u32)(pid_tid >> 32), now);
}

/* Global, as owner_read() is. */
__noinline int file_begin(struct bpf_raw_tracepoint_args *ctx, enum filelock_kind kind)
{
	__u64 pid_tid = bpf_get_current_pid_tgid();
	struct filelock_view request = {0};
	struct file_wait w = {.file = file_of(ctx, kind)};
	struct file_state *s = file_state();
	struct lock_owner o = {0};
	struct waitrec_begin *r;
	__u32 tid = (__u32)pid_tid, n_user = 0, user = WAITREC_USER_NONE;
	const __u32 first = 0;

	r = bpf_map_lookup_elem(&file_works, &first);
	if (!r || !s || !is_wanted(pid_tid))
		return 0;
	w.lock = file_part(ctx, kind, w.file);
	file_clocks(&w, pid_tid);
	file_forget(tid);
	/* Without a place in the list its end would not be reported. */
	if (bpf_map_update_elem(&file_waits, &tid, &w, BPF_ANY))
		return 0;
	__sync_fetch_and_add(&s->n, 1);
	filelock_read(&request, ctx->args[1]);
	file_owner(&o, request.blocker);
	file_name(ctx, w.lock);
	r->magic = WAITREC_BEGIN_MAGIC;
	r->lock = w.lock;
	r->cgroup = cgroup_here();
	r->flags = filelock_flags(kind, request.type == FILELOCK_READ);
	r->tid = (int)tid;
	r->missed = 0;
	r->n_frames = (__u16)stack_unwind(ctx, r->frames, config.frames);
	if (config.user_frames && r->n_frames <= WAITREC_FRAMES)
		n_user = (__u32)frames_take(FRAMES_OF_FILES, &user);
	if (n_user <= WAITREC_USER)
		frames_put(FRAMES_OF_FILES, n_user, r->frames, r->n_frames);
	r->n_user = (__u16)n_user;
	r->user = (__u8)user;
	r->owner_pid = o.pid;
	r->owner_tid = o.tid;
	r->owner = (__u16)o.is;
	r->owner_asked = (config.owners ? WAITREC_OWNERS_ASKED : 0) | (w.idle ? WAITREC_LOSES : 0);
	r->held = file_age(ctx, kind, o.host);
	r->par = w.par;
	file_put(ctx, r,
		 offsetof(struct waitrec_begin, frames) +
			 (__u64)(r->n_frames + n_user) * sizeof(r->frames[0]));
	return 0;
}

/*
 * The task does not wait any more: for @file with that result, or for another one since some time
 * before. 0: for any. Which part it got is no proof: parts of one owner grow together. Global, as
 * owner_read() is.
 */
__noinline int file_end(struct bpf_raw_tracepoint_args *ctx, __u64 file, int ret)
{
	__u64 pid_tid = bpf_get_current_pid_tgid(), now;
	__u32 tid = (__u32)pid_tid;
	struct file_wait *w = bpf_map_lookup_elem(&file_waits, &tid);
	struct waitrec_begin *r;
	struct waitrec_end *end;
	const __u32 first = 0;

	r = w ? bpf_map_lookup_elem(&file_works, &first) : NULL;
	if (!w || !r)
		return 0;
	end = (void *)r;
	end->magic = WAITREC_END_MAGIC;
	end->lock = w->lock;
	end->ret = !file || w->file == file ? ret : FILELOCK_OVER;
	end->tid = (int)tid;
	now = bpf_ktime_get_ns();
	end->idle = idle_at(now);
	end->par = par_here((__u32)(pid_tid >> 32), now);
	end->began = (__u32)w->idle;
	file_forget(tid);
	file_put(ctx, r, sizeof(*end));
	return 0;
}

static __always_inline bool file_has_waits(void)
{
	struct file_state *s = file_state();

	return s && s->n;
}

static __always_inline bool file_waits_here(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return file_has_waits() && bpf_map_lookup_elem(&file_waits, &tid);
}

static __always_inline void file_try(struct bpf_raw_tracepoint_args *ctx, enum filelock_kind kind)
{
	struct filelock_view request = {0};
	int ret = (int)ctx->args[2];
	bool may_wait;

	if (ret == FILELOCK_DEFERRED) {
		file_begin(ctx, kind);
		return;
	}
	if (!ret)
		file_note_taken(ctx, kind);
	if (!file_waits_here())
		return;
	filelock_read(&request, ctx->args[1]);
	may_wait = request.how & FILELOCK_SLEEP && request.type != FILELOCK_UNLOCK;
	file_end(ctx, may_wait ? file_of(ctx, kind) : FILE_NO_LOCK, ret);
}

SEC("raw_tp/flock_lock_inode")
int see_flock(struct bpf_raw_tracepoint_args *ctx)
{
	file_try(ctx, FILELOCK_FLOCK);
	return 0;
}

SEC("raw_tp/posix_lock_inode")
int see_posix_lock(struct bpf_raw_tracepoint_args *ctx)
{
	file_try(ctx, FILELOCK_POSIX);
	return 0;
}

SEC("raw_tp/break_lease_block")
int see_lease_block(struct bpf_raw_tracepoint_args *ctx)
{
	file_begin(ctx, FILELOCK_LEASE);
	return 0;
}

SEC("raw_tp/break_lease_unblock")
int see_lease_unblock(struct bpf_raw_tracepoint_args *ctx)
{
	if (file_has_waits())
		file_end(ctx, file_of(ctx, FILELOCK_LEASE), 0);
	return 0;
}

/* Signals end all these waits: the tasks sleep interruptibly. */
SEC("raw_tp/signal_deliver")
int see_file_signal(struct bpf_raw_tracepoint_args *ctx)
{
	if (file_has_waits())
		file_end(ctx, 0, FILELOCK_SIGNAL);
	return 0;
}
