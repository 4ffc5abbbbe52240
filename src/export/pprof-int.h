/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_PPROF_INT_H
#define KONTEND_EXPORT_PPROF_INT_H

#include "kontend/loss.h"
#include "kontend/map64.h"
#include "kontend/pprof.h"
#include "kontend/query-machine.h"
#include "kontend/stringtable.h"
#include "kontend/wordset.h"

enum pprof_label {
	PPROF_TYPE,
	PPROF_MODE,
	PPROF_LOCK,
	PPROF_MEMCG,
	PPROF_CGROUP,
	PPROF_HOLDER,
	PPROF_COMM,
	PPROF_PID, /* the only label that is a number */
	PPROF_LABELS,
};

extern const char *const pprof_label_keys[PPROF_LABELS];

struct pprof_value {
	uint64_t n, ns;
};

/*
 * The parts of a profile, each by number. Words of a mapping are (name, build id), of a function
 * (name, file), of a location (mapping, offset, then function and line of each inlined call), of a
 * sample the labels and the locations. Texts are given by index.
 */
struct pprof {
	struct pprof_spec spec;
	struct stringtable texts;
	struct wordset mappings, functions, locations, samples;
	struct pprof_value *values; /* by number of the sample - 1 */
	size_t cap_values;
	struct map64 lined; /* mappings with source lines */
	struct map64 label_values[PPROF_LABELS];
	/* For the rows that are being added: place -> location, text -> index. */
	struct map64 met, said;
	uint64_t start_wall_ns, measured_ns, period_ns;
	uint64_t only_counted; /* waits of which only the number is known */
	struct loss loss;
	char release[65], arch[65];
	struct record_machine machine;
};

/* More than any offset in a file that a frame can have. */
#define PPROF_MAPPING_LIMIT (1ull << 48)

/* One value if samples have no time, else two. */
static inline size_t pprof_count_values(const struct pprof *p)
{
	return p->spec.what == SAMPLES_CPU && !p->period_ns ? 1 : 2;
}

/* The index of the cleaned text; UINT32_MAX: no memory. */
uint32_t pprof_text(struct pprof *p, const char *text);

#endif
