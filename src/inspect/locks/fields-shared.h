/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by user space and the programs that find out in which object of the kernel a lock is.
 * Included by both sides: plain C types only, sizes are multiples of 8.
 */
#ifndef KONTEND_INSPECT_LOCKS_FIELDS_SHARED_H
#define KONTEND_INSPECT_LOCKS_FIELDS_SHARED_H

#include "ns-shared.h"
#include "path-shared.h"
#include "shared.h"

enum {
	RAW_CANDIDATES = 16384,
	RAW_FIELDS = 512, /* found in one run */
	RAW_FIELD_TEXT = 56,
};

/* By how an object proves what it is. */
enum raw_field_type {
	RAW_F_NONE,
	RAW_F_TASK,
	RAW_F_SIGNAL,
	RAW_F_SIGHAND, /* this and the next one lead to no task that has them: it is searched */
	RAW_F_FILES,
	RAW_F_MM,
	RAW_F_INODE,
	RAW_F_DENTRY,
	RAW_F_FILE,
	RAW_F_UPROBE,
	RAW_F_SUPER,
	RAW_F_EXT4,
	RAW_F_JOURNAL,
	RAW_F_KERNFS,
	RAW_F_GROUPS, /* leads to no super block that has it: files are searched */
	RAW_F_FLOCKS, /* this and the next one lead to no inode that has them, */
	RAW_F_PIPE,
	RAW_F_EPOLL, /* this one and a pipe to no task: files are searched */
	RAW_F_ZONE,
	RAW_F_NODE,
	RAW_F_LRUVEC,
	RAW_F_MEMCG,
	RAW_F_CGROUP,
	RAW_F_TASK_GROUP,
	RAW_F_CACHE_NODE,
	RAW_F_ANON_VMA,
	RAW_F_FUTEX,
	RAW_F_KVM,
	RAW_F_EVENT,
	RAW_F_CFS_RQ,
	RAW_F_BARN,
	RAW_F_CONTEXT,
	RAW_F_STORAGE,
	RAW_F_SOCK,
	RAW_F_NET,
	RAW_F_DEVICE,
	RAW_F_TXQ,
	RAW_F_QDISC,
	RAW_F_BDI, /* and the write-back that it has, or that a cgroup has of it */
	RAW_F_QUEUE,
	RAW_F_HCTX,
	RAW_F_POOL,
	RAW_F_VIRTQ,
	RAW_F_FLUSH,
	RAW_F_SCHEDULER, /* leads to no disk that has it: files are searched */
	RAW_F_TYPES
};

/* May the lock at `addr` be in an object of that type at `base`? */
struct raw_candidate {
	unsigned long long addr, base;
	unsigned long long via; /* task or inode that has it, where it leads to none; 0: searched */
	unsigned long long who; /* task that has such a file open */
	unsigned int type;	/* enum raw_field_type */
	unsigned int field;	/* index + 1 in the found ones; 0: it is none */
	unsigned int member, lock; /* of user space: indices */
	struct raw_lock_file id;   /* a reused object has another; `ino` 0: it is no such object */
};

/* An object that was found, and what it is called by. */
struct raw_field {
	unsigned long long since_ns; /* a task began, monotonic */
	unsigned long long number;   /* of a namespace, a cgroup, an inode */
	unsigned long long place;    /* of a uprobe in its file */
	int pid, tid;		     /* 0: it is of no task */
	unsigned int dev, rdev;	     /* major << 20 | minor */
	int node, cpu;		     /* -1: none */
	unsigned int family, proto, port, other_port;
	unsigned char at[16], other[16]; /* addresses of a socket */
	char comm[16], fs[16];		 /* a process; a type of file systems */
	char name[RAW_FIELD_TEXT];	 /* a zone, a device, a cache */
	unsigned int deleted, alone;	 /* a file: without a name; in no folder */
	struct raw_path path;
};

struct raw_fields_state {
	unsigned int n, found;
	unsigned int brief; /* only whether they are still the same */
	unsigned int dropped;
};

struct raw_fields_config {
	unsigned int self, pad;
	struct ns_config ns;
};

#endif
