// SPDX-License-Identifier: GPL-2.0-only
/* The origin of a trace, and what it lacks. */
#include "kontend/jsonw.h"
#include "report/internal.h"
#include "report/sandbox.h"
#include "trace-int.h"

void trace_source_json(const struct tracefile *t, const char *key, const char *schema,
		       struct jsonw *j)
{
	const struct model *m = &t->engine->model;
	const struct model_damage d = model_damage(m);
	const struct query_loss loss = query_loss_of_sums(m);
	uint64_t from_ns = m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;

	jsonw_begin(j, key, '{', false);
	jsonw_str(j, "schema", schema);
	jsonw_str(j, "kernel", m->host.release[0] ? m->host.release : NULL);
	jsonw_str(j, "targets", m->host.targets[0] ? m->host.targets : NULL);
	jsonw_u64(j, "start_ns", m->start_ns);
	jsonw_u64(j, "start_wall_ns", m->host.wall_ns);
	jsonw_u64(j, "time_from_ns", from_ns);
	jsonw_u64(j, "time_to_ns", m->now_ns);
	jsonw_u64(j, "duration_ns", m->now_ns > from_ns ? m->now_ns - from_ns : 0);
	jsonw_u64(j, "waits", t->n_waits);
	jsonw_u64(j, "left_out", t->left_out);
	report_sandbox_json(t->engine->sandbox, j);
	report_json_damage(j, &d, &loss, NULL);
	jsonw_end(j, '}');
}
