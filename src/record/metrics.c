// SPDX-License-Identifier: GPL-2.0-only
/* Serving metrics, step by step, for each loop that records or measures with --metrics. */
#include "kontend/metrics.h"
#include "kontend/cmd.h"
#include "kontend/record-metrics.h"
#include "version.h"

int record_metrics_new(struct metrics **ret, const struct opts *o, struct error *err)
{
	const struct metrics_options options = {.listen = o->metrics, .version = KONTEND_VERSION};

	return o->metrics ? metrics_new(ret, &options, err) : 0;
}

int record_metrics_start(struct metrics *m, const struct opts *o, struct engine *e,
			 struct error *err)
{
	int code = m ? metrics_start(m, e, err) : 0;

	if (m && code == 0)
		cmd_say(o, "metrics are at %s", metrics_url(m));
	return code;
}

void record_metrics_tick(struct metrics *m, const struct opts *o, const struct metrics_counts *c)
{
	struct error err = {0};

	if (m && metrics_tick(m, c, &err) < 0)
		cmd_say(o, "%s", err.text);
}
