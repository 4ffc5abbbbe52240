// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics as messages: the content of the text, and native histograms with the buckets that kontend
 * counts in; and the clients that get them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/mem.h"
#include "kontend/metrics.h"
#include "kontend/openmetrics.h"
#include "kontend/query-hist.h"
#include "metrics.pb-c.h"
#include "openmetrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef Io__Prometheus__Client__MetricFamily family;
typedef Io__Prometheus__Client__Metric metric;
typedef Io__Prometheus__Client__Histogram histogram;

#define PROTO "application/vnd.google.protobuf;"
#define FAMILY "proto=io.prometheus.client.MetricFamily"
#define DELIMITED PROTO FAMILY ";encoding=delimited"
#define TEXT "application/openmetrics-text;version=1.0.0"

static void the_heavier_format_wins(void **state)
{
	static const char *const proto[] = {
		DELIMITED,
		DELIMITED "," TEXT ";q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		DELIMITED ";q=0.6," TEXT ";q=0.5,*/*;q=0.2",
		/* Of Prometheus 3.9 with scrape_native_histograms. */
		DELIMITED ";q=0.6," TEXT ";escaping=allow-utf-8;q=0.5,"
			  "application/openmetrics-text;version=0.0.1;q=0.4,"
			  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
			  "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
		TEXT ";q=0.2 , " PROTO " encoding=delimited ; " FAMILY " ; q=0.3",
		DELIMITED "," TEXT,
		"application/VND.google.protobuf; " FAMILY "; Encoding=Delimited",
	};
	static const char *const text[] = {
		NULL,
		"",
		",;,=;q",
		"*/*",
		TEXT,
		/* The same server without that setting. */
		TEXT ";escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"
		     "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
		     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		TEXT "," DELIMITED,
		TEXT ";q=0.5," DELIMITED ";q=0.4",
		DELIMITED ";q=0",
		DELIMITED ";q=nan",
		DELIMITED ";q=7",
		DELIMITED ";q=0.1,*/*",
		PROTO FAMILY ";encoding=text",
		PROTO "encoding=delimited",
		"application/vnd.google.protobufs;" FAMILY ";encoding=delimited",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(proto) / sizeof(*proto); i++)
		if (metrics_format_wanted(proto[i]) != METRICS_PROTO)
			fail_msg("text for '%s'", proto[i]);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (metrics_format_wanted(text[i]) != METRICS_TEXT)
			fail_msg("messages for '%s'", text[i] ? text[i] : "nothing");
}

/* Where bucket @index ends, in ns. */
static double bound(int index)
{
	return exp2(index / 4.0) * 1e9;
}

static void a_bucket_is_one_of_its(void **state)
{
	(void)state;
	assert_true(bound(openmetrics_hist_index(OPENMETRICS_ZERO_NS) - 1) > OPENMETRICS_ZERO_NS);
	for (unsigned b = OPENMETRICS_ZERO_NS; b < HIST_BUCKETS; b++) {
		int i = openmetrics_hist_index(b);
		double lower = (double)hist_lower(b), upper = (double)hist_upper(b);
		double middle = (lower + upper) / 2;
		assert_true(bound(i - 1) < middle && middle <= bound(i));
		assert_true(bound(i) > upper * 1.04 && bound(i) < upper * 1.11);
		assert_true(bound(i - 1) > lower * 1.04 && bound(i - 1) < lower * 1.11);
	}
}

/* --- messages ----------------------------------------------------------------------------------
 */

struct scrape {
	struct metrics *m;
	struct engine engine;
	struct rig rig;
	char *bytes;
	size_t n, at;
};

static char *print_metrics(struct scrape *s, enum metrics_format f, size_t *ret_n)
{
	struct error err = {0};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_n);

	assert_non_null(out);
	assert_int_equal(metrics_put(s->m, NULL, f, out, &err), 0);
	fclose(out);
	return text;
}

static void begin(struct scrape *s)
{
	const struct metrics_options o = {.version = "1.2.3"};
	struct error err = {0};

	*s = (struct scrape){0};
	canned_init(&s->rig);
	assert_int_equal(engine_init(&s->engine, synth_source(s->rig.synth), NULL, &err), 0);
	assert_int_equal(metrics_new(&s->m, &o, &err), 0);
	assert_int_equal(metrics_start(s->m, &s->engine, &err), 0);
	while (engine_pump(&s->engine, 0, &err) != ENGINE_END)
		;
	assert_int_equal(metrics_add(s->m, &err), 0);
}

static void end(struct scrape *s)
{
	free(s->bytes);
	metrics_free(s->m);
	engine_deinit(&s->engine);
	rig_deinit(&s->rig);
}

static size_t length(struct scrape *s)
{
	size_t n = 0;

	for (unsigned shift = 0;; shift += 7) {
		assert_true(s->at < s->n);
		uint8_t byte = (uint8_t)s->bytes[s->at++];
		n |= (size_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
}

static family *next(struct scrape *s)
{
	if (s->at == s->n)
		return NULL;
	size_t n = length(s);
	assert_true(n && n <= s->n - s->at);
	family *f =
		io__prometheus__client__metric_family__unpack(NULL, n, (uint8_t *)s->bytes + s->at);
	assert_non_null(f);
	s->at += n;
	assert_true(f->n_metric > 0);
	return f;
}

/* The text's value for the series of a message. */
static double of_text(const char *text, const char *name, const metric *m, const char *le)
{
	char sample[2048], *at = sample, *limit = sample + sizeof(sample);

	at += snprintf(at, (size_t)(limit - at), "%s", name);
	for (size_t i = 0; i < m->n_label; i++)
		at += snprintf(at, (size_t)(limit - at), "%c%s=\"%s\"", i ? ',' : '{',
			       m->label[i]->name, m->label[i]->value);
	if (le)
		at += snprintf(at, (size_t)(limit - at), "%cle=\"%s\"", m->n_label ? ',' : '{', le);
	if (m->n_label || le)
		snprintf(at, (size_t)(limit - at), "}");
	double value = openmetrics_value(text, sample);
	if (value < 0)
		fail_msg("the text has no %s", sample);
	return value;
}

static void assert_same(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-5 * fabs(b) + 1e-9);
}

static uint64_t count_native(const histogram *h)
{
	uint64_t n = h->zero_count, buckets = 0;
	int64_t count = 0;

	for (size_t i = 0; i < h->n_positive_delta; i++) {
		count += h->positive_delta[i];
		assert_true(count > 0);
		n += (uint64_t)count;
	}
	for (size_t i = 0; i < h->n_positive_span; i++) {
		assert_true(i == 0 || h->positive_span[i]->offset > 0);
		buckets += h->positive_span[i]->length;
	}
	assert_int_equal(buckets, h->n_positive_delta);
	return n;
}

static void check_histogram(const char *text, const char *name, const metric *m)
{
	const histogram *h = m->histogram;
	char of[256], le[32];

	assert_int_equal(h->schema, OPENMETRICS_SCHEMA);
	assert_true(h->has_zero_threshold && h->zero_threshold == 4e-9);
	assert_int_equal(count_native(h), h->sample_count);
	snprintf(of, sizeof(of), "%s_count", name);
	assert_same((double)h->sample_count, of_text(text, of, m, NULL));
	snprintf(of, sizeof(of), "%s_sum", name);
	assert_same(h->sample_sum, of_text(text, of, m, NULL));
	snprintf(of, sizeof(of), "%s_bucket", name);
	assert_int_equal(h->n_bucket, OPENMETRICS_BUCKETS);
	for (size_t i = 0; i < h->n_bucket; i++) {
		bool last = isinf(h->bucket[i]->upper_bound);
		snprintf(le, sizeof(le), "%.9f", h->bucket[i]->upper_bound);
		assert_same((double)h->bucket[i]->cumulative_count,
			    of_text(text, of, m, last ? "+Inf" : le));
	}
}

/* Longest waits start again with each scrape, and the number of scrapes grows. */
static bool changes(const char *name)
{
	return strstr(name, "_max_") || strcmp(name, "kontend_scrapes_total") == 0;
}

static unsigned check_family(const char *text, const family *f)
{
	unsigned n = 0;

	assert_true(f->help && *f->help && f->has_type);
	for (size_t i = 0; i < f->n_metric; i++) {
		const metric *m = f->metric[i];
		n += m->histogram != NULL;
		if (m->histogram)
			check_histogram(text, f->name, m);
		else if (!changes(f->name))
			assert_same(m->counter ? m->counter->value : m->gauge->value,
				    of_text(text, f->name, m, NULL));
	}
	return n;
}

static void messages_say_what_the_text_does(void **state)
{
	unsigned families = 0, histograms = 0;
	struct scrape s;
	size_t n;
	family *f;

	(void)state;
	begin(&s);
	s.bytes = print_metrics(&s, METRICS_PROTO, &s.n);
	char *text = print_metrics(&s, METRICS_TEXT, &n);
	while ((f = next(&s))) {
		families++;
		histograms += check_family(text, f);
		io__prometheus__client__metric_family__free_unpacked(f, NULL);
	}
	assert_true(families > 25 && histograms >= LOCK_UNKNOWN);
	free(text);
	end(&s);
}

/* As text has it: in its bucket, with the name of the file. */
static void an_exemplar_is_in_its_bucket(void **state)
{
	struct incident in = {.fired_ns = CANNED_START + 5 * CANNED_MS, .lock = CANNED_PIPE_MUTEX};
	unsigned found = 0;
	struct scrape s;
	family *f;

	(void)state;
	begin(&s);
	for (in.worst_ns = 1 << 10; in.worst_ns < 1ull << 36; in.worst_ns *= 2)
		metrics_incident(s.m, &in, "/var/lib/kontend-1\".data");
	s.bytes = print_metrics(&s, METRICS_PROTO, &s.n);
	while ((f = next(&s))) {
		for (size_t i = 0; i < f->n_metric; i++) {
			const histogram *h = f->metric[i]->histogram;
			for (size_t k = 0; h && k < h->n_bucket; k++) {
				const Io__Prometheus__Client__Exemplar *e = h->bucket[k]->exemplar;
				if (!e)
					continue;
				assert_string_equal(e->label[0]->value, "kontend-1\".data");
				assert_true(e->value <= h->bucket[k]->upper_bound);
				assert_true(!k || e->value > h->bucket[k - 1]->upper_bound);
				found++;
			}
		}
		io__prometheus__client__metric_family__free_unpacked(f, NULL);
	}
	assert_int_equal(found, 1);
	end(&s);
}

/* Waits that a full table has not counted are in the last bucket, so that buckets add up. */
static void what_has_no_bucket_is_in_the_last(void **state)
{
	uint64_t counts[HIST_BUCKETS] = {[40] = 3}, bars[OPENMETRICS_BUCKETS];
	const struct query_hist reported = {.counts = counts, .n_waits = 5, .total_ns = 9};
	struct openmetrics_hist h = {0};

	(void)state;
	openmetrics_hist_add(&h, &reported);
	openmetrics_hist_add(&h, &reported);
	assert_int_equal(h.counts[40], 6);
	assert_int_equal(h.counts[HIST_BUCKETS - 1], 4);
	openmetrics_hist_bars(&h, bars);
	assert_int_equal(bars[OPENMETRICS_BUCKETS - 1], 4);
	assert_int_equal(bars[openmetrics_text_bucket(hist_upper(40))], 6);
}

static void goes_on_without_memory(void **state)
{
	FILE *null = fopen("/dev/null", "w");
	unsigned failed = 0;
	struct scrape s;

	(void)state;
	assert_non_null(null);
	begin(&s);
	s.bytes = print_metrics(&s, METRICS_PROTO, &s.n);
	long live = mem_live();
	for (long n = 0; n < 60; n++) {
		struct error err = {0};
		mem_fail_after(n);
		int r = metrics_put(s.m, NULL, METRICS_PROTO, null, &err);
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		failed += r < 0;
	}
	assert_true(failed > 0);
	assert_true(mem_live() <= live + 2); /* what queries keep */
	fclose(null);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_heavier_format_wins),
		cmocka_unit_test(a_bucket_is_one_of_its),
		cmocka_unit_test(messages_say_what_the_text_does),
		cmocka_unit_test(an_exemplar_is_in_its_bucket),
		cmocka_unit_test(what_has_no_bucket_is_in_the_last),
		cmocka_unit_test(goes_on_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
