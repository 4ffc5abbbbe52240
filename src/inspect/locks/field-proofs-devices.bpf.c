// SPDX-License-Identifier: GPL-2.0-only
/* The same of sockets, networks, disks and works: see field-proofs.bpf.c, which includes this file.
 */
__noinline int prove_sock(__u64 base)
{
	struct sock *s = (void *)base;
	struct socket___field *k = BPF_CORE_READ(s, sk_socket);
	struct file___field *f;

	if (!k || BPF_CORE_READ(k, sk) != s)
		return 0;
	f = BPF_CORE_READ(k, file);
	if (!f) /* of the kernel itself */
		return is((__u64)k);
	return (void *)BPF_CORE_READ(f, private_data) == k ? is(BPF_CORE_READ(f, f_inode, i_ino))
							   : 0;
}

__noinline int prove_net(__u64 base)
{
	struct net___field *n = (void *)base;
	struct net_device *d = BPF_CORE_READ(n, loopback_dev);

	return d && BPF_CORE_READ(d, nd_net.net) == n ? is(BPF_CORE_READ(n, ns.inum)) : 0;
}

/* Its queues are of it. */
static __always_inline bool is_device(struct net_device *d)
{
	struct netdev_queue *q = BPF_CORE_READ(d, _tx);

	return q && BPF_CORE_READ(q, dev) == d && BPF_CORE_READ(d, ifindex) > 0;
}

__noinline int prove_device(__u64 base)
{
	struct net_device *d = (void *)base;

	return is_device(d) ? is((__u64)BPF_CORE_READ(d, ifindex)) : 0;
}

static __always_inline __u64 device_of_queue(__u64 base)
{
	struct netdev_queue *q = (void *)base;
	struct net_device *d = BPF_CORE_READ(q, dev);
	__u64 size = bpf_core_type_size(struct netdev_queue), first;

	if (!d || !is_device(d))
		return 0;
	first = (__u64)BPF_CORE_READ(d, _tx);
	return base - first < BPF_CORE_READ(d, num_tx_queues) * size && (base - first) % size == 0
		       ? (__u64)d
		       : 0;
}

__noinline int prove_txq(__u64 base)
{
	struct net_device *d = (void *)device_of_queue(base);

	return d ? is((__u64)BPF_CORE_READ(d, ifindex)) : 0;
}

static __always_inline __u64 device_of_qdisc(__u64 base)
{
	struct Qdisc *q = (void *)base;
	__u64 queue = (__u64)BPF_CORE_READ(q, dev_queue);

	return queue ? device_of_queue(queue) : 0;
}

__noinline int prove_qdisc(__u64 base)
{
	struct net_device *d = (void *)device_of_qdisc(base);

	return d ? is((__u64)BPF_CORE_READ(d, ifindex)) : 0;
}

__noinline int prove_bdi(__u64 base)
{
	struct bdi_writeback___field *w = (void *)base;
	struct backing_dev_info___field *b = BPF_CORE_READ(w, bdi);

	return b && BPF_CORE_READ(b, wb.bdi) == b ? is((__u64)b) : 0;
}

static __always_inline bool is_queue(struct request_queue *q)
{
	struct gendisk *d;

	if (!q || !bpf_core_field_exists(q->disk))
		return false;
	d = BPF_CORE_READ(q, disk);
	return d && BPF_CORE_READ(d, queue) == q;
}

__noinline int prove_queue(__u64 base)
{
	return is_queue((void *)base) ? is(1) : 0;
}

__noinline int prove_hctx(__u64 base)
{
	struct blk_mq_hw_ctx *h = (void *)base;

	return is_queue(BPF_CORE_READ(h, queue)) && BPF_CORE_READ(h, queue_num) < 1 << 16 ? is(1)
											  : 0;
}

__noinline int prove_pool(__u64 base)
{
	struct worker_pool___field *p = (void *)base;
	struct worker___field *w = NULL;
	__u64 node = (__u64)BPF_CORE_READ(p, workers.next);

	if (!node || node == base + bpf_core_field_offset(p->workers) ||
	    !bpf_core_field_exists(w->pool))
		return 0;
	w = (void *)(node - bpf_core_field_offset(w->node));
	return BPF_CORE_READ(w, pool) == p ? is((__u64)BPF_CORE_READ(p, id) + 1) : 0;
}

/* The disk to which the queue of requests leads; 0: it leads to none. */
static __always_inline __u64 disk_of_virtq(__u64 base)
{
	struct virtio_blk_vq *v = (void *)base;
	__u64 size = bpf_core_type_size(struct virtio_blk_vq), first;
	struct virtio_blk *b;

	if (!bpf_core_type_exists(struct virtio_blk) || !bpf_core_field_exists(v->vq))
		return 0;
	b = (void *)BPF_CORE_READ(v, vq, vdev, priv);
	first = b ? (__u64)BPF_CORE_READ(b, vqs) : 0;
	if (!first || base - first >= (__u32)BPF_CORE_READ(b, num_vqs) * size ||
	    (base - first) % size)
		return 0;
	return (__u64)BPF_CORE_READ(b, disk);
}

__noinline int prove_virtq(__u64 base)
{
	struct gendisk *d = (void *)disk_of_virtq(base);

	return d && is_queue(BPF_CORE_READ(d, queue)) ? is(1) : 0;
}

/* The queue of the disk whose flushes these are, once there was one; 0: none. */
static __always_inline __u64 queue_of_flush(__u64 base)
{
	struct blk_flush_queue *q = (void *)base;
	struct blk_mq_hw_ctx *h = BPF_CORE_READ(q, flush_rq, mq_hctx);

	return h && bpf_core_field_exists(h->fq) && (__u64)BPF_CORE_READ(h, fq) == base
		       ? (__u64)BPF_CORE_READ(h, queue)
		       : 0;
}

__noinline int prove_flush(__u64 base)
{
	return is_queue((void *)queue_of_flush(base)) ? is(1) : 0;
}

/* The data of the scheduler of the disk of a file system, and the queue that has them; 0: none. */
static __always_inline __u64 scheduler_of(struct super_block___field *s, __u64 *ret_queue)
{
	struct request_queue *q = NULL;

	if (!s || !bpf_core_field_exists(s->s_bdev) || !bpf_core_field_exists(q->elevator))
		return 0;
	q = BPF_CORE_READ(s, s_bdev, bd_disk, queue);
	*ret_queue = (__u64)q;
	return q ? (__u64)BPF_CORE_READ(q, elevator, elevator_data) : 0;
}

__noinline int prove_scheduler(__u64 base, __u64 via)
{
	struct request_queue *q = (void *)via;

	return is_queue(q) && bpf_core_field_exists(q->elevator) &&
			       (__u64)BPF_CORE_READ(q, elevator, elevator_data) == base
		       ? is(1)
		       : 0;
}

__noinline int prove_other(__u32 type, __u64 base, __u64 via)
{
	switch (type) {
	case RAW_F_SOCK:
		return prove_sock(base);
	case RAW_F_NET:
		return prove_net(base);
	case RAW_F_DEVICE:
		return prove_device(base);
	case RAW_F_TXQ:
		return prove_txq(base);
	case RAW_F_QDISC:
		return prove_qdisc(base);
	case RAW_F_BDI:
		return prove_bdi(base);
	case RAW_F_QUEUE:
		return prove_queue(base);
	case RAW_F_HCTX:
		return prove_hctx(base);
	case RAW_F_POOL:
		return prove_pool(base);
	case RAW_F_VIRTQ:
		return prove_virtq(base);
	case RAW_F_FLUSH:
		return prove_flush(base);
	case RAW_F_SCHEDULER:
		return prove_scheduler(base, via);
	}
	return 0;
}
