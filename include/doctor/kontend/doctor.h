/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DOCTOR_H
#define KONTEND_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct opts;

enum doctor_status {
	DOCTOR_WORKS,
	DOCTOR_LIMITED, /* works, but not completely */
	DOCTOR_FAILS,
	DOCTOR_UNKNOWN, /* not tried, since an earlier check fails */
	DOCTOR_ABSENT,	/* this machine lacks it: nothing to measure or fix */
};

/* A check or a view. Texts are one line, cleaned; "": none. */
struct doctor_item {
	const char *name;
	const char *help; /* its subject */
	enum doctor_status status;
	char found[400];   /* result, or why it does not work */
	char fix[400];	   /* command or advice that fixes it */
	const char *cause; /* of a view: the check that its text is from, NULL = none */
};

enum { DOCTOR_ITEMS = 40 };

/* Waits that the events of locks of some kernels leave out. */
enum doctor_gap_fact {
	DOCTOR_GAP_PI_FUTEXES,
	DOCTOR_GAP_FILE_LOCKS,
	DOCTOR_GAP_PCPU_WRITERS,
	DOCTOR_GAP_VMA_LOCKS,
	DOCTOR_GAP_JOURNALS,
	DOCTOR_GAP_FIRST_SPINNER,
	DOCTOR_GAP_RWSEM_SPINS,
	DOCTOR_GAP_RQSPINLOCKS,
	DOCTOR_GAP_MUTEXES,
	DOCTOR_GAP_REALTIME,
	DOCTOR_GAP_FACTS,
	DOCTOR_GAPS = DOCTOR_GAP_FACTS + 4, /* with those that all kernels leave out */
};

/* Does this kernel leave them out? 1: yes, 0: no, -1: not known. */
struct doctor_gap_facts {
	signed char is[DOCTOR_GAP_FACTS];
	char journals[32]; /* types of file systems that are mounted and have one */
};

struct doctor_gap {
	const char *name;
	const char *waits;   /* that no event reports */
	const char *instead; /* what kontend shows of them */
	signed char here;    /* as in the facts */
	char found[120];     /* how that is known */
};

/* Bytes of kernel memory for a measurement of all CPUs without -m. */
struct doctor_memory {
	uint64_t perf_rings, bpf_rings, bpf_maps;
};

struct doctor {
	char kernel[65], machine[65], user[64];
	unsigned uid, cpus;
	struct doctor_item checks[DOCTOR_ITEMS];
	size_t n_checks;
	struct doctor_item views[DOCTOR_ITEMS];
	size_t n_views;
	struct doctor_gap gaps[DOCTOR_GAPS];
	size_t n_gaps;
	struct doctor_memory memory;
	bool works; /* the main job: locks */
};

/*
 * Tries all that kontend needs, by opening and reading it; a version or a sysctl alone proves
 * nothing. Leaves nothing except tracefs, which it mounts as kontend would.
 */
void doctor_run(struct doctor *d);

/* `kontend doctor --enospc`: prints to --output, or else to @out; returns the exit status. */
int doctor_enospc(const struct opts *o, FILE *out);

const char *doctor_status_name(enum doctor_status s);	  /* "works", "limited", "fails" ... */
const char *doctor_gap_state(const struct doctor_gap *g); /* "here", "absent", "unknown" */
/* The check @name; NULL: none. */
const struct doctor_item *doctor_check(const struct doctor *d, const char *name);

/* Pure parts, for tests. */

/* "6.18.44" is 6018; 0: not known. */
int doctor_kernel_version(const char *release);
/* True from version 5.19 on, the first with contention events. */
bool doctor_kernel_is_new_enough(const char *release);
/* True if the first symbols of a kallsyms text have addresses. */
bool doctor_kallsyms_has_addresses(const char *text);
/* As text. Rings have a minimum size, so those of very many CPUs can exceed their share. */
const char *doctor_memory_text(const struct doctor_memory *m, char *buf, size_t size);
/* For @cpus CPUs, with or without BPF. */
struct doctor_memory doctor_memory(unsigned cpus, bool bpf);
/* Fills d->gaps. */
void doctor_gaps(struct doctor *d, const struct doctor_gap_facts *f);
/* Answers of facts: by the kernel's release, and by the text of /proc/self/mounts. */
signed char doctor_gap_pcpu(const char *release);
void doctor_gap_journals(struct doctor_gap_facts *f, const char *mounts);
/* Fills d->views and d->works from d->checks. */
void doctor_conclude(struct doctor *d);

#endif
