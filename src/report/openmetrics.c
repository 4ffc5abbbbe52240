// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenMetrics text. A family is a TYPE line, its unit and help, and all its samples in a run; a
 * sample's labels occur once in it. Durations are in seconds, as is usual there, written from whole
 * nanoseconds without rounding. The bounds of the histograms are powers of two, where ours have
 * bounds too, so that the counts are exact.
 */
#include "kontend/mem.h"
#include "kontend/sort.h"
#include "kontend/text.h"
#include "openmetrics-int.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct metrics {
	const struct openmetrics *sum;
	FILE *out;
};

static void put_family(const struct metrics *m, const char *name, const char *type,
		       const char *unit, const char *help)
{
	fprintf(m->out, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(m->out, "# UNIT %s %s\n", name, unit);
	fprintf(m->out, "# HELP %s %s\n", name, help);
}

/* A label with the separator that is due before it. */
static void put_label(const struct metrics *m, const char *key, const char *value, char before)
{
	char buf[1024];

	text_clean(buf, sizeof(buf), value);
	fprintf(m->out, "%c%s=\"", before, key);
	for (const char *s = buf; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', m->out);
		fputc(*s, m->out);
	}
	fputc('"', m->out);
}

static void put_type_labels(const struct metrics *m, enum lock_type t)
{
	put_label(m, "type", locktype_base(t), '{');
	put_label(m, "mode", locktype_mode(t), ',');
}

static void put_count(const struct metrics *m, uint64_t n)
{
	fprintf(m->out, "%" PRIu64 "\n", n);
}

static void put_seconds(const struct metrics *m, uint64_t ns)
{
	fprintf(m->out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000u, ns % 1000000000u);
}

static void put_source(const struct metrics *m)
{
	const struct openmetrics *sum = m->sum;

	put_family(m, "kontend_measurement_seconds", "gauge", "seconds",
		   "Length of the measurement that all other figures are about.");
	fputs("kontend_measurement_seconds", m->out);
	put_label(m, "version", sum->spec.version ? sum->spec.version : "", '{');
	put_label(m, "kernel", sum->host.release, ',');
	put_label(m, "targets", sum->host.targets, ',');
	fputs("} ", m->out);
	put_seconds(m, sum->measured_ns);
	if (!sum->start_wall_ns)
		return;
	put_family(m, "kontend_start_time_seconds", "gauge", "seconds",
		   "When counting began at 0, in seconds since 1970.");
	fputs("kontend_start_time_seconds ", m->out);
	put_seconds(m, sum->start_wall_ns);
}

static void put_bucket(const struct metrics *m, enum lock_type t, uint64_t bound_ns, uint64_t n)
{
	char le[32] = "+Inf";

	if (bound_ns)
		snprintf(le, sizeof(le), "%" PRIu64 ".%09" PRIu64, bound_ns / 1000000000u,
			 bound_ns % 1000000000u);
	fputs("kontend_lock_wait_seconds_bucket", m->out);
	put_type_labels(m, t);
	put_label(m, "le", le, ',');
	fputs("} ", m->out);
	put_count(m, n);
}

static void put_histogram(const struct metrics *m, enum lock_type t)
{
	const struct openmetrics_type *sum = &m->sum->types[t];
	uint64_t n = 0;

	for (unsigned k = OPENMETRICS_FIRST; k <= OPENMETRICS_LAST; k++) {
		n += sum->buckets[k - OPENMETRICS_FIRST];
		put_bucket(m, t, 1ull << k, n < sum->n ? n : sum->n);
	}
	put_bucket(m, t, 0, sum->n);
	fputs("kontend_lock_wait_seconds_count", m->out);
	put_type_labels(m, t);
	fputs("} ", m->out);
	put_count(m, sum->n);
	fputs("kontend_lock_wait_seconds_sum", m->out);
	put_type_labels(m, t);
	fputs("} ", m->out);
	put_seconds(m, sum->total_ns);
}

static void put_of_type(const struct metrics *m, enum lock_type t, const char *sample, uint64_t n)
{
	fputs(sample, m->out);
	put_type_labels(m, t);
	fputs("} ", m->out);
	put_count(m, n);
}

static void put_types(const struct metrics *m)
{
	const struct openmetrics_type *types = m->sum->types;

	put_family(m, "kontend_lock_wait_seconds", "histogram", "seconds",
		   "Time that tasks waited for kernel locks, finished waits.");
	for (int t = 0; t < LOCK_TYPES; t++)
		if (types[t].is_seen)
			put_histogram(m, (enum lock_type)t);
	put_family(m, "kontend_lock_failed", "counter", NULL, "Waits that ended without the lock.");
	for (int t = 0; t < LOCK_TYPES; t++)
		if (types[t].is_seen)
			put_of_type(m, (enum lock_type)t, "kontend_lock_failed_total",
				    types[t].failed);
	put_family(m, "kontend_lock_waiters", "gauge", NULL,
		   "Tasks that still waited when this was written.");
	for (int t = 0; t < LOCK_TYPES; t++)
		if (types[t].is_seen)
			put_of_type(m, (enum lock_type)t, "kontend_lock_waiters", types[t].waiting);
}

/* The array is in the order of names already, so equal ones stay in it. */
static int costs_before(const void *a, const void *b)
{
	const struct openmetrics_caller *const *x = a, *const *y = b;

	return (*x)->total_ns > (*y)->total_ns;
}

/* The callers that wait most: mem_free() it. NULL: no memory. */
static const struct openmetrics_caller **rank_callers(const struct openmetrics *sum, size_t *ret_n)
{
	size_t n = sum->n_callers;
	const struct openmetrics_caller **c = mem_calloc(2 * n + 1, sizeof(const void *));

	if (!c)
		return NULL;
	for (size_t i = 0; i < n; i++)
		c[i] = &sum->callers[i];
	sort_merge(c, c + n, n, sizeof(const void *), costs_before);
	*ret_n = sum->spec.callers && sum->spec.callers < n ? sum->spec.callers : n;
	return c;
}

static void put_caller(const struct metrics *m, const char *sample,
		       const struct openmetrics_caller *c)
{
	fputs(sample, m->out);
	put_label(m, "caller", c->name, '{');
	put_label(m, "type", c->type, ',');
	put_label(m, "mode", c->mode, ',');
	fputs("} ", m->out);
}

static int put_callers(const struct metrics *m)
{
	size_t n;
	const struct openmetrics_caller **c = rank_callers(m->sum, &n);

	if (!c)
		return -ENOMEM;
	put_family(m, "kontend_caller_wait_seconds", "counter", "seconds",
		   "Time waited by the function that asked for the lock, those that waited most.");
	for (size_t i = 0; i < n; i++) {
		put_caller(m, "kontend_caller_wait_seconds_total", c[i]);
		put_seconds(m, c[i]->total_ns);
	}
	put_family(m, "kontend_caller_contentions", "counter", NULL,
		   "Finished waits of the same functions.");
	for (size_t i = 0; i < n; i++) {
		put_caller(m, "kontend_caller_contentions_total", c[i]);
		put_count(m, c[i]->n);
	}
	mem_free(c);
	return 0;
}

static void put_problem(const struct metrics *m, const char *what, uint64_t n)
{
	fputs("kontend_incomplete_total", m->out);
	put_label(m, "reason", what, '{');
	fputs("} ", m->out);
	put_count(m, n);
}

static void put_quality(const struct metrics *m)
{
	put_family(m, "kontend_longest_wait_seconds", "gauge", "seconds",
		   "How long the longest wait in flight has lasted.");
	fputs("kontend_longest_wait_seconds ", m->out);
	put_seconds(m, m->sum->longest_ns);
	put_family(m, "kontend_events", "counter", NULL, "Contention events seen.");
	fputs("kontend_events_total ", m->out);
	put_count(m, m->sum->n_events);
	put_family(m, "kontend_incomplete", "counter", NULL,
		   "What is missing from the other figures, by reason.");
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (!(f->flags & FIGURE_JSON))
			put_problem(m, f->key, figure_value(f, &m->sum->damage, 0).u);
}

/* Where losses were not all counted there is no number that cannot be too small. */
static void put_loss(const struct metrics *m)
{
	const struct loss *l = &m->sum->loss;
	uint64_t most;

	put_family(m, "kontend_lost_ratio", "gauge", "ratio",
		   "Share of the records that were lost: where there is one, other figures are "
		   "lower bounds.");
	fprintf(m->out, "kontend_lost_ratio %.6g\n", loss_pct(l) / 100);
	if (!loss_waits(l, &most))
		return;
	put_family(m, "kontend_missing_contentions_most", "gauge", NULL,
		   "Finished waits that are in no other figure, at most.");
	fputs("kontend_missing_contentions_most ", m->out);
	put_count(m, most);
}

int openmetrics_put(const struct openmetrics *sum, FILE *out, struct error *err)
{
	struct metrics m = {.sum = sum, .out = out};

	errno = 0;
	put_source(&m);
	put_types(&m);
	if (put_callers(&m) < 0)
		return error_set(err, -ENOMEM, "Cannot write the metrics: out of memory");
	put_quality(&m);
	put_loss(&m);
	fputs("# EOF\n", out);
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the metrics");
	return 0;
}
