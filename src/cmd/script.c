// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend script`: every event as a line, while they come. Where lines are missing because records
 * were lost, the end says how many.
 */
#include "kontend/script.h"
#include "kontend/event-filter.h"
#include "kontend/filter-options.h"
#include "measure.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>

struct scripter {
	struct measure_job job;
	struct script *script;
	struct filter_options only;
	struct run known;	   /* the whole recording, where the filter is about names */
	struct event_filter *gate; /* NULL: every wait has lines */
};

static int begin(struct measure_job *j, struct measure *m, struct error *err)
{
	struct scripter *s = (struct scripter *)j;
	bool json = m->o->format && strcmp(m->o->format, "json") == 0;
	int ret = script_new(&s->script, &m->run.engine, m->output.file, json);

	if (ret < 0)
		return error_errno(err, ret, "Cannot begin to write events");
	if (*s->only.filter)
		ret = measure_gate(m, &s->known, s->only.filter, &s->gate, err);
	if (ret < 0)
		return ret;
	script_gate(s->script, s->gate);
	m->run.engine.watch = script_watch(s->script);
	return 0;
}

static int finish(struct measure_job *j, struct measure *m, struct error *err)
{
	(void)j;
	(void)err;
	measure_say_no_locks(m, "'kontend export --format folded --weight samples' writes its "
				"profile");
	measure_say_losses(m);
	return 0;
}

/* While its engine and the sandbox are there. */
static void end(struct measure_job *j)
{
	struct scripter *s = (struct scripter *)j;

	script_free(s->script);
	event_filter_free(s->gate);
	run_close(&s->known, NULL);
}

int cmd_script(const struct opts *o)
{
	struct scripter s = {.job = {.begin = begin, .finish = finish, .end = end}};
	struct error err = {0};

	if (filter_options(o, &s.only, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	return measure_run(o, &s.job);
}
