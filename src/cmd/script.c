// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend script`: every event as a line, while they come. Where lines go missing because records
 * were lost, the end says so.
 */
#include "kontend/script.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

struct scripter {
	struct measure_job job;
	struct script *script;
};

static int begin(struct measure_job *j, struct measure *m, struct error *err)
{
	struct scripter *s = (struct scripter *)j;
	bool json = m->o->format && strcmp(m->o->format, "json") == 0;
	int ret = script_new(&s->script, &m->run.engine, m->output.file, json);

	if (ret < 0)
		return error_errno(err, ret, "Cannot begin to write events");
	m->run.engine.watch = script_watch(s->script);
	return 0;
}

static int finish(struct measure_job *j, struct measure *m, struct error *err)
{
	(void)j;
	(void)err;
	measure_say_losses(m);
	return 0;
}

int cmd_script(const struct opts *o)
{
	struct scripter s = {.job = {.begin = begin, .finish = finish}};
	int status = measure_run(o, &s.job);

	script_free(s.script);
	return status;
}
