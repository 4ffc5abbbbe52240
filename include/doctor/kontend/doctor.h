/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DOCTOR_H
#define KONTEND_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum doctor_status {
	DOCTOR_WORKS,
	DOCTOR_LIMITED, /* works, with less than there could be */
	DOCTOR_FAILS,
	DOCTOR_UNKNOWN, /* cannot be tried, since something before it fails */
	DOCTOR_ABSENT,	/* this machine has none: there is nothing to measure, nor to mend */
};

/* A check or a view. Texts are one line, cleaned; "" = nothing to say. */
struct doctor_item {
	const char *name;
	const char *help; /* what it is about */
	enum doctor_status status;
	char found[400];   /* what was seen, or why it does not work */
	char fix[400];	   /* the line that fixes it */
	const char *cause; /* of a view: the check that says so, NULL = none */
};

enum { DOCTOR_ITEMS = 32 };

/* Bytes of the kernel's memory that a measurement of all CPUs takes without -m. */
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
 * Tries everything that kontend needs, by opening and reading it; nothing is concluded from a
 * version or a sysctl alone. Leaves nothing behind but tracefs, which it mounts where kontend
 * would.
 */
void doctor_run(struct doctor *d);

const char *doctor_status_name(enum doctor_status s); /* "works", "limited", "fails" ... */
/* The check called @name; NULL when there is none. */
const struct doctor_item *doctor_check(const struct doctor *d, const char *name);

/* Pure parts, for tests. */

/* From (major.minor) 5.19 on there are contention events. */
bool doctor_kernel_is_new_enough(const char *release);
/* Do the first symbols of a kallsyms text have addresses? */
bool doctor_kallsyms_has_addresses(const char *text);
/* As text. Rings may not be so small that those of very many CPUs fit into what is meant for them.
 */
const char *doctor_memory_text(const struct doctor_memory *m, char *buf, size_t size);
/* Of @cpus CPUs, with or without BPF. */
struct doctor_memory doctor_memory(unsigned cpus, bool bpf);
/* Fills d->views and d->works from d->checks. */
void doctor_conclude(struct doctor *d);

#endif
