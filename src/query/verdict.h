/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_VERDICT_H
#define KONTEND_SRC_QUERY_VERDICT_H

#include "internal.h"
#include "kontend/query-blocked.h"
#include "kontend/query-chains.h"
#include "kontend/query-verdict.h"
#include "locks/sched.h"

/* verdict-spin.c: threads that spin in their program, and one that they keep off its CPU. */
struct verdict_spin {
	const char *at, *kept_at; /* lines of the program; NULL: not known */
	double cpus;		  /* that they burn; 0: there are none */
	uint32_t threads;
	uint32_t looks, all_looks; /* that saw one kept off: in the function of kept_at, in all */
	uint32_t task;		   /* one of those that spin */
	int32_t pid, kept_tid;
	const char *kept_comm;
	uint64_t samples, calls; /* of all that spin; in system calls */
};

/* Shared by the rules of the verdict. */
struct judge {
	struct query *q;
	const struct query_verdict_facts *f;
	struct table worst, slots; /* locks by WAIT/s and slots; no rows: none */
	struct table worst_user;   /* of programs; they are not in `worst` */
	struct table longest;	   /* of an average: the lock with the longest wait that ended */
	const struct query_elsewhere *elsewhere;
	struct query_blocked_worst blocked;
	struct query_deadlock deadlock;
	struct query_inversion inversion;
	struct verdict_spin spin;
	uint32_t n_inversions; /* tasks that wait so */
	size_t full;	       /* row of the CPU with the greatest share of slots taken */
};

/* verdict-waits.c: the waits, and their cause. */
double verdict_waited(const struct judge *j, bool user); /* ns in each second */
double verdict_longest(const struct judge *j);		 /* ns */
bool verdict_longest_is_user(const struct judge *j);
const char *verdict_say_user(struct judge *j, struct query_finding *f);
const char *verdict_say_wait(struct judge *j, struct query_finding *f);
const char *verdict_say_longest(struct judge *j, struct query_finding *f);
const char *verdict_say_inversion(struct judge *j, struct query_finding *f);
const char *verdict_say_calm(struct judge *j, struct query_finding *f);

bool verdict_has_time(const struct judge *j); /* to go through all cells */
/* The line at which those to blame for the waits for that lock had waited; NULL: not known. */
const char *verdict_cause_at(struct judge *j, uint64_t lock);
/* verdict-places.c: the lines that are about the lock of @f. 0 or -ENOMEM. */
int verdict_put_places(struct judge *j, struct query_finding *f);

/* 0 or -ENOMEM. @average: of all that was measured. */
int verdict_find_spin(struct query *q, bool average, struct verdict_spin *ret);
const char *verdict_say_spin(struct judge *j, struct query_finding *f);

/*
 * verdict-culprits.c: processes that take slots and counters, or have placed probes; NULL: not
 * known.
 */
const char *verdict_slots_culprit(struct judge *j);
const char *verdict_short_culprit(struct judge *j);
const char *verdict_rotation_culprit(struct judge *j);
const char *verdict_uprobes_culprit(struct judge *j);

#endif
