/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENT_H
#define KONTEND_INCIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An incident that a trigger caught: the payload of SNAPSHOT_INCIDENT, one in each incident file.
 * Times are of the session clock. Decoded texts are terminated and without control characters,
 * whatever the file had; "" if empty.
 */
enum { INCIDENT_VERSION = 1 };

enum incident_flags {
	INCIDENT_BY_HAND = 1, /* on request: no trigger fired */
	INCIDENT_GOES_ON = 2, /* its cause had not ended at the end of the file */
	INCIDENT_SHORT = 4,   /* the file begins later than requested: no older data was kept */
};

struct incident {
	uint64_t fired_ns;	 /* time when the trigger became true */
	uint64_t begin_ns;	 /* begin of its cause: of a wait, its begin; else as fired_ns */
	uint64_t end_ns;	 /* end of its cause; 0: not yet */
	uint64_t from_ns, to_ns; /* range of the file */
	uint64_t worst_ns;	 /* longest wait that fired it; 0: the cause is no wait */
	uint64_t lock;		 /* address of the lock; 0: none */
	uint64_t value;		 /* compared value, in the trigger's unit */
	int32_t pid, tid;	 /* of the waiting task; 0: none */
	int32_t holder_pid, holder_tid; /* 0: not known */
	uint32_t trigger; /* position of its expression on the command line, from 0 on */
	uint32_t more;	  /* number of further triggers until to_ns */
	uint32_t flags;	  /* enum incident_flags */
	uint32_t pad;
	char expr[160]; /* the expression as given */
	char fired[96]; /* values that fired it: "wait 312ms", "waiting 34" */
	char lock_name[96];
	char task[32];	  /* its comm */
	char because[96]; /* the holder and its state: "mysqld/812 runs" */
	/* From the task to what it waited for in the end: "cat/200 -> rwsem mmap_lock t/100 ->
	 * t/100 -> disk read vda"; "" if nothing of it was known, or in a file of kontend 1. */
	char chain[384];
	/* Of the task's wait; "": not known, or in a file of kontend 1. */
	char syscall[48];
	char at[144]; /* "db.c:412 commit_log" */
	char on[96];  /* "/var/db/log" */
};

/* Reads a payload; false: not valid, or with impossible times. */
bool incident_decode(const void *data, size_t len, struct incident *ret);

#endif
