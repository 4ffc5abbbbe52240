/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_HYBRID_H
#define KONTEND_HYBRID_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The PMUs of the CPUs, where there are several: "cpu_core" and "cpu_atom". */
enum { HYBRID_MOST = 16 };

struct hybrid_pmu {
	char name[64];
	uint32_t type;	/* perf_event_attr.type */
	uint32_t *cpus; /* ascending */
	size_t n_cpus;
};

struct hybrid {
	struct hybrid_pmu pmus[HYBRID_MOST];
	size_t n; /* 0: all CPUs have the same */
};

/* Reads the directory @dir ("/sys/bus/event_source/devices"); unreadable PMUs are left out. */
void hybrid_read(const char *dir, struct hybrid *ret);
void hybrid_deinit(struct hybrid *h);
/* Makes a hardware event of @attr that of the PMU of @cpu. False: there is nothing to choose. */
bool hybrid_choose(const struct hybrid *h, int cpu, struct perf_event_attr *attr);
/*
 * An event that was opened on CPUs of several PMUs is one event for each of these in a stream. This
 * is that of h->pmus[@pmu], or with @pmu = h->n that of CPUs without a PMU. @ids are those of all
 * CPUs, @per_cpu for each of @cpus. Makes @attr that of the PMU, fills in its ids, and returns how
 * many these are.
 */
size_t hybrid_part(const struct hybrid *h, size_t pmu, struct perf_event_attr *attr,
		   const uint32_t *cpus, size_t n_cpus, const uint64_t *ids, size_t per_cpu,
		   uint64_t *ret);

#endif
