// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/nsview.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "kontend/mem.h"
#include "kontend/pidns.h"
#include "kontend/sideband.h"
#include "kontend/taskid.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

extern const char ns_object[], ns_object_end[];

enum { TRIES = 4 };

struct nsview {
	struct sideband_source names;
	struct bpf_object *object;
	struct ns_state *state;
	const struct ns_task *tasks;
	int look;
};

static int set_up(struct nsview *v, struct error *err)
{
	int learn = bpf_run_program(v->object, "learn_ns", err);

	v->look = learn < 0 ? learn : bpf_run_program(v->object, "read_all_tasks", err);
	if (v->look < 0)
		return v->look;
	v->state = bpf_run_map(v->object, ".bss", sizeof(*v->state), PROT_READ | PROT_WRITE, err);
	v->tasks = v->state ? bpf_run_map(v->object, "tasks", NS_TASKS * sizeof(*v->tasks),
					  PROT_READ, err)
			    : NULL;
	if (!v->tasks)
		return err->code;
	int code = bpf_run_once(learn, -1);
	return code < 0 ? error_errno(err, code, "Cannot read the PID namespace by BPF") : 0;
}

static int put_names(const struct sideband_source *from, struct sideband *s)
{
	struct nsview *v = (struct nsview *)(uintptr_t)from;
	/* Tasks that cannot be seen now keep their state, or their events come one by one. */
	int code = nsview_look(v) == -ENOMEM ? -ENOMEM : 0;
	const struct ns_task *t;
	size_t n = nsview_tasks(v, &t);

	for (size_t i = 0; code == 0 && i < n; i++)
		if (taskid_is_outside(t[i].tid))
			code = sideband_comm(s, t[i].pid, t[i].tid, t[i].comm);
	return code;
}

int nsview_new(struct nsview **ret, struct kerntypes *types, struct error *err)
{
	struct bpf_run_file f = {
		.bytes = ns_object, .len = (size_t)(ns_object_end - ns_object), .types = types};
	struct nsview *v = mem_calloc(1, sizeof(*v));
	struct error none;

	err = err ? err : &none;
	if (!v)
		return error_enomem(err, "the tasks of other namespaces");
	v->names.put = put_names;
	int code = bpf_run_load(&v->object, &f, err);
	code = code < 0 ? code : set_up(v, err);
	if (code < 0) {
		nsview_free(v);
		return code;
	}
	*ret = v;
	return 0;
}

void nsview_free(struct nsview *v)
{
	if (!v)
		return;
	bpf_run_unmap(v->state, sizeof(*v->state));
	bpf_run_unmap(v->tasks, NS_TASKS * sizeof(*v->tasks));
	bpf_object__close(v->object);
	mem_free(v);
}

const struct ns_config *nsview_config(const struct nsview *v)
{
	return &v->state->own;
}

int nsview_look(struct nsview *v)
{
	int code = 0;

	for (int i = 0; i < TRIES; i++) {
		v->state->torn = 0;
		code = bpf_run_once(v->look, -1);
		if (code < 0 || !v->state->torn)
			return code;
	}
	return -EAGAIN;
}

size_t nsview_tasks(const struct nsview *v, const struct ns_task **ret)
{
	*ret = v->tasks;
	return v->state->n_tasks < NS_TASKS ? v->state->n_tasks : NS_TASKS;
}

size_t nsview_count_outside(const struct nsview *v)
{
	const struct ns_task *t;
	size_t n = nsview_tasks(v, &t), outside = 0;

	for (size_t i = 0; i < n; i++)
		outside += taskid_is_outside(t[i].tid);
	return outside;
}

int32_t nsview_host_id(const struct nsview *v, int32_t tid)
{
	const struct ns_task *t;
	size_t n = nsview_tasks(v, &t);

	for (size_t i = 0; i < n; i++)
		if (t[i].tid == tid)
			return t[i].host_tid;
	return 0;
}

const struct sideband_source *nsview_names(struct nsview *v)
{
	return v ? &v->names : NULL;
}

int ns_own(struct ns_config *ret, struct kerntypes *types, struct error *err)
{
	struct nsview *v;

	*ret = (struct ns_config){0};
	int code = pidns_is_inner() ? nsview_new(&v, types, err) : 0;
	if (code < 0 || !pidns_is_inner())
		return code;
	*ret = *nsview_config(v);
	nsview_free(v);
	return 0;
}
