// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend record --metrics`: without --trigger it measures, and answers scrapes, until it is
 * stopped, and writes nothing. The port is opened while there are the rights for it; the thread
 * that answers is started after unneeded rights have been given up.
 */
#include "record-metrics.h"
#include "kontend/metrics.h"
#include "kontend/record-metrics.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>

static const uint64_t STEP_NS = 1000000000;

struct serving {
	struct measure_job job;
	struct metrics *metrics;
	bool started;
};

static int serve_step(struct measure_job *j, struct measure *m, struct error *err)
{
	struct serving *s = (struct serving *)j;
	int code = 0;

	if (!s->started)
		code = record_metrics_start(s->metrics, m->o, &m->run.engine, err);
	s->started = true;
	if (code == 0)
		record_metrics_tick(s->metrics, m->o, NULL);
	return code;
}

/* Before the engine goes. */
static int finish(struct measure_job *j, struct measure *m, struct error *err)
{
	struct serving *s = (struct serving *)j;

	(void)m;
	(void)err;
	metrics_free(s->metrics);
	s->metrics = NULL;
	return 0;
}

int cmd_record_metrics(const struct opts *o)
{
	struct serving s = {.job = {.every = serve_step, .finish = finish}};
	struct opts each = *o;
	struct error err = {0};
	int code = record_metrics_new(&s.metrics, o, &err);

	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	each.interval_ns = STEP_NS;
	int status = measure_run(&each, &s.job);
	metrics_free(s.metrics);
	return status;
}
