// SPDX-License-Identifier: GPL-2.0-only
/* The layout of snapshots of holds: see layouts.c. */
#include "kontend/holdsnap.h"

static bool frames_fit(const struct holdsnap *s)
{
	bool ok = true;

	for (size_t i = 0; ok && i < s->n_chains; i++) {
		const struct holdsnap_chain *c = &s->chains[i];
		ok = c->kind < HOLDSNAP_KINDS && c->frame <= s->n_frames &&
		     c->n_frames <= s->n_frames - c->frame;
	}
	return ok;
}

static bool holdsnap_fits(const void *snap)
{
	const struct holdsnap *s = snap;
	const struct holdsnap_head *h = &s->head;
	const uint32_t texts[] = {h->asked, h->reason, h->lacks, h->no_price};
	bool ok = sections_texts_fit(s->strings, s->n_strings, texts, 4) &&
		  h->level < HOLDSNAP_LEVELS && h->every;

	for (size_t i = 0; ok && i < s->n_sums; i++)
		ok = s->sums[i].kind < HOLDSNAP_KINDS;
	for (size_t i = 0; ok && i < s->n_locks; i++)
		ok = s->locks[i].kind < HOLDSNAP_KINDS;
	for (size_t i = 0; ok && i < s->n_now; i++)
		ok = s->now[i].kind < HOLDSNAP_KINDS &&
		     sections_texts_fit(s->strings, s->n_strings, &s->now[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_tasks; i++)
		ok = sections_texts_fit(s->strings, s->n_strings, &s->tasks[i].comm, 1);
	return ok && frames_fit(s);
}

static const struct section holdsnap_list[] = {
	SECTION_HEAD(struct holdsnap),	  SECTION(struct holdsnap, sums),
	SECTION(struct holdsnap, locks),  SECTION(struct holdsnap, now),
	SECTION(struct holdsnap, chains), SECTION(struct holdsnap, tasks),
	SECTION(struct holdsnap, frames), SECTION(struct holdsnap, strings),
};

const struct sections holdsnap_sections =
	SECTIONS(0x31504e5344444c48ull, struct holdsnap, holdsnap_list, holdsnap_fits,
		 NULL); /* "HLDDSNP1" */

/* Eight to an octave, as the programs count them: the first value of a bucket. */
static uint64_t lower(uint32_t bucket)
{
	return bucket < 8 ? bucket : (8 + (uint64_t)bucket % 8) << (bucket / 8 - 1);
}

uint64_t holdsnap_percentile(const uint64_t *buckets, unsigned pct, uint64_t max_ns)
{
	uint64_t n = 0, seen = 0;
	uint32_t b = 0;

	for (uint32_t i = 0; i < HOLDSNAP_BUCKETS; i++)
		n += buckets[i];
	if (!n)
		return 0;
	uint64_t rank = (n - 1) / 100 * pct + (n - 1) % 100 * pct / 100;
	for (; b < HOLDSNAP_BUCKETS - 1; b++) {
		seen += buckets[b];
		if (seen > rank)
			break;
	}
	uint64_t ns = (lower(b) + lower(b + 1) - 1) / 2;
	return ns < max_ns ? ns : max_ns;
}

const char *holdsnap_kind_name(uint32_t kind)
{
	static const char *const names[HOLDSNAP_KINDS] = {
		[HOLDSNAP_MUTEX] = "mutex",
		[HOLDSNAP_WRITE] = "rwsem:W",
		[HOLDSNAP_READ] = "rwsem:R",
	};

	return kind < HOLDSNAP_KINDS ? names[kind] : "";
}
