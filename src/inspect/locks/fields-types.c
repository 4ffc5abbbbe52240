// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's types whose locks tasks wait for, and how their objects prove what they are
 * (fields.bpf.c). All locks in them come from BTF, so a kernel that has other ones has these. If
 * the slab cache of a lock is known only types of such objects are tried; in the memory of
 * kmalloc() objects begin at multiples of their size.
 */
#include "btf/types.h"
#include "fields-shared.h"
#include "fields.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct field_type types[] = {
	{.type = "task_struct", .proof = RAW_F_TASK, .cache = "task_struct"},
	{.type = "signal_struct", .proof = RAW_F_SIGNAL, .cache = "signal_cache"},
	{.type = "sighand_struct", .proof = RAW_F_SIGHAND, .cache = "sighand_cache"},
	{.type = "files_struct", .proof = RAW_F_FILES, .cache = "files_cache"},
	{.type = "mm_struct", .proof = RAW_F_MM, .cache = "mm_struct"},
	{.type = "inode", .proof = RAW_F_INODE, .cache = "inode_cache"},
	{.type = "ext4_inode_info",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "ext4_inode_cache",
	 .fs = "ext4"},
	{.type = "shmem_inode_info",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "shmem_inode_cache",
	 .fs = "tmpfs"},
	{.type = "xfs_inode",
	 .within = "i_vnode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "xfs_inode",
	 .fs = "xfs"},
	{.type = "btrfs_inode",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "btrfs_inode",
	 .fs = "btrfs"},
	{.type = "f2fs_inode_info",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "f2fs_inode_cache",
	 .fs = "f2fs"},
	{.type = "fuse_inode",
	 .within = "inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "fuse_inode",
	 .fs = "fuse"},
	{.type = "nfs_inode",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "nfs_inode_cache",
	 .fs = "nfs"},
	{.type = "socket_alloc",
	 .within = "vfs_inode",
	 .inner = "inode",
	 .proof = RAW_F_INODE,
	 .cache = "sock_inode_cache",
	 .fs = "sockfs"},
	{.type = "dentry", .proof = RAW_F_DENTRY, .cache = "dentry"},
	{.type = "file", .proof = RAW_F_FILE, .cache = "filp"},
	{.type = "uprobe", .proof = RAW_F_UPROBE},
	{.type = "super_block", .proof = RAW_F_SUPER, .short_name = "sb"},
	{.type = "ext4_sb_info", .proof = RAW_F_EXT4, .short_name = "ext4"},
	{.type = "blockgroup_lock", .proof = RAW_F_GROUPS, .name = "bgl_lock", .is_aligned = true},
	{.type = "journal_s", .proof = RAW_F_JOURNAL, .short_name = "journal"},
	{.type = "kernfs_root", .proof = RAW_F_KERNFS},
	{.type = "file_lock_context", .proof = RAW_F_FLOCKS, .cache = "file_lock_ctx"},
	{.type = "pipe_inode_info", .proof = RAW_F_PIPE, .short_name = "pipe"},
	{.type = "eventpoll", .proof = RAW_F_EPOLL, .short_name = "epoll"},
	{.type = "zone", .proof = RAW_F_ZONE},
	{.type = "pglist_data", .proof = RAW_F_NODE, .short_name = "node"},
	{.type = "lruvec", .proof = RAW_F_LRUVEC},
	{.type = "mem_cgroup", .proof = RAW_F_MEMCG, .short_name = "memcg"},
	{.type = "cgroup", .proof = RAW_F_CGROUP},
	{.type = "task_group", .proof = RAW_F_TASK_GROUP},
	{.type = "kmem_cache_node", .proof = RAW_F_CACHE_NODE, .cache = "kmem_cache_node"},
	{.type = "node_barn", .proof = RAW_F_BARN, .short_name = "barn"},
	{.type = "anon_vma", .proof = RAW_F_ANON_VMA, .cache = "anon_vma"},
	{.type = "futex_hash_bucket", .proof = RAW_F_FUTEX, .short_name = "futex bucket"},
	{.type = "kvm", .proof = RAW_F_KVM},
	{.type = "perf_event", .proof = RAW_F_EVENT, .cache = "perf_event"},
	{.type = "perf_event_context", .proof = RAW_F_CONTEXT, .short_name = "ctx"},
	{.type = "bpf_local_storage", .proof = RAW_F_STORAGE, .short_name = "BPF storage"},
	{.type = "cfs_rq", .proof = RAW_F_CFS_RQ},
	{.type = "sock",
	 .proof = RAW_F_SOCK,
	 .cache = "TCP TCPv6 UDP UDPv6 RAW RAWv6 PING UNIX UNIX-STREAM"},
	{.type = "unix_sock",
	 .within = "sk",
	 .inner = "sock",
	 .proof = RAW_F_SOCK,
	 .cache = "UNIX UNIX-STREAM",
	 .short_name = "unix",
	 .family = AF_UNIX},
	{.type = "netlink_sock",
	 .within = "sk",
	 .inner = "sock",
	 .proof = RAW_F_SOCK,
	 .family = AF_NETLINK},
	{.type = "net", .proof = RAW_F_NET},
	{.type = "net_device", .proof = RAW_F_DEVICE, .short_name = "dev"},
	{.type = "netdev_queue", .proof = RAW_F_TXQ},
	{.type = "Qdisc", .proof = RAW_F_QDISC, .short_name = "qdisc"},
	{.type = "backing_dev_info",
	 .within = "wb",
	 .inner = "bdi_writeback",
	 .proof = RAW_F_BDI,
	 .short_name = "bdi"},
	{.type = "bdi_writeback", .proof = RAW_F_BDI, .short_name = "wb"},
	{.type = "request_queue", .proof = RAW_F_QUEUE, .short_name = "queue"},
	{.type = "blk_mq_hw_ctx", .proof = RAW_F_HCTX, .short_name = "hctx"},
	{.type = "virtio_blk_vq", .proof = RAW_F_VIRTQ, .short_name = "vq"},
	{.type = "blk_flush_queue", .proof = RAW_F_FLUSH},
	{.type = "deadline_data", .proof = RAW_F_SCHEDULER, .short_name = "mq-deadline"},
	{.type = "bfq_data", .proof = RAW_F_SCHEDULER, .short_name = "bfq"},
	{.type = "kyber_queue_data", .proof = RAW_F_SCHEDULER, .short_name = "kyber"},
	{.type = "worker_pool", .proof = RAW_F_POOL, .short_name = "pool"},
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* Where the object begins that proves what it is; the locks in that one are another type's. */
static int add_type(struct field_members *m, struct kerntypes *kernel, const struct field_type *t)
{
	struct kerntypes_lock *locks;
	size_t n;
	int base = t->within ? kerntypes_offset(kernel, t->type, t->within) : 0;
	int size = t->within ? kerntypes_size(kernel, t->inner) : 0;
	int whole = kerntypes_size(kernel, t->type);
	uint32_t align = t->is_aligned && whole > 0 ? (uint32_t)whole : sizeof(void *);

	if (base < 0)
		return 0;
	int code = kerntypes_locks(kernel, t->type, t->short_name ? t->short_name : t->type, &locks,
				   &n);
	for (size_t i = 0; code == 0 && i < n; i++) {
		if (t->within && locks[i].offset - (uint32_t)base < (uint32_t)size)
			continue;
		if (mem_grow(&m->members, &m->cap, m->n, sizeof(*m->members)) < 0) {
			code = -ENOMEM;
			break;
		}
		struct field_member *to = &m->members[m->n++];
		*to = (struct field_member){.type = t,
					    .offset = locks[i].offset - (uint32_t)base,
					    .base = (uint32_t)base,
					    .align = align};
		to->is_mmap = t->proof == RAW_F_MM && !strcmp(locks[i].name, "mmap_lock");
		snprintf(to->name, sizeof(to->name), "%s", t->name ? t->name : locks[i].name);
	}
	mem_free(locks);
	return code;
}

int field_members_read(struct field_members *ret, struct kerntypes *kernel)
{
	int code = 0;

	*ret = (struct field_members){0};
	for (size_t i = 0; code == 0 && i < TYPES; i++)
		code = add_type(ret, kernel, &types[i]);
	if (code < 0)
		field_members_deinit(ret);
	return code;
}

void field_members_deinit(struct field_members *m)
{
	mem_free(m->members);
	*m = (struct field_members){0};
}

static bool is_cache_of(const struct field_type *t, const char *slab)
{
	size_t len = strlen(slab);

	for (const char *p = t->cache; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (!strncmp(p, slab, len) && (!p[len] || p[len] == ' '))
			return true;
	}
	return false;
}

static bool has_type(const char *slab)
{
	for (size_t i = 0; i < TYPES; i++)
		if (is_cache_of(&types[i], slab))
			return true;
	return false;
}

/* "kmalloc-cg-512": 512; 0: objects of another cache. */
static uint64_t kmalloc_size(const char *slab)
{
	const char *last = strrchr(slab, '-');
	char *end;

	if (strncmp(slab, "kmalloc-", 8) || !last)
		return 0;
	uint64_t n = strtoull(last + 1, &end, 10);
	return *end == 'k' ? n * 1024 : n;
}

/* May an object of @t be in that memory? */
static bool may_be(const struct field_type *t, const struct raw_lock *l, bool knows_slabs)
{
	if (!knows_slabs || l->merged)
		return true;
	if (!*l->slab)
		return !t->cache;
	if (has_type(l->slab))
		return is_cache_of(t, l->slab) ||
		       (t->proof == RAW_F_INODE && !t->within && strstr(l->slab, "inode"));
	if (kmalloc_size(l->slab))
		return !t->cache;
	return !t->cache || t->proof == RAW_F_INODE;
}

bool field_is_walked(uint32_t proof)
{
	return proof == RAW_F_SIGHAND || proof == RAW_F_FILES || proof == RAW_F_GROUPS ||
	       proof == RAW_F_FLOCKS || proof == RAW_F_PIPE || proof == RAW_F_EPOLL ||
	       proof == RAW_F_SCHEDULER;
}

size_t field_candidates(const struct field_members *m, const struct raw_lock *l, bool knows_slabs,
			bool walked, struct raw_candidate *ret, size_t room)
{
	uint64_t size = l->merged ? 0 : kmalloc_size(l->slab);
	bool aligned = size && !(size & (size - 1));
	size_t n = 0;

	for (size_t i = 0; i < m->n && n < room; i++) {
		const struct field_member *f = &m->members[i];
		uint64_t base = l->addr - (uint64_t)(int32_t)f->offset;
		if (f->is_mmap || field_is_walked(f->type->proof) != walked || base % f->align ||
		    !may_be(f->type, l, knows_slabs))
			continue;
		/* The object, or what it is in, has its begin in this piece of memory. */
		if (aligned && base / size != l->addr / size)
			continue;
		ret[n++] = (struct raw_candidate){.addr = l->addr,
						  .base = base,
						  .type = f->type->proof,
						  .member = (uint32_t)i};
	}
	return n;
}

const struct field_member *field_by_cache(const struct field_members *m, const struct raw_lock *l)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (l->merged || !l->object_size || !*l->slab)
		return NULL;
	/* Where memory is short, slabs are smaller. */
	for (uint32_t order = l->order + 1; order-- > 0;) {
		uint64_t at = (l->addr & ((page << order) - 1)) % l->object_size;
		for (size_t i = 0; i < m->n; i++) {
			const struct field_member *f = &m->members[i];
			if (is_cache_of(f->type, l->slab) && at == (uint32_t)(f->offset + f->base))
				return f;
		}
	}
	return NULL;
}
