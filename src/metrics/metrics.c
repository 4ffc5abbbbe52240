// SPDX-License-Identifier: GPL-2.0-only
/*
 * Combines sums, text and server. The text is written to growing memory, and only when a client has
 * requested it.
 */
#include "kontend/metrics.h"
#include "kontend/clock.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/memfile.h"
#include "kontend/openmetrics.h"
#include "kontend/when.h"
#include "server.h"
#include "sums.h"

#include <errno.h>
#include <string.h>

enum { URL = METRICS_ADDRESS_TEXT + 32 };

struct metrics {
	struct engine *engine;
	struct query q;
	bool asks; /* q is valid */
	struct metrics_sums sums;
	struct metrics_server *server; /* NULL: no server */
	struct metrics_profiles profiles;
	char url[URL];
	uint64_t n_scrapes;
};

static int open_server(struct metrics *m, const char *listen, struct error *err)
{
	char at[METRICS_ADDRESS_TEXT];
	struct metrics_address a;
	int code = metrics_address_parse(listen, "--metrics", &a, err);

	code = code ? code : metrics_server_new(&m->server, &a, err);
	if (code == 0)
		snprintf(m->url, sizeof(m->url), "http://%s/metrics", metrics_address_text(&a, at));
	return code;
}

int metrics_new(struct metrics **ret, const struct metrics_options *o, struct error *err)
{
	struct metrics *m = mem_calloc(1, sizeof(*m));
	int code = m ? metrics_sums_init(&m->sums, o->version) : -ENOMEM;

	if (code < 0)
		error_errno(err, code, "Cannot sum up metrics");
	else if (o->listen)
		code = open_server(m, o->listen, err);
	if (code == 0)
		m->profiles.version = o->version;
	if (code < 0)
		metrics_free(m);
	else
		*ret = m;
	return code;
}

const char *metrics_url(const struct metrics *m)
{
	return m->url;
}

int metrics_start(struct metrics *m, struct engine *e, struct error *err)
{
	int code = query_init(&m->q, e);

	if (code < 0)
		return error_errno(err, code, "Cannot sum up metrics");
	m->engine = e;
	m->asks = true;
	return m->server ? metrics_server_start(m->server, err) : 0;
}

int metrics_add(struct metrics *m, struct error *err)
{
	query_begin(&m->q);
	int code = metrics_sums_add(&m->sums, &m->q);
	model_zero(m->engine->model);
	return code < 0 ? error_errno(err, code, "Some of the metrics of a second are missing") : 0;
}

bool metrics_wanted(struct metrics *m)
{
	return m->server && metrics_server_wanted(m->server);
}

/*
 * Writes the current values in one format: all formats written at the same time have the same
 * values.
 */
static int put_metrics(struct metrics *m, const struct metrics_counts *c, enum metrics_format f,
		       FILE *out)
{
	static const struct metrics_counts none;
	struct openmetrics_text t = {.out = out};
	int code = f == METRICS_PROTO ? openmetrics_proto_new(&t.proto, out) : 0;

	if (code < 0)
		return code;
	query_begin(&m->q);
	code = metrics_put_all(&m->sums, &m->q, c ? c : &none, m->n_scrapes, &t);
	if (f == METRICS_TEXT)
		fputs("# EOF\n", out);
	int ended = openmetrics_proto_end(t.proto);
	return code < 0 ? code : ended < 0 ? ended : ferror(out) ? -ENOMEM : 0;
}

static int cannot_put(int code, struct error *err)
{
	return code < 0 ? error_errno(err, code, "Cannot write the metrics") : 0;
}

int metrics_put(struct metrics *m, const struct metrics_counts *c, enum metrics_format f, FILE *out,
		struct error *err)
{
	m->n_scrapes++;
	int code = put_metrics(m, c, f, out);
	metrics_sums_clear_longest(&m->sums);
	return cannot_put(code, err);
}

static int publish(struct metrics *m, const struct metrics_counts *c, enum metrics_format f)
{
	struct memfile text = {0};
	FILE *out = memfile_open(&text);
	int code = out ? put_metrics(m, c, f, out) : -ENOMEM;

	if (out && fclose(out) != 0 && code == 0)
		code = -ENOMEM;
	if (code == 0)
		metrics_server_publish(m->server, f, text.text, text.n);
	else
		mem_free(text.text);
	return code;
}

static int publish_wanted(struct metrics *m, const struct metrics_counts *c, unsigned wanted,
			  struct error *err)
{
	int code = 0;

	m->n_scrapes++;
	for (enum metrics_format f = 0; f < METRICS_FORMATS && code == 0; f++)
		if (wanted >> f & 1)
			code = publish(m, c, f);
	metrics_sums_clear_longest(&m->sums);
	return cannot_put(code, err);
}

int metrics_tick(struct metrics *m, const struct metrics_counts *c, struct error *err)
{
	if (m->server)
		metrics_profiles_tick(&m->profiles, m->server, &m->q);
	int code = metrics_add(m, err);

	unsigned wanted = m->server ? metrics_server_wanted(m->server) : 0;
	if (!wanted)
		return code;
	int published = publish_wanted(m, c, wanted, err);
	return code ? code : published;
}

/* Without the mode of the lock there is no exemplar, as each mode has its own histogram. */
void metrics_incident(struct metrics *m, const struct incident *i, const char *file)
{
	const struct lock_table *locks = m->engine->model->locks;
	const struct record_host *host = m->engine->model->host;
	const struct when when = {.clock_ns = host->clock_ns, .wall_ns = host->wall_ns};
	enum lock_type found = LOCK_TYPES;
	const char *slash = strrchr(file, '/');

	if (!i->lock || !i->worst_ns)
		return;
	for (enum lock_type t = 0; t < LOCK_TYPES; t++) {
		if (!map64_get(&locks->index, lock_key(i->lock, t)))
			continue;
		if (found != LOCK_TYPES)
			return;
		found = t;
	}
	if (found != LOCK_TYPES)
		openmetrics_incident(m->sums.types, found, i->worst_ns,
				     when_wall_ns(&when, i->fired_ns), slash ? slash + 1 : file);
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	metrics_server_free(m->server);
	metrics_profiles_deinit(&m->profiles);
	if (m->asks)
		query_deinit(&m->q);
	metrics_sums_deinit(&m->sums);
	mem_free(m);
}
