/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_USERS_PROCESS_H
#define KONTEND_INSPECT_LOCKS_USERS_PROCESS_H

#include "users.h"

#include <sys/types.h>

/* A process of which threads are read. */
struct users_process {
	const char *proc;
	int32_t pid;
	int mem; /* descriptor of its memory; -1: not opened yet, or it cannot be */
	bool tried;
	bool ns_known, other_ns; /* other_ns: its thread numbers are of another namespace */
	bool class_known, is_32bit;
	char *maps; /* its mappings, line by line; NULL: not read yet */
	size_t maps_len;
	uint64_t space; /* 0: not known yet */
	pid_t *tids;
	size_t n_tids, cap_tids;
};

/* A line of /proc/PID/maps: "7f00-7f10 rw-p 00001000 fe:01 1234   /path". */
struct users_mapping {
	uint64_t from, to, offset, major, minor, ino;
	const char *path; /* "", "[heap]" */
	bool executable;
	bool shared; /* with other processes; else what is written is this one's own */
	/* The program or library that it belongs to, and where that begins; "": none. */
	const char *object;
	uint64_t base, object_ino;
	uint32_t object_dev;
};

void users_process_open(struct users_process *p, const char *proc, int32_t pid);
void users_process_close(struct users_process *p);

/* False: the thread is not in futex(2), or runs. */
bool users_process_thread(struct users_process *p, int32_t tid, struct users_thread *ret);
/* Where a thread of it sleeps: the line of its call in @ret, and both places. False: it runs. */
enum { USERS_LINE = 512 };
bool users_process_place(const struct users_process *p, int32_t tid, char ret[USERS_LINE],
			 uint64_t *ret_sp, uint64_t *ret_ip);
bool users_process_is_32bit(struct users_process *p);
/* A users_read() of its memory; @arg is the process. */
bool users_process_read(void *arg, uint64_t addr, void *ret, size_t n);
/* Fills in `tids`. */
void users_process_list(struct users_process *p);
/* Does it number its threads in another PID namespace? */
bool users_process_has_other_ns(struct users_process *p);
/* The thread of the process that has the number @owner there. */
bool users_process_find(struct users_process *p, uint32_t owner, int32_t *ret);
/* The number that a thread of it has there; 0: not known. @arg is the process. */
uint32_t users_process_number(void *arg, int32_t tid);
uint64_t users_process_space(struct users_process *p);
/* All mappings: lines that end with a NUL; @arg is the process. NULL: they cannot be read. */
const char *users_process_maps(void *arg, size_t *ret_len);
/* That of an address, with its object. */
bool users_process_mapping(struct users_process *p, uint64_t addr, struct users_mapping *ret);
/* Without the object. False: it is no such line. */
bool users_mapping_take(const char *at, struct users_mapping *ret);

#endif
