// SPDX-License-Identifier: GPL-2.0-only
/* The metrics that files and the server share, as OpenMetrics text; and the complete text of a
 * file. */
#include "kontend/figure.h"
#include "kontend/mem.h"
#include "kontend/query-damage.h"
#include "kontend/sort.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <string.h>

/* The labels of a type, in order. */
#define OF_TYPE(t)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		locktype_base(t), locktype_mode(t), locktype_world(t)                              \
	}

void openmetrics_put_source(const struct openmetrics *sum, struct openmetrics_text *t)
{
	const char *const labels[] = {sum->spec.version ? sum->spec.version : "", sum->host.release,
				      sum->host.targets};

	openmetrics_text_family(t, "kontend_measurement_seconds");
	openmetrics_text_seconds(t, labels, sum->measured_ns);
	if (!sum->start_wall_ns)
		return;
	openmetrics_text_family(t, "kontend_start_time_seconds");
	openmetrics_text_seconds(t, NULL, sum->start_wall_ns);
}

static void put_histograms(const struct openmetrics *sum, struct openmetrics_text *t)
{
	openmetrics_text_family(t, "kontend_lock_wait_seconds");
	for (enum lock_type i = 0; i < LOCK_TYPES; i++)
		if (sum->types[i].is_seen)
			openmetrics_text_histogram(t, OF_TYPE(i), &sum->types[i].hist,
						   &sum->types[i].incident);
}

void openmetrics_put_types(const struct openmetrics *sum, struct openmetrics_text *t)
{
	const struct openmetrics_type *types = sum->types;

	put_histograms(sum, t);
	openmetrics_text_family(t, "kontend_lock_failed");
	for (enum lock_type i = 0; i < LOCK_TYPES; i++)
		if (types[i].is_seen)
			openmetrics_text_count(t, OF_TYPE(i), types[i].failed);
	openmetrics_text_family(t, "kontend_lock_waiters");
	for (enum lock_type i = 0; i < LOCK_TYPES; i++)
		if (types[i].is_seen)
			openmetrics_text_count(t, OF_TYPE(i), types[i].waiting);
}

void openmetrics_put_longest(const struct openmetrics *sum, struct openmetrics_text *t)
{
	openmetrics_text_family(t, "kontend_lock_wait_max_seconds");
	for (enum lock_type i = 0; i < LOCK_TYPES; i++)
		if (sum->types[i].is_seen)
			openmetrics_text_seconds(t, OF_TYPE(i), sum->types[i].max_ns);
}

/* The longest waiting time first. */
static int comes_before(const void *a, const void *b)
{
	const struct named_sum *const *x = a, *const *y = b;
	const struct named_key *k = &(*x)->key, *l = &(*y)->key;

	if ((*x)->total_ns != (*y)->total_ns)
		return (*x)->total_ns > (*y)->total_ns;
	int c = strcmp(k->name, l->name);
	c = c ? c : strcmp(k->type, l->type);
	return (c ? c : strcmp(k->mode, l->mode)) < 0;
}

/* The callers with the longest waiting times; release it with mem_free(). NULL: no memory. */
static const struct named_sum **rank_callers(const struct openmetrics *sum, size_t *ret_n)
{
	const struct named_sums *s = &sum->callers;
	size_t n = s->n + s->n_others;
	const struct named_sum **c = mem_calloc(2 * n + 1, sizeof(const void *));

	if (!c)
		return NULL;
	for (size_t i = 0; i < n; i++)
		c[i] = i < s->n ? &s->rows[i] : &s->others[i - s->n];
	sort_merge(c, c + n, n, sizeof(const void *), comes_before);
	*ret_n = sum->spec.callers && sum->spec.callers < n ? sum->spec.callers : n;
	return c;
}

static int put_callers(const struct openmetrics *sum, struct openmetrics_text *t)
{
	size_t n;
	const struct named_sum **c = rank_callers(sum, &n);

	if (!c)
		return -ENOMEM;
	openmetrics_text_family(t, "kontend_caller_wait_seconds");
	for (size_t i = 0; i < n; i++)
		named_sum_put(c[i], NAMED_SUM_TOTAL, t);
	openmetrics_text_family(t, "kontend_caller_contentions");
	for (size_t i = 0; i < n; i++)
		named_sum_put(c[i], NAMED_SUM_N, t);
	mem_free(c);
	return 0;
}

void openmetrics_put_quality(const struct openmetrics *sum, struct openmetrics_text *t)
{
	openmetrics_text_family(t, "kontend_longest_wait_seconds");
	openmetrics_text_seconds(t, NULL, sum->longest_ns);
	openmetrics_text_family(t, "kontend_events");
	openmetrics_text_count(t, NULL, sum->n_events);
	openmetrics_text_family(t, "kontend_incomplete");
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (!(f->flags & FIGURE_JSON))
			openmetrics_text_count(t, &f->key, figure_value(f, &sum->damage, 0).u);
}

/* Losses that were not all counted have no upper bound. */
void openmetrics_put_loss(const struct openmetrics *sum, struct openmetrics_text *t)
{
	uint64_t most;

	openmetrics_text_family(t, "kontend_lost_ratio");
	openmetrics_text_ratio(t, NULL, loss_pct(&sum->loss) / 100);
	if (!loss_waits(&sum->loss, &most))
		return;
	openmetrics_text_family(t, "kontend_missing_contentions_most");
	openmetrics_text_count(t, NULL, most);
}

int openmetrics_put(const struct openmetrics *sum, FILE *out, struct error *err)
{
	struct openmetrics_text t = {.out = out};

	errno = 0;
	openmetrics_put_source(sum, &t);
	openmetrics_put_types(sum, &t);
	if (put_callers(sum, &t) < 0)
		return error_enomem(err, "the metrics");
	openmetrics_put_mmap(sum, &t);
	openmetrics_put_quality(sum, &t);
	openmetrics_put_loss(sum, &t);
	fputs("# EOF\n", out);
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the metrics");
	return 0;
}
