// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a snapshot of phases, and the values of its buckets. */
#include "kontend/phasesnap.h"

enum { LINEAR = 8, PER_OCTAVE = 8 };

static bool fits(const void *snap)
{
	const struct phasesnap *s = snap;
	const uint32_t head[] = {s->head.turn, s->head.reason, s->head.cgroup_reason};
	bool ok = sections_texts_fit(s->strings, s->n_strings, head, 3);

	for (size_t i = 0; ok && i < s->n_pairs; i++) {
		const uint32_t paths[] = {s->pairs[i].from_path, s->pairs[i].to_path};
		ok = sections_texts_fit(s->strings, s->n_strings, paths, 2);
	}
	return ok;
}

static const struct section list[] = {
	SECTION_HEAD(struct phasesnap),
	SECTION(struct phasesnap, cpus),
	SECTION(struct phasesnap, pairs),
	SECTION(struct phasesnap, strings),
};

const struct sections phasesnap_sections =
	SECTIONS(0x3150414e53414850ull, struct phasesnap, list, fits, NULL); /* "PHASNAP1" */

static uint64_t lower(uint32_t bucket)
{
	uint32_t octave = bucket / PER_OCTAVE, step = bucket % PER_OCTAVE;

	return bucket < LINEAR ? bucket : (uint64_t)(PER_OCTAVE + step) << (octave - 1);
}

uint64_t phasesnap_bucket_ns(uint32_t bucket)
{
	return (lower(bucket) + lower(bucket + 1) - 1) / 2;
}

uint64_t phasesnap_percentile(const uint32_t *buckets, unsigned pct, uint64_t max_ns)
{
	uint64_t n = 0, seen = 0;
	uint32_t b = 0;

	for (uint32_t i = 0; i < PHASESNAP_BUCKETS; i++)
		n += buckets[i];
	if (!n)
		return 0;
	uint64_t rank = (n - 1) * pct / 100;
	for (; b < PHASESNAP_BUCKETS - 1; b++) {
		seen += buckets[b];
		if (seen > rank)
			break;
	}
	uint64_t ns = phasesnap_bucket_ns(b);
	return ns < max_ns ? ns : max_ns;
}
