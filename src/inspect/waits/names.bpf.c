// SPDX-License-Identifier: GPL-2.0-only
/* Names of tasks outside of our PID namespace. waits.bpf.c includes this file. */
/* Of tasks outside of our PID namespace perf's records do not say who it is. */
static __always_inline void who_is(struct taskrec *r, enum taskrec_what what, struct task_struct *t)
{
	r->magic = TASKREC_MAGIC;
	r->what = what;
	r->pid = ns_pid(t, &config.ns);
	r->tid = ns_tid(t, &config.ns);
}

SEC("raw_tp/task_newtask")
int see_new(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)bpf_get_current_task();
	struct taskrec r = {0};

	who_is(&r, TASKREC_FORK, (void *)ctx->args[0]);
	r.ppid = ns_pid(parent, &config.ns);
	r.ptid = ns_tid(parent, &config.ns);
	report_task(ctx, &r);
	return 0;
}

SEC("raw_tp/task_rename")
int see_name(struct bpf_raw_tracepoint_args *ctx)
{
	struct taskrec r = {0};

	who_is(&r, TASKREC_COMM, (void *)ctx->args[0]);
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), (void *)ctx->args[1]);
	report_task(ctx, &r);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int see_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct taskrec r = {0};

	who_is(&r, TASKREC_EXIT, (void *)ctx->args[0]);
	report_task(ctx, &r);
	return 0;
}
