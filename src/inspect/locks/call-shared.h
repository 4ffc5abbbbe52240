/* SPDX-License-Identifier: GPL-2.0-only */
/* In which system call a task sleeps. Included by both sides: plain C types only. */
#ifndef KONTEND_INSPECT_LOCKS_CALL_SHARED_H
#define KONTEND_INSPECT_LOCKS_CALL_SHARED_H

enum { RAW_CALL_FILES = 3 };

/* The file of an argument, if it is a descriptor. */
struct raw_call_file {
	unsigned int known, fd;
	unsigned int dev;  /* its file system's, major << 20 | minor */
	unsigned int rdev; /* that it stands for itself, where it is a device; else 0 */
	char fs[16];	   /* type of its file system: "fuse" */
	char id[32];	   /* of its file system: "vda1", or its type where it has no device */
};

struct raw_call {
	long long number;			    /* negative: in none, or not known */
	unsigned long long args[RAW_CALL_FILES];    /* the first arguments */
	struct raw_call_file files[RAW_CALL_FILES]; /* and their files */
};

#endif
