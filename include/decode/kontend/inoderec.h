/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INODEREC_H
#define KONTEND_INODEREC_H

/*
 * The inode whose lock a task begins to wait for: a BPF program writes this record into a ring. The
 * kernel reuses the memory of a freed inode, so there is a record whenever the inode at that
 * address differs from that of the previous wait. Raw data of a sample of the software event
 * bpf-output. As in waitrec.h, the size of the raw data precedes them in a sample. The BPF program
 * includes this file: plain C types only.
 */
#define INODEREC_MAGIC 0x3149574bu /* "KWI1" */

enum { INODEREC_FS = 16, INODEREC_NAMES = 224 };

/* Lock of the inode. */
enum inoderec_lock {
	INODEREC_RWSEM,
	INODEREC_MMAP_RWSEM,
	INODEREC_INVALIDATE,
	INODEREC_FILE, /* of its file: filelock.h */
	INODEREC_XFS,  /* of the inode of XFS around it, i_lock */
	INODEREC_EXT4, /* i_data_sem */
	INODEREC_ON,   /* none: the file that a wait's system call is on, waitrec_on_addr() */
	INODEREC_LOCKS
};

enum inoderec_flag {
	INODEREC_CHANGED = 1, /* there was a record of another inode at this address */
	INODEREC_NAMED = 2,   /* `names` has its path */
	INODEREC_CUT = 4,     /* but not from the root: no room */
	INODEREC_SEEN = 8, /* from the root that kontend sees, else from that of the file system */
	INODEREC_DELETED = 16,
	INODEREC_FLAGS = 32,
};

struct inoderec {
	unsigned int size; /* perf's; the raw data begin after it */
	unsigned int magic;
	unsigned long long lock, ino;
	unsigned int generation, dev;
	unsigned short which, flags; /* enum inoderec_lock, enum inoderec_flag */
	unsigned int n_bytes;	     /* of `names` */
	char fs[INODEREC_FS];	     /* type of the file system; NUL-terminated */
	/* Name of the file, of its folder, and so on, each NUL-terminated. */
	char names[INODEREC_NAMES];
	/* Of the lock of a part of a file: filelock_part(). Records of 1.x end before. */
	unsigned long long start, past;
};

#endif
