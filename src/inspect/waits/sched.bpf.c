// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs at the scheduler's tracepoints, one at each: a second one would cost every switch
 * and wakeup of the machine as much as an empty one does. Each feature has functions of its own,
 * which load a word or two and reject nearly all tasks. The programs are verified with their
 * configuration, so the kernel removes features that are off, and the loader leaves out their maps.
 * waits.bpf.c includes this file.
 *
 * Functions that follow holders pass the context on to global functions. Kernels of before about
 * 6.9 refuse that in typed programs, as sleeps need them, even in parts that are never reached. So
 * the typed programs are there a second time without following, and a program that only follows.
 */
static __always_inline void typed_switch(struct bpf_raw_tracepoint_args *ctx)
{
	bool is_preempted = ctx->args[0];

	if (config.idle) {
		idle_switch((void *)ctx->args[1], (void *)ctx->args[2]);
		par_switch((void *)ctx->args[1], (void *)ctx->args[2]);
	}
	if (config.users)
		user_runs(ctx, (void *)ctx->args[2]);
	if (config.users && !is_preempted)
		user_switch((void *)ctx->args[1]);
	if (config.sleeps && !is_preempted)
		sleep_begins(ctx, (void *)ctx->args[1]);
}

static __always_inline void typed_waking(struct bpf_raw_tracepoint_args *ctx)
{
	if (config.users)
		user_waking((void *)ctx->args[0]);
	if (config.sleeps)
		sleep_ends(ctx, (void *)ctx->args[0]);
}

SEC("tp_btf/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	typed_switch(ctx);
	follow_switch(ctx);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	typed_waking(ctx);
	follow_waking(ctx, (void *)ctx->args[0]);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_typed_switch(struct bpf_raw_tracepoint_args *ctx)
{
	typed_switch(ctx);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_typed_waking(struct bpf_raw_tracepoint_args *ctx)
{
	typed_waking(ctx);
	return 0;
}

SEC("raw_tp/sched_switch")
int see_switch(struct bpf_raw_tracepoint_args *ctx)
{
	follow_switch(ctx);
	return 0;
}

SEC("raw_tp/sched_waking")
int see_waking(struct bpf_raw_tracepoint_args *ctx)
{
	follow_waking(ctx, (void *)ctx->args[0]);
	return 0;
}
