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

enum { DOCTOR_ITEMS = 32 };

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

const char *doctor_status_name(enum doctor_status s); /* "works", "limited", "fails" ... */
/* The check @name; NULL: none. */
const struct doctor_item *doctor_check(const struct doctor *d, const char *name);

/* Pure parts, for tests. */

/* True from version 5.19 on, the first with contention events. */
bool doctor_kernel_is_new_enough(const char *release);
/* True if the first symbols of a kallsyms text have addresses. */
bool doctor_kallsyms_has_addresses(const char *text);
/* As text. Rings have a minimum size, so those of very many CPUs can exceed their share. */
const char *doctor_memory_text(const struct doctor_memory *m, char *buf, size_t size);
/* For @cpus CPUs, with or without BPF. */
struct doctor_memory doctor_memory(unsigned cpus, bool bpf);
/* Fills d->views and d->works from d->checks. */
void doctor_conclude(struct doctor *d);

#endif
