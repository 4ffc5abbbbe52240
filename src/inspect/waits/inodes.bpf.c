// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inode that contains a lock for which a task begins to wait (inoderec.h). waits.bpf.c includes
 * this file.
 *
 * An inode is known without a look at its file system: its address_space points back at it, at
 * distances from the lock that the kernel's types give. So no other lock is mistaken for one. The
 * waiter keeps the inode in memory; once it is freed, file systems use its memory for the next one,
 * which has another number or generation. These are compared with those of the record before, at
 * each wait, and a record is written where they differ. A few words, most of which the lock's owner
 * has just used: tests/bench/holders-price.py measures it.
 *
 * The record also says where the file is: the chain of its directory entries, and the mount by
 * which kontend sees the file system. Reading that takes microseconds, once for each inode.
 */
#include "kernel/files.h"

#include "kontend/inoderec.h"

enum {
	INODE_SETS = 4096,
	INODE_WAYS = 2,
	INODE_DEPTH = 24,  /* directories and mount points in the name of a file */
	INODE_MOUNTS = 64, /* of a file system: among so many kontend's is looked for */
	INODE_NAME = 64,   /* a longer name of a directory entry is not read */
	INODE_LINKS = 8,   /* names of a file that are looked at */
};

#define INODE_XFS_MAGIC 0x58465342 /* linux/magic.h has neither for BPF */
#define INODE_EXT4_MAGIC 0xef53

struct inode_reported {
	__u64 lock, ino;
	__u32 generation, which;
	__u64 sb; /* two file systems may give out the same number and generation */
};

/* Locks with the same hash share a set: a cache line. */
struct inode_set {
	struct inode_reported way[INODE_WAYS];
};

struct inode_work {
	struct inoderec rec;
	__u64 entry, mount; /* a directory entry, the mount that it is in */
	__u32 is_whole, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct inode_set);
	__uint(max_entries, INODE_SETS);
} inodes_reported SEC(".maps");

/* A program that begins to wait is not called again on its CPU before it has returned. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct inode_work);
	__uint(max_entries, 1);
} inode_works SEC(".maps");

#define inode_at(member) bpf_core_field_offset(((struct inode___files *)0)->member)
#define inode_magic_at() bpf_core_field_offset(((struct super_block___files *)0)->s_magic)
#define space_at(member) bpf_core_field_offset(((struct address_space___files *)0)->member)

static __always_inline struct inode_work *inode_work(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&inode_works, &first);
}

static __always_inline bool inode_kernel_fits(void)
{
	struct inode___files *i = NULL;

	return bpf_core_field_exists(i->i_rwsem) && bpf_core_field_exists(i->i_data) &&
	       bpf_core_field_exists(i->i_generation) && bpf_core_field_exists(i->i_data.host);
}

/* Is there the address_space of an inode at @space? Its inode; 0: there is none. */
static __always_inline __u64 inode_of_space(__u64 space)
{
	__u64 host = word_at(space + space_at(host));

	return host + inode_at(i_data) == space ? host : 0;
}

/* @lock is @distance before an inode of that file system, as its magic number says; 0: it is not.
 */
static __always_inline __u64 inode_after(__u64 lock, __u64 distance, __u64 magic)
{
	__u64 inode = inode_of_space(lock + distance + inode_at(i_data));

	return inode && word_at(word_at(inode + inode_at(i_sb)) + inode_magic_at()) == magic ? inode
											     : 0;
}

/* The inode that @lock is beside, in the larger one of a file system. */
static __always_inline __u64 inode_beside(__u64 lock, __u32 *ret_which)
{
	struct xfs_inode___files *x = NULL;
	struct ext4_inode_info___files *e = NULL;
	__u64 inode = 0;

	*ret_which = INODEREC_XFS;
	if (bpf_core_field_exists(x->i_lock))
		inode = inode_after(
			lock, bpf_core_field_offset(x->i_vnode) - bpf_core_field_offset(x->i_lock),
			INODE_XFS_MAGIC);
	if (inode || !bpf_core_field_exists(e->i_data_sem))
		return inode;
	*ret_which = INODEREC_EXT4;
	return inode_after(
		lock, bpf_core_field_offset(e->vfs_inode) - bpf_core_field_offset(e->i_data_sem),
		INODE_EXT4_MAGIC);
}

/* The inode that @lock is part of; 0: of none. */
static __always_inline __u64 inode_of_lock(__u64 lock, __u32 *ret_which)
{
	struct address_space___files *a = NULL;
	__u64 inode = inode_of_space(lock - inode_at(i_rwsem) + inode_at(i_data));

	*ret_which = INODEREC_RWSEM;
	if (inode)
		return inode;
	*ret_which = INODEREC_MMAP_RWSEM;
	inode = inode_of_space(lock - space_at(i_mmap_rwsem));
	if (!inode && bpf_core_field_exists(a->invalidate_lock)) {
		*ret_which = INODEREC_INVALIDATE;
		inode = inode_of_space(lock - space_at(invalidate_lock));
	}
	return inode ? inode : inode_beside(lock, ret_which);
}

/* A mount of the file system that kontend sees; 0: there is none among the first ones. */
struct inode_mounts {
	__u64 node, head, found;
};

static long inode_next_mount(__u32 i, struct inode_mounts *w)
{
	struct mount *m = NULL;
	bool is_list = !bpf_core_field_exists(m->mnt_next_for_sb);

	if (!w->node || w->node == w->head)
		return 1;
	m = (void *)(w->node - (is_list ? bpf_core_field_offset(m->mnt_instance) : 0));
	if (BPF_CORE_READ(m, mnt_ns, ns.inum) == config.mnt_ns) {
		w->found = (__u64)m;
		return 1;
	}
	w->node = is_list ? (__u64)BPF_CORE_READ(m, mnt_instance.next)
			  : (__u64)BPF_CORE_READ(m, mnt_next_for_sb);
	return 0;
}

static __always_inline __u64 inode_mount(struct super_block___files *sb)
{
	struct inode_mounts w = {0};
	struct mount *m = NULL;

	if (bpf_core_field_exists(m->mnt_next_for_sb)) {
		w.node = (__u64)BPF_CORE_READ((struct super_block___first *)sb, s_mounts);
	} else {
		w.head = (__u64)sb + bpf_core_field_offset(sb->s_mounts);
		w.node = (__u64)BPF_CORE_READ(sb, s_mounts.next);
	}
	bpf_loop(INODE_MOUNTS, inode_next_mount, &w, 0);
	return w.found;
}

/* The name of an entry is put after those that are there; false: there is no room. */
static __always_inline bool inode_put_name(struct inode_work *w, struct dentry *d)
{
	__u32 at = w->rec.n_bytes;
	long n;

	if (at > INODEREC_NAMES - INODE_NAME)
		return false;
	n = bpf_probe_read_kernel_str(w->rec.names + at, INODE_NAME, BPF_CORE_READ(d, d_name.name));
	if (n <= 1 || n >= INODE_NAME)
		return false;
	w->rec.n_bytes = at + (__u32)n;
	return true;
}

/* Up to the root of the file system or, by its mount, to that which kontend sees. */
static long inode_up(__u32 i, void *arg)
{
	struct inode_work *w = inode_work();
	struct mount *m, *parent;
	struct dentry *d;

	if (!w)
		return 1;
	d = (void *)w->entry;
	m = (void *)w->mount;
	if (m && d == BPF_CORE_READ(m, mnt.mnt_root)) {
		w->rec.flags |= INODEREC_SEEN;
		parent = BPF_CORE_READ(m, mnt_parent);
		if (parent == m) {
			w->is_whole = 1;
			return 1;
		}
		w->entry = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
		w->mount = (__u64)parent;
		return 0;
	}
	if (d == BPF_CORE_READ(d, d_parent)) {
		w->is_whole = !(w->rec.flags & INODEREC_SEEN);
		return 1;
	}
	if (!inode_put_name(w, d))
		return 1;
	w->entry = (__u64)BPF_CORE_READ(d, d_parent);
	return 0;
}

/* Of several names, as of hard links, the one that has been in use for the longest time: new ones
 * are put at the front.
 */
static __always_inline __u64 inode_alias(struct inode___files *inode)
{
	struct hlist_node *n = BPF_CORE_READ(inode, i_dentry.first), *next;

	for (__u32 i = 0; n && i < INODE_LINKS; i++) {
		next = BPF_CORE_READ(n, next);
		if (!next)
			break;
		n = next;
	}
	return (__u64)n;
}

/*
 * A memfd or shared memory is in no directory: its entry is its own parent, and not the root of the
 * file system. /proc says "/memfd:NAME (deleted)". The entry of a file that was opened by a handle
 * of NFS has a name that is no name, "/".
 */
static __always_inline bool inode_name_alone(struct inode_work *w, struct dentry *d)
{
	if (!inode_put_name(w, d) || w->rec.names[0] == '/') {
		w->rec.n_bytes = 0;
		return false;
	}
	w->is_whole = 1;
	w->rec.flags |= INODEREC_SEEN | INODEREC_DELETED;
	return true;
}

/* Entries may be moved meanwhile: the first one is to be the same afterwards. */
static __always_inline void inode_name(struct inode_work *w, struct inode___files *inode)
{
	struct dentry *d, *parent;
	__u64 alias = inode_alias(inode);

	d = alias ? (void *)dentry_of_alias(alias) : NULL;
	if (!d)
		return;
	parent = BPF_CORE_READ(d, d_parent);
	w->entry = (__u64)d;
	w->mount = inode_mount(BPF_CORE_READ(inode, i_sb));
	if (parent != d || d == BPF_CORE_READ(inode, i_sb, s_root))
		bpf_loop(INODE_DEPTH, inode_up, NULL, 0);
	else if (!inode_name_alone(w, d))
		return;
	if ((__u64)BPF_CORE_READ(d, d_inode) != (__u64)inode ||
	    BPF_CORE_READ(d, d_parent) != parent)
		return;
	w->rec.flags |= INODEREC_NAMED;
	if (!w->is_whole)
		w->rec.flags |= INODEREC_CUT;
	/* The root of a file system is in no directory. */
	if (parent != d && !BPF_CORE_READ(d, d_hash.pprev))
		w->rec.flags |= INODEREC_DELETED;
}

static __always_inline bool inode_put(void *ctx, struct inoderec *r)
{
	if (config.waits)
		return put_own(ctx, r, sizeof(*r), sizeof(*r), false);
	return bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, &r->magic,
				     sizeof(*r) - offsetof(struct inoderec, magic)) == 0;
}

/* False: it could not be written, and is to be with the next wait. */
static __always_inline bool inode_report(void *ctx, struct inode___files *inode,
					 const struct inode_reported *now, bool changed)
{
	struct inode_work *w = inode_work();
	struct super_block___files *sb = BPF_CORE_READ(inode, i_sb);

	if (!w)
		return false;
	w->rec.magic = INODEREC_MAGIC;
	w->rec.lock = now->lock;
	w->rec.ino = now->ino;
	w->rec.generation = now->generation;
	w->rec.which = (__u16)now->which;
	if (now->which != INODEREC_FILE)
		w->rec.start = w->rec.past = 0;
	w->rec.dev = BPF_CORE_READ(sb, s_dev);
	w->rec.flags = changed ? INODEREC_CHANGED : 0;
	w->rec.n_bytes = w->is_whole = 0;
	w->rec.fs[0] = 0;
	bpf_probe_read_kernel_str(w->rec.fs, sizeof(w->rec.fs), BPF_CORE_READ(sb, s_type, name));
	inode_name(w, inode);
	return inode_put(ctx, &w->rec);
}

static __always_inline struct inode_set *inode_set_of(__u64 lock)
{
	__u32 at = ((lock >> 3) * 0x9e3779b97f4a7c15ull >> 52) & (INODE_SETS - 1);

	return bpf_map_lookup_elem(&inodes_reported, &at);
}

static __always_inline bool inode_is(const struct inode_reported *a, const struct inode_reported *b)
{
	return a->lock == b->lock && a->ino == b->ino && a->generation == b->generation &&
	       a->which == b->which && a->sb == b->sb;
}

/* Most waits for reader-writer semaphores are for the address space of the task itself. */
static __always_inline bool inode_is_own_mm(__u64 lock)
{
	struct task_struct___locks *t = (void *)bpf_get_current_task_btf();

	return (__u64)t->mm + bpf_core_field_offset(((struct mm_struct *)0)->mmap_lock) == lock;
}

static __always_inline bool inode_may_have(__u64 lock, __u32 flags)
{
	return flags & (LCB_READ | LCB_WRITE) && !(flags & (LCB_SPIN | LCB_PERCPU)) &&
	       inode_kernel_fits() && !inode_is_own_mm(lock);
}

/* Reports @inode, unless it is known: @now says of which lock. */
static __always_inline void inode_note(struct bpf_raw_tracepoint_args *ctx,
				       struct inode___files *inode,
				       const struct inode_reported *now)
{
	struct inode_set *set = inode_set_of(now->lock);
	bool second;

	if (!set || inode_is(&set->way[0], now) || inode_is(&set->way[1], now))
		return;
	second = set->way[1].lock == now->lock;
	/* Written before it is noted: a wait on another CPU meanwhile writes it, too. */
	if (!inode_report(ctx, inode, now, second || set->way[0].lock == now->lock))
		return;
	if (!second && set->way[0].lock != now->lock)
		set->way[1] = set->way[0];
	set->way[second] = *now;
}

/* For a lock that inode_may_have(). Global, as owner_read() is. */
__noinline int inode_see(struct bpf_raw_tracepoint_args *ctx)
{
	struct inode_reported now = {.lock = ctx->args[0]};
	__u64 inode;

	inode = inode_of_lock(now.lock, &now.which);
	if (!inode)
		return 0;
	now.ino = word_at(inode + inode_at(i_ino));
	now.generation = (__u32)number_at(inode + inode_at(i_generation));
	now.sb = word_at(inode + inode_at(i_sb));
	inode_note(ctx, (void *)inode, &now);
	return 0;
}
