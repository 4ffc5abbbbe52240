// SPDX-License-Identifier: GPL-2.0-only
/* Parses the header Accept: media ranges, each with parameters and a weight. */
#include "kontend/metrics.h"
#include "kontend/number.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char space[] = " \t";

/* Text up to @end, without blanks around it. */
struct part {
	const char *at;
	size_t n;
};

static struct part next_part(const char **at, const char *ends)
{
	const char *from = *at + strspn(*at, space);
	size_t n = strcspn(from, ends);

	*at = from + n;
	while (n && strchr(space, from[n - 1]))
		n--;
	return (struct part){from, n};
}

static bool is(struct part p, const char *what)
{
	return p.n == strlen(what) && strncasecmp(p.at, what, p.n) == 0;
}

static bool is_text(struct part type)
{
	return is(type, "application/openmetrics-text") || is(type, "text/plain") ||
	       is(type, "text/*") || is(type, "application/*") || is(type, "*/*");
}

/* A media range: its weight in thousandths, and whether it is messages or text. */
struct range {
	int weight;
	bool proto, text;
};

static int weight_of(struct part p)
{
	const char *at = p.at + 2;
	double q;

	return number_take_decimal(&at, &q) == 0 && q <= 1 ? (int)(q * 1000) : 0;
}

static struct range next_range(const char **at)
{
	struct part type = next_part(at, ",;");
	struct range r = {.weight = 1000, .text = is_text(type)};
	bool family = false, delimited = false;

	while (**at == ';') {
		++*at;
		struct part p = next_part(at, ",;");
		family |= is(p, "proto=io.prometheus.client.MetricFamily");
		delimited |= is(p, "encoding=delimited");
		if (p.n > 2 && strncasecmp(p.at, "q=", 2) == 0)
			r.weight = weight_of(p);
	}
	r.proto = is(type, "application/vnd.google.protobuf") && family && delimited;
	return r;
}

enum metrics_format metrics_format_wanted(const char *accept)
{
	int proto = 0, text = 0;
	bool before = false; /* messages precede text of the same weight */

	while (accept && *accept) {
		struct range r = next_range(&accept);
		if (r.proto && r.weight > proto) {
			proto = r.weight;
			before = proto > text;
		}
		if (r.text && r.weight > text)
			text = r.weight;
		accept += *accept == ',';
	}
	return proto > text || (proto && proto == text && before) ? METRICS_PROTO : METRICS_TEXT;
}

const char *metrics_format_type(enum metrics_format f)
{
	static const char *const types[] = {
		[METRICS_TEXT] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[METRICS_PROTO] = "application/vnd.google.protobuf; "
				  "proto=io.prometheus.client.MetricFamily; encoding=delimited",
	};

	return types[f];
}
