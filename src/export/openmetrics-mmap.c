// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap_locks by memory cgroup and mode, for files: sums that outlive the model's entries, in an
 * array of limited size; what comes after it is full is added to "other". Waits are from the
 * contention events; the times to acquire and hold locks are from the mmap_lock tracepoints, if
 * these were recorded.
 */
#include "kontend/mem.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <string.h>

enum { MOST_MEMCGS = 256 };

static const char other[] = "other";

static struct openmetrics_memcg *find_memcg(struct openmetrics *m, const char *name, bool write)
{
	for (size_t i = 0; i < m->n_memcgs; i++)
		if (m->memcgs[i].write == write && strcmp(m->memcgs[i].name, name) == 0)
			return &m->memcgs[i];
	return NULL;
}

static struct openmetrics_memcg *get_memcg(struct openmetrics *m, const char *name, bool write)
{
	struct openmetrics_memcg *known = find_memcg(m, name, write);

	if (!known && m->n_memcgs >= MOST_MEMCGS) {
		name = other;
		known = find_memcg(m, name, write);
	}
	if (known)
		return known;
	if (mem_grow(&m->memcgs, &m->cap_memcgs, m->n_memcgs, sizeof(*m->memcgs)) < 0)
		return NULL;
	name = strpool_intern(&m->names, name);
	if (!name)
		return NULL;
	m->memcgs[m->n_memcgs] = (struct openmetrics_memcg){.name = name, .write = write};
	return &m->memcgs[m->n_memcgs++];
}

static int add_row(struct openmetrics *m, struct query *q, const struct table *t, size_t row)
{
	const struct query_scope scope = {.mask = 1u << BY_MMAP_MEMCG,
					  .id[BY_MMAP_MEMCG] = t->ids[row]};
	const struct value *name = table_cell(t, row, "memcg"), *mode = table_cell(t, row, "mode");
	struct openmetrics_memcg *sum =
		get_memcg(m, name->known ? name->s : "unknown", mode->known && *mode->s == 'W');
	struct query_mmap_row told;
	struct query_hist waits;

	if (!sum || query_hist(q, &scope, &waits) < 0 ||
	    query_mmap_row(q, BY_MMAP_MEMCG, t->ids[row], &told) < 0)
		return -ENOMEM;
	openmetrics_hist_add(&sum->waits, &waits);
	openmetrics_hist_add(&sum->gets, &told.wait);
	openmetrics_hist_add(&sum->holds, &told.hold);
	sum->acquired += told.acquired;
	return 0;
}

int openmetrics_add_mmap(struct openmetrics *m, struct query *q)
{
	const struct query_spec spec = {.by = BY_CGROUP, .average = true, .ended = true};
	struct query_mmap_sum sum;
	struct table t;
	int code = query_mmap_sum(q, true, &sum);

	if (code == 0)
		code = query_mmap(q, &spec, &t, NULL);
	m->mmap_known |= code == 0 && sum.known;
	m->mmap_events |= code == 0 && sum.level != MMLEVEL_CONTENDED;
	for (size_t i = 0; code == 0 && i < t.n_rows; i++)
		code = add_row(m, q, &t, i);
	return code < 0 ? -ENOMEM : 0;
}

/* The histograms of one family, which are at @offset of each entry. */
static void put_histograms(const struct openmetrics *m, const char *family, size_t offset,
			   struct openmetrics_text *t)
{
	openmetrics_text_family(t, family);
	for (size_t i = 0; i < m->n_memcgs; i++) {
		const struct openmetrics_memcg *r = &m->memcgs[i];
		const char *const labels[] = {r->name, r->write ? "W" : "R"};
		openmetrics_text_histogram(
			t, labels,
			(const struct openmetrics_hist *)(const void *)((const char *)r + offset),
			NULL);
	}
}

void openmetrics_put_mmap(const struct openmetrics *m, struct openmetrics_text *t)
{
	if (m->mmap_known)
		put_histograms(m, "kontend_mmap_lock_wait_seconds",
			       offsetof(struct openmetrics_memcg, waits), t);
	if (!m->mmap_events)
		return;
	openmetrics_text_family(t, "kontend_mmap_lock_acquired");
	for (size_t i = 0; i < m->n_memcgs; i++) {
		const struct openmetrics_memcg *r = &m->memcgs[i];
		openmetrics_text_count(t, (const char *const[]){r->name, r->write ? "W" : "R"},
				       r->acquired);
	}
	put_histograms(m, "kontend_mmap_lock_acquire_seconds",
		       offsetof(struct openmetrics_memcg, gets), t);
	put_histograms(m, "kontend_mmap_lock_hold_seconds",
		       offsetof(struct openmetrics_memcg, holds), t);
}
