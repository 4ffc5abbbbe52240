/* SPDX-License-Identifier: GPL-2.0-only */
/* The same of sockets, networks, disks and works: see fields.h. */
#ifndef KONTEND_INSPECT_KERNEL_FIELDS_DEVICES_H
#define KONTEND_INSPECT_KERNEL_FIELDS_DEVICES_H

#include "fields.h"

/* Networks. */
struct in6_addr___field {
	unsigned char bytes[16];
} CORE;

struct sock_common {
	unsigned int skc_daddr, skc_rcv_saddr;
	unsigned short skc_dport, skc_num, skc_family;
	struct in6_addr___field skc_v6_daddr, skc_v6_rcv_saddr;
} CORE;

struct sock {
	struct sock_common __sk_common;
	struct socket___field *sk_socket;
	unsigned short sk_protocol;
} CORE;

struct socket___field {
	struct file___field *file;
	struct sock *sk;
} CORE;

struct sockaddr_un {
	char sun_path[108];
} CORE;

struct unix_address {
	int len; /* of the family as well */
	struct sockaddr_un name[1];
} CORE;

struct unix_sock {
	struct unix_address *addr;
} CORE;

struct ns_common {
	unsigned int inum;
} CORE;

struct net___field {
	struct ns_common ns;
	struct net_device *loopback_dev;
} CORE;

struct possible_net {
	struct net___field *net;
} CORE;

struct net_device {
	struct possible_net nd_net;
	int ifindex;
	char name[16];
	struct netdev_queue *_tx;
	unsigned int num_tx_queues;
	struct Qdisc *qdisc;
} CORE;

struct netdev_queue {
	struct net_device *dev;
	struct Qdisc *qdisc;
} CORE;

struct Qdisc {
	struct netdev_queue *dev_queue;
} CORE;

/* Disks and works. */
struct bdi_writeback___field {
	struct backing_dev_info___field *bdi;
} CORE;

struct backing_dev_info___field {
	struct bdi_writeback___field wb;
	char dev_name[64];
} CORE;

struct elevator_queue {
	void *elevator_data;
} CORE;

struct request_queue {
	struct gendisk *disk;
	struct elevator_queue *elevator;
} CORE;

struct gendisk {
	char disk_name[32];
	struct request_queue *queue;
} CORE;

struct blk_mq_hw_ctx {
	struct request_queue *queue;
	unsigned int queue_num;
	struct blk_flush_queue *fq;
} CORE;

struct request___field {
	struct blk_mq_hw_ctx *mq_hctx;
} CORE;

struct blk_flush_queue {
	struct request___field *flush_rq;
} CORE;

struct virtio_device {
	void *priv;
} CORE;

struct virtqueue {
	struct virtio_device *vdev;
} CORE;

struct virtio_blk_vq {
	struct virtqueue *vq;
} CORE;

struct virtio_blk {
	struct gendisk *disk;
	int num_vqs;
	struct virtio_blk_vq *vqs;
} CORE;

struct workqueue_attrs {
	int nice;
} CORE;

struct worker_pool___field {
	int cpu, id;
	struct list_head workers;
	struct workqueue_attrs *attrs;
} CORE;

struct worker___field {
	struct worker_pool___field *pool;
	struct list_head node;
} CORE;

#endif
