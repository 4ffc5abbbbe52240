/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_FILE_HOLDS_H
#define KONTEND_SRC_MODEL_FILE_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;

/* A process took the lock of a part of a file, as a tracepoint reported; `owner` 0: no entry. */
struct file_hold {
	uint64_t file, owner; /* the whole file's lock; an open file, or a process: as in event.h */
	uint64_t start, past; /* filelock_part() */
	uint64_t since_ns;
	int32_t pid;
	bool reads;
};

enum { FILE_HOLD_SETS = 256, FILE_HOLD_WAYS = 8 };

/* `= {0}` is none. */
struct file_holds {
	struct file_hold *v; /* by file, in sets; NULL: no tracepoint has reported any */
};

/* @ev is the end of a try to lock a file, with its owner. 0 or -ENOMEM. */
int file_holds_take(struct file_holds *h, const struct event *ev);
/* Because of whom a try has to wait: who has had it for the longest time; NULL: not known. */
const struct file_hold *file_holds_find(const struct file_holds *h, const struct event *ev);
int file_holds_copy(struct file_holds *dst, const struct file_holds *src); /* 0 or -ENOMEM */
size_t file_holds_bytes(const struct file_holds *h);
void file_holds_deinit(struct file_holds *h);

#endif
