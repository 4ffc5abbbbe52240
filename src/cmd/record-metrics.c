// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend record --metrics` without a file: measures, and answers scrapes, until it is stopped.
 * The port is opened while there are the rights for it; the thread that answers is started when
 * what is not needed any more has been given up.
 */
#include "record-metrics.h"
#include "kontend/metrics.h"
#include "measure.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>

static const uint64_t STEP_NS = 1000000000;

struct serving {
	struct measure_job job;
	struct metrics *metrics;
	bool started;
};

static int start(struct serving *s, struct measure *m, struct error *err)
{
	int code = metrics_start(s->metrics, &m->run.engine, err);

	s->started = code == 0;
	if (s->started)
		cmd_say(m->o, "metrics are at %s", metrics_url(s->metrics));
	return code;
}

/* A second without memory is no reason to end what was measured until then. */
static int step(struct measure_job *j, struct measure *m, struct error *err)
{
	struct serving *s = (struct serving *)j;
	struct error local = {0};
	int code = s->started ? 0 : start(s, m, err);

	if (code == 0 && metrics_tick(s->metrics, NULL, &local) < 0)
		cmd_say(m->o, "%s", local.text);
	return code;
}

static int finish(struct measure_job *j, struct measure *m, struct error *err)
{
	(void)j;
	(void)m;
	(void)err;
	return 0;
}

int cmd_record_metrics(const struct opts *o)
{
	const struct metrics_options options = {.listen = o->metrics, .version = KONTEND_VERSION};
	struct serving s = {.job = {.every = step, .finish = finish}};
	struct opts each = *o;
	struct error err = {0};
	int code = metrics_new(&s.metrics, &options, &err);

	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	each.interval_ns = STEP_NS;
	int status = measure_run(&each, &s.job);
	metrics_free(s.metrics);
	return status;
}
