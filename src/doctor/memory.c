// SPDX-License-Identifier: GPL-2.0-only
/* Kernel memory of a measurement: for each CPU, and once. */
#include "internal.h"
#include "kontend/bpf-memory.h"
#include "kontend/ring.h"
#include "kontend/units.h"
#include "kontend/waitfeed.h"

#include <stdio.h>

static const uint64_t RINGS_MEANT = 64 << 20;

struct doctor_memory doctor_memory(unsigned cpus, bool bpf)
{
	return (struct doctor_memory){
		.perf_rings = (uint64_t)cpus * ring_perf_kib(cpus, bpf, 0) * 1024,
		.bpf_rings = bpf ? (uint64_t)cpus * waitfeed_cpu_bytes(0, cpus) : 0,
		.bpf_maps = bpf ? bpf_memory_wanted() : 0,
	};
}

const char *doctor_memory_text(const struct doctor_memory *m, char *buf, size_t size)
{
	char all[UNITS_BUF], perf[UNITS_BUF], rings[UNITS_BUF], maps[UNITS_BUF];
	bool least = m->perf_rings + m->bpf_rings > RINGS_MEANT;

	snprintf(buf, size, "%s: perf rings %s, BPF rings %s%s, BPF maps %s",
		 units_bytes(all, m->perf_rings + m->bpf_rings + m->bpf_maps),
		 units_bytes(perf, m->perf_rings), units_bytes(rings, m->bpf_rings),
		 least ? " (the minimum for this many CPUs)" : "", units_bytes(maps, m->bpf_maps));
	return buf;
}
