// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured tasks, as BPF programs know them: a map has the processes and threads, a number the
 * cgroup. In a PID namespace iterators show only its tasks.
 */
#include "asked.h"
#include "bpf-run.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/target.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

int asked_open(struct asked *a, struct bpf_object *o, struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	a->to = bpf_run_map(o, ".data.asked", sizeof(*a->to), rw, err);
	a->cpus = bpf_run_map(o, "asked_cpus", RAW_ASKED_CPUS * sizeof(*a->cpus), rw, err);
	a->ids = bpf_object__find_map_fd_by_name(o, "asked_ids");
	if (a->ids < 0)
		return error_set(err, -ENOENT, "The BPF object has no map asked_ids");
	return a->to && a->cpus ? 0 : err->code;
}

static int report_id(struct asked *a, uint32_t id, struct error *err)
{
	const uint32_t yes = 1;

	return bpf_map_update_elem(a->ids, &id, &yes, BPF_ANY) < 0
		       ? error_errno(err, -errno, "Cannot pass task %u to BPF", id)
		       : 0;
}

static int report_ids(struct asked *a, const struct target *t, int child, struct error *err)
{
	int code = 0;

	if (t->kind == TARGET_COMMAND)
		return child ? report_id(a, (uint32_t)child, err)
			     : error_set(err, -EAGAIN, "the command has not begun yet");
	if (t->n_ids > RAW_ASKED_IDS)
		return error_set(err, -E2BIG, "more than %d processes or threads are measured",
				 RAW_ASKED_IDS);
	for (size_t i = 0; code == 0 && i < t->n_ids; i++)
		code = report_id(a, (uint32_t)t->ids[i], err);
	return code;
}

static int report_cpus(struct asked *a, const struct target *t, struct error *err)
{
	a->to->by_cpu = t->n_cpus > 0;
	for (size_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i] >= RAW_ASKED_CPUS)
			return error_set(err, -E2BIG, "CPU %u is beyond the first %d", t->cpus[i],
					 RAW_ASKED_CPUS);
		a->cpus[t->cpus[i]] = 1;
	}
	return 0;
}

int asked_report(struct asked *a, const struct target *t, int child, struct error *err)
{
	static const enum raw_asked_scope scopes[] = {
		[TARGET_SYSTEM] = RAW_SCOPE_ALL,   [TARGET_PIDS] = RAW_SCOPE_PIDS,
		[TARGET_TIDS] = RAW_SCOPE_TIDS,	   [TARGET_CGROUP] = RAW_SCOPE_CGROUP,
		[TARGET_COMMAND] = RAW_SCOPE_PIDS,
	};
	int code = 0;

	if (a->reported || !t)
		return 0;
	if (t->kind == TARGET_CGROUP)
		code = cgroup_id(t->cgroup, &a->to->cgroup, err);
	else
		code = report_ids(a, t, child, err);
	code = code < 0 ? code : report_cpus(a, t, err);
	a->to->scope = scopes[t->kind];
	a->to->since_ns = clock_now_ns();
	a->reported = code == 0;
	return code;
}

void asked_close(struct asked *a)
{
	bpf_run_unmap(a->to, sizeof(*a->to));
	bpf_run_unmap(a->cpus, RAW_ASKED_CPUS * sizeof(*a->cpus));
	*a = (struct asked){0};
}
