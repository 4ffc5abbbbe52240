// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families of metrics as messages of libprotobuf-c. Each message follows its length, so only one
 * family at a time is in memory, in an arena. Counters are named like their samples in text.
 */
#include "kontend/mem.h"
#include "kontend/openmetrics.h"
#include "kontend/protobuf.h"
#include "kontend/text.h"
#include "metrics.pb-c.h"

#include <errno.h>
#include <math.h>
#include <string.h>

typedef Io__Prometheus__Client__MetricFamily family;
typedef Io__Prometheus__Client__Metric metric;
typedef Io__Prometheus__Client__LabelPair pair;
typedef Io__Prometheus__Client__Histogram histogram;
typedef Io__Prometheus__Client__Bucket bucket;
typedef Io__Prometheus__Client__BucketSpan span;
typedef Io__Prometheus__Client__Exemplar exemplar;

static const double NS = 1e-9;

struct openmetrics_proto {
	FILE *out;
	struct protobuf made; /* of the current family */
	const struct openmetrics_family *of;
	metric **metrics;
	size_t n, cap;
};

bool openmetrics_proto_is_built(void)
{
	return true;
}

int openmetrics_proto_new(struct openmetrics_proto **ret, FILE *out)
{
	struct openmetrics_proto *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->out = out;
	*ret = p;
	return 0;
}

static void put_length(FILE *out, size_t n)
{
	for (; n >= 0x80; n >>= 7)
		putc((int)(n & 0x7f) | 0x80, out);
	putc((int)n, out);
}

static char *name_of(struct openmetrics_proto *p)
{
	return arena_printf(&p->made.arena, "%s%s", p->of->name,
			    p->of->type == OPENMETRICS_COUNTER ? "_total" : "");
}

/* libprotobuf-c does not change strings when it packs them, though its types are not const. */
static char *proto_text(struct openmetrics_proto *p, const char *s)
{
	return s ? protobuf_str(&p->made, s, strlen(s)) : NULL;
}

static void put_family(struct openmetrics_proto *p)
{
	static const Io__Prometheus__Client__MetricType types[] = {
		[OPENMETRICS_COUNTER] = IO__PROMETHEUS__CLIENT__METRIC_TYPE__COUNTER,
		[OPENMETRICS_GAUGE] = IO__PROMETHEUS__CLIENT__METRIC_TYPE__GAUGE,
		[OPENMETRICS_HISTOGRAM] = IO__PROMETHEUS__CLIENT__METRIC_TYPE__HISTOGRAM,
	};
	family f = IO__PROMETHEUS__CLIENT__METRIC_FAMILY__INIT;

	f.name = name_of(p);
	f.help = proto_text(p, p->of->help);
	f.unit = proto_text(p, p->of->unit);
	f.has_type = true;
	f.type = types[p->of->type];
	f.metric = p->metrics;
	f.n_metric = p->n;
	p->made.failed |= !f.name;
	size_t n = p->made.failed ? 0 : io__prometheus__client__metric_family__get_packed_size(&f);
	uint8_t *bytes = protobuf_room(&p->made, n, 1);
	if (p->made.failed)
		return;
	io__prometheus__client__metric_family__pack(&f, bytes);
	put_length(p->out, n);
	fwrite(bytes, 1, n, p->out);
}

static void end_family(struct openmetrics_proto *p)
{
	if (p->n && !p->made.failed)
		put_family(p);
	p->n = 0;
	arena_reset(&p->made.arena);
}

void openmetrics_proto_family(struct openmetrics_proto *p, const struct openmetrics_family *f)
{
	end_family(p);
	p->of = f;
}

static pair *make_pair(struct openmetrics_proto *p, const char *key, size_t len, const char *value)
{
	pair *l = PROTOBUF_MESSAGE(&p->made, pair, IO__PROMETHEUS__CLIENT__LABEL_PAIR__INIT);
	char buf[OPENMETRICS_VALUE];

	if (!l)
		return NULL;
	text_clean(buf, sizeof(buf), value);
	l->name = protobuf_str(&p->made, key, len);
	l->value = proto_text(p, buf);
	return l;
}

static size_t count_labels(const char *keys)
{
	size_t n = *keys != 0;

	for (; *keys; keys++)
		n += *keys == ' ';
	return n;
}

/* Adds a metric with its labels to the family; NULL: no memory. */
static metric *add_metric(struct openmetrics_proto *p, const char *const *values)
{
	const char *key = p->of->labels;
	metric *m = PROTOBUF_MESSAGE(&p->made, metric, IO__PROMETHEUS__CLIENT__METRIC__INIT);

	if (mem_grow(&p->metrics, &p->cap, p->n, sizeof(*p->metrics)) < 0)
		p->made.failed = true;
	if (p->made.failed)
		return NULL;
	m->label = protobuf_room(&p->made, count_labels(key), sizeof(*m->label));
	for (size_t i = 0; m->label && *key; i++) {
		size_t len = strcspn(key, " ");
		m->label[i] = make_pair(p, key, len, values[i]);
		m->n_label = i + 1;
		key += len + (key[len] == ' ');
	}
	p->metrics[p->n++] = m;
	return p->made.failed ? NULL : m;
}

void openmetrics_proto_value(struct openmetrics_proto *p, const char *const *values, double value)
{
	metric *m = add_metric(p, values);

	if (!m)
		return;
	if (p->of->type == OPENMETRICS_COUNTER) {
		m->counter = PROTOBUF_MESSAGE(&p->made, Io__Prometheus__Client__Counter,
					      IO__PROMETHEUS__CLIENT__COUNTER__INIT);
		if (m->counter)
			*m->counter = (Io__Prometheus__Client__Counter){
				.base = m->counter->base, .has_value = true, .value = value};
		return;
	}
	m->gauge = PROTOBUF_MESSAGE(&p->made, Io__Prometheus__Client__Gauge,
				    IO__PROMETHEUS__CLIENT__GAUGE__INIT);
	if (m->gauge)
		*m->gauge = (Io__Prometheus__Client__Gauge){
			.base = m->gauge->base, .has_value = true, .value = value};
}

static exemplar *make_exemplar(struct openmetrics_proto *p, const struct openmetrics_exemplar *e)
{
	static const uint64_t SECOND_NS = 1000000000;
	exemplar *x = PROTOBUF_MESSAGE(&p->made, exemplar, IO__PROMETHEUS__CLIENT__EXEMPLAR__INIT);
	Io__Prometheus__Client__Timestamp *t =
		PROTOBUF_MESSAGE(&p->made, Io__Prometheus__Client__Timestamp,
				 IO__PROMETHEUS__CLIENT__TIMESTAMP__INIT);

	if (!x || !t)
		return NULL;
	x->label = protobuf_room(&p->made, 1, sizeof(*x->label));
	if (!x->label)
		return NULL;
	x->label[0] = make_pair(p, "incident", strlen("incident"), e->incident);
	x->n_label = 1;
	x->has_value = t->has_seconds = t->has_nanos = true;
	x->value = (double)e->ns * NS;
	t->seconds = (int64_t)(e->wall_ns / SECOND_NS);
	t->nanos = (int32_t)(e->wall_ns % SECOND_NS);
	x->timestamp = t;
	return x;
}

/* The buckets of the text format, for servers that keep classic buckets beside native ones. */
static void put_bars(struct openmetrics_proto *p, histogram *to, const struct openmetrics_hist *h,
		     const struct openmetrics_exemplar *e)
{
	uint64_t n = 0, bars[OPENMETRICS_BUCKETS];

	openmetrics_hist_bars(h, bars);
	to->bucket = protobuf_room(&p->made, OPENMETRICS_BUCKETS, sizeof(*to->bucket));
	for (size_t i = 0; to->bucket && i < OPENMETRICS_BUCKETS; i++) {
		bool is_last = i + 1 == OPENMETRICS_BUCKETS;
		bucket *b =
			PROTOBUF_MESSAGE(&p->made, bucket, IO__PROMETHEUS__CLIENT__BUCKET__INIT);
		if (!b)
			return;
		n += bars[i];
		b->has_cumulative_count = b->has_upper_bound = true;
		b->cumulative_count = n;
		b->upper_bound = is_last ? (double)INFINITY
					 : (double)(1ull << (i + OPENMETRICS_FIRST)) / 1e9;
		if (e && openmetrics_text_bucket(e->ns) == i)
			b->exemplar = make_exemplar(p, e);
		to->bucket[i] = b;
		to->n_bucket = i + 1;
	}
}

/* Begins a run at @index; the previous run ended at @end. */
static span *begin_span(struct openmetrics_proto *p, histogram *to, int index, int end)
{
	span *s = PROTOBUF_MESSAGE(&p->made, span, IO__PROMETHEUS__CLIENT__BUCKET_SPAN__INIT);

	if (!s)
		return NULL;
	s->has_offset = s->has_length = true;
	s->offset = index - end;
	to->positive_span[to->n_positive_span++] = s;
	return s;
}

/* Runs of buckets that are not empty. */
static void put_native(struct openmetrics_proto *p, histogram *to, const struct openmetrics_hist *h)
{
	uint64_t before = 0;
	span *s = NULL;
	int end = 0;

	to->positive_span = protobuf_room(&p->made, HIST_BUCKETS, sizeof(*to->positive_span));
	to->positive_delta = protobuf_room(&p->made, HIST_BUCKETS, sizeof(*to->positive_delta));
	for (unsigned i = 0; i < OPENMETRICS_ZERO_NS; i++)
		to->zero_count += h->counts[i];
	for (unsigned i = OPENMETRICS_ZERO_NS; !p->made.failed && i < HIST_BUCKETS; i++) {
		int index = openmetrics_hist_index(i);
		if (!h->counts[i])
			continue;
		if (!s || index != end)
			s = begin_span(p, to, index, end);
		if (!s)
			return;
		s->length++;
		to->positive_delta[to->n_positive_delta++] = (int64_t)(h->counts[i] - before);
		before = h->counts[i];
		end = index + 1;
	}
}

static uint64_t count_all(const struct openmetrics_hist *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		n += h->counts[i];
	return n;
}

void openmetrics_proto_histogram(struct openmetrics_proto *p, const char *const *values,
				 const struct openmetrics_hist *h,
				 const struct openmetrics_exemplar *e)
{
	metric *m = add_metric(p, values);
	histogram *to =
		m ? PROTOBUF_MESSAGE(&p->made, histogram, IO__PROMETHEUS__CLIENT__HISTOGRAM__INIT)
		  : NULL;

	if (!to)
		return;
	m->histogram = to;
	to->has_sample_count = to->has_sample_sum = true;
	to->sample_count = count_all(h);
	to->sample_sum = (double)h->total_ns / 1e9;
	put_bars(p, to, h, e);
	to->has_schema = to->has_zero_threshold = to->has_zero_count = true;
	to->schema = OPENMETRICS_SCHEMA;
	to->zero_threshold = OPENMETRICS_ZERO_NS * NS;
	put_native(p, to, h);
}

int openmetrics_proto_end(struct openmetrics_proto *p)
{
	if (!p)
		return 0;
	end_family(p);
	int code = p->made.failed || ferror(p->out) ? -ENOMEM : 0;
	arena_deinit(&p->made.arena);
	mem_free(p->metrics);
	mem_free(p);
	return code;
}
