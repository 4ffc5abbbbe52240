// SPDX-License-Identifier: GPL-2.0-only
/* Texts by which an object is called: see field-proofs.bpf.c. fields.bpf.c includes this file. */
static __always_inline struct raw_field *field_at(void)
{
	return bpf_map_lookup_elem(&fields, &at.field);
}

__noinline int put_task(__u64 task)
{
	struct task_struct *t = (void *)task;
	struct raw_field *r = field_at();

	if (!r || !t)
		return 0;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
	r->since_ns = BPF_CORE_READ((struct task_struct___field *)t, start_time);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	return 0;
}

static long put_folder(__u32 i, __u64 *dentry)
{
	struct raw_field *r = field_at();
	struct dentry *d = (void *)*dentry;
	struct dentry *parent = BPF_CORE_READ(d, d_parent);

	if (!r || !parent)
		return 1;
	r->path.whole = parent == d;
	if (parent == d || !put_name(&r->path, BPF_CORE_READ(d, d_name.name)))
		return 1;
	*dentry = (__u64)parent;
	return 0;
}

__noinline int put_super(__u64 super)
{
	struct super_block___field *s = (void *)super;
	struct raw_field *r = field_at();

	if (!r || !s)
		return 0;
	r->dev = BPF_CORE_READ(s, s_dev);
	bpf_probe_read_kernel_str(r->fs, sizeof(r->fs), BPF_CORE_READ(s, s_type, name));
	BPF_CORE_READ_STR_INTO(&r->name, s, s_id);
	return 0;
}

__noinline int put_dentry(__u64 dentry)
{
	struct dentry___field *d = (void *)dentry;
	struct raw_field *r = field_at();
	struct dentry___field *parent = BPF_CORE_READ(d, d_parent);
	struct super_block___field *s = BPF_CORE_READ(d, d_sb);

	if (!r || !s)
		return 0;
	put_super((__u64)s);
	if (parent == d && BPF_CORE_READ(s, s_root) != d) {
		/* A memfd, and what else is in no folder. */
		r->alone = 1;
		put_name(&r->path, BPF_CORE_READ((struct dentry *)d, d_name.name));
		return 0;
	}
	bpf_loop(TREE_DEPTH, put_folder, &dentry, 0);
	return 0;
}

/* Of several names the one that has been in use for the longest time, as waits.bpf.c has it. */
static __always_inline __u64 last_alias(struct inode___because *i)
{
	struct hlist_node *n = BPF_CORE_READ(i, i_dentry.first), *next;

	for (__u32 k = 0; n && k < LINKS; k++) {
		next = BPF_CORE_READ(n, next);
		if (!next)
			break;
		n = next;
	}
	return (__u64)n;
}

__noinline int put_inode(__u64 inode)
{
	struct inode___because *i = (void *)inode;
	struct inode___field *f = (void *)inode;
	struct raw_field *r = field_at();
	__u64 alias = last_alias(i);

	if (!r)
		return 0;
	put_super((__u64)BPF_CORE_READ(f, i_sb));
	r->number = BPF_CORE_READ(f, i_ino);
	if ((BPF_CORE_READ(i, i_mode) & 0170000) == 0060000)
		r->rdev = BPF_CORE_READ(i, i_rdev);
	alias = alias ? dentry_of_alias(alias) : 0;
	if (alias)
		put_dentry(alias);
	return 0;
}

__noinline int put_uprobe(__u64 base)
{
	struct uprobe *u = (void *)base;
	struct raw_field *r = field_at();

	if (!r || !bpf_core_field_exists(u->inode) || !bpf_core_field_exists(u->offset))
		return 0;
	r->place = BPF_CORE_READ(u, offset);
	return put_inode((__u64)BPF_CORE_READ(u, inode));
}

static long put_group(__u32 i, __u64 *node)
{
	struct raw_field *r = field_at();

	return r ? put_group_name(&r->path, node) : 1;
}

__noinline int put_cgroup(__u64 cgroup)
{
	struct cgroup___field *c = (void *)cgroup;
	__u64 node = c ? (__u64)BPF_CORE_READ(c, kn) : 0;
	struct raw_field *r = field_at();

	if (!r || !node)
		return 0;
	r->number = BPF_CORE_READ((struct kernfs_node___field *)node, id);
	bpf_loop(TREE_DEPTH, put_group, &node, 0);
	return 0;
}

__noinline int put_node(__u64 node)
{
	struct pglist_data *n = (void *)node;
	struct raw_field *r = field_at();

	if (r && n)
		r->node = BPF_CORE_READ(n, node_id);
	return 0;
}

__noinline int put_lruvec(__u64 base)
{
	struct mem_cgroup___field *m = (void *)lruvec_memcg(base);
	struct lruvec *l = (void *)base;
	struct pglist_data *n = NULL;

	if (m) {
		put_node((__u64)BPF_CORE_READ(l, pgdat));
		return put_cgroup((__u64)BPF_CORE_READ(m, css.cgroup));
	}
	return bpf_core_field_exists(n->__lruvec)
		       ? put_node(base - bpf_core_field_offset(n->__lruvec))
		       : 0;
}

__noinline int put_cfs_rq(__u64 base)
{
	struct cfs_rq___field *c = (void *)base;
	struct raw_field *r = field_at();

	if (!r || !has_group_queues())
		return 0;
	r->cpu = BPF_CORE_READ(c, rq, cpu);
	return put_cgroup((__u64)BPF_CORE_READ(c, tg, css.cgroup));
}

__noinline int put_sock(__u64 base)
{
	struct sock *s = (void *)base;
	struct unix_sock *u = (void *)base;
	struct unix_address *a;
	struct raw_field *r = field_at();
	int len;

	if (!r)
		return 0;
	r->family = BPF_CORE_READ(s, __sk_common.skc_family);
	r->proto = BPF_CORE_READ(s, sk_protocol);
	r->port = BPF_CORE_READ(s, __sk_common.skc_num);
	r->other_port = BPF_CORE_READ(s, __sk_common.skc_dport);
	r->number = at.id.ino;
	if (r->family == INET) {
		BPF_CORE_READ_INTO(&r->at, s, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO(&r->other, s, __sk_common.skc_daddr);
	} else if (r->family == INET6 && bpf_core_field_exists(s->__sk_common.skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&r->at, s, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&r->other, s, __sk_common.skc_v6_daddr);
	} else if (r->family == UNIX && bpf_core_field_exists(u->addr)) {
		a = BPF_CORE_READ(u, addr);
		len = a ? BPF_CORE_READ(a, len) : 0;
		/* An abstract name begins with a 0. */
		if (len > 2 && a)
			bpf_probe_read_kernel(
				r->name, sizeof(r->name) - 1,
				(void *)((__u64)a + bpf_core_field_offset(a->name[0].sun_path)));
		if (len > 2 && len - 2 < RAW_FIELD_TEXT)
			r->cpu = len - 2;
	}
	return 0;
}

__noinline int put_device(__u64 device)
{
	struct net_device *d = (void *)device;
	struct raw_field *r = field_at();

	if (!r || !d)
		return 0;
	BPF_CORE_READ_STR_INTO(&r->name, d, name);
	r->number = BPF_CORE_READ(d, nd_net.net, ns.inum);
	return 0;
}

__noinline int put_disk(__u64 queue)
{
	struct request_queue *q = (void *)queue;
	struct raw_field *r = field_at();

	if (!r || !q || !bpf_core_field_exists(q->disk))
		return 0;
	BPF_CORE_READ_STR_INTO(&r->name, q, disk, disk_name);
	return 0;
}

__noinline int put_pool(__u64 base)
{
	struct worker_pool___field *p = (void *)base;
	struct raw_field *r = field_at();

	if (!r)
		return 0;
	r->cpu = BPF_CORE_READ(p, cpu);
	r->number = (__u64)BPF_CORE_READ(p, id);
	r->node = BPF_CORE_READ(p, attrs, nice);
	return 0;
}

__noinline int put_text(__u64 from)
{
	struct raw_field *r = field_at();

	if (r)
		bpf_probe_read_kernel_str(r->name, sizeof(r->name), (void *)from);
	return 0;
}

__noinline int put_memory(__u32 type, __u64 base, __u64 via)
{
	switch (type) {
	case RAW_F_ZONE:
		put_text((__u64)BPF_CORE_READ((struct zone *)base, name));
		return put_node((__u64)BPF_CORE_READ((struct zone *)base, zone_pgdat));
	case RAW_F_NODE:
		return put_node(base);
	case RAW_F_LRUVEC:
		return put_lruvec(base);
	case RAW_F_MEMCG:
		return has_memcgs() ? put_cgroup((__u64)BPF_CORE_READ(
					      (struct mem_cgroup___field *)base, css.cgroup))
				    : 0;
	case RAW_F_CGROUP:
		return put_cgroup(base);
	case RAW_F_TASK_GROUP:
		return has_task_groups() ? put_cgroup((__u64)BPF_CORE_READ(
						   (struct task_group *)base, css.cgroup))
					 : 0;
	case RAW_F_CACHE_NODE:
	case RAW_F_BARN:
		return put_text((__u64)BPF_CORE_READ((struct kmem_cache___field *)via, name));
	case RAW_F_ANON_VMA:
		return put_task(mm_owner((void *)anon_mm(base)));
	case RAW_F_FUTEX:
		return put_task(mm_owner((void *)futex_mm(base)));
	case RAW_F_KVM:
		return put_task(kvm_owner(base));
	case RAW_F_EVENT:
		return put_task(event_owner(base));
	case RAW_F_CFS_RQ:
		return put_cfs_rq(base);
	case RAW_F_CONTEXT:
		return put_task(context_task(base));
	case RAW_F_STORAGE:
		return put_task(storage_task(base));
	}
	return 0;
}

__noinline int put_other(__u32 type, __u64 base, __u64 via)
{
	switch (type) {
	case RAW_F_SOCK:
		return put_sock(base);
	case RAW_F_NET: {
		struct raw_field *r = field_at();
		if (r)
			r->number = BPF_CORE_READ((struct net___field *)base, ns.inum);
		return 0;
	}
	case RAW_F_DEVICE:
		return put_device(base);
	case RAW_F_TXQ:
		return put_device(device_of_queue(base));
	case RAW_F_QDISC:
		return put_device(device_of_qdisc(base));
	case RAW_F_BDI: {
		struct raw_field *r = field_at();
		if (r)
			BPF_CORE_READ_STR_INTO(&r->name, (struct bdi_writeback___field *)base, bdi,
					       dev_name);
		return 0;
	}
	case RAW_F_QUEUE:
		return put_disk(base);
	case RAW_F_HCTX:
		return put_disk((__u64)BPF_CORE_READ((struct blk_mq_hw_ctx *)base, queue));
	case RAW_F_POOL:
		return put_pool(base);
	case RAW_F_VIRTQ:
		return put_disk((__u64)BPF_CORE_READ((struct gendisk *)disk_of_virtq(base), queue));
	case RAW_F_FLUSH:
		return put_disk(queue_of_flush(base));
	case RAW_F_SCHEDULER:
		return put_disk(via);
	}
	return 0;
}

__noinline int put_files(__u32 type, __u64 base, __u64 via, __u64 who)
{
	switch (type) {
	case RAW_F_INODE:
		return put_inode(base);
	case RAW_F_DENTRY:
		return put_dentry(base);
	case RAW_F_FILE:
		return put_inode((__u64)BPF_CORE_READ((struct file___field *)base, f_inode));
	case RAW_F_UPROBE:
		return put_uprobe(base);
	case RAW_F_SUPER:
		return put_super(base);
	case RAW_F_EXT4:
		return put_super(ext4_super(base));
	case RAW_F_JOURNAL:
		return put_task(log_task(base));
	case RAW_F_KERNFS:
		return put_super(kernfs_super((void *)base));
	case RAW_F_GROUPS:
		return put_super(via);
	case RAW_F_FLOCKS:
		return put_inode(via);
	case RAW_F_PIPE:
	case RAW_F_EPOLL:
		return put_task(who);
	}
	return 0;
}

/* Texts of the object at hand. */
__noinline int describe(__u32 type, __u64 base, __u64 via, __u64 who)
{
	switch (type) {
	case RAW_F_TASK:
		return put_task(base);
	case RAW_F_SIGNAL:
		return put_task(leader_of(base));
	case RAW_F_SIGHAND:
	case RAW_F_FILES:
		return put_task(via);
	case RAW_F_MM:
		return put_task(mm_owner((void *)base));
	}
	if (type < RAW_F_ZONE)
		return put_files(type, base, via, who);
	return type < RAW_F_SOCK ? put_memory(type, base, via) : put_other(type, base, via);
}
