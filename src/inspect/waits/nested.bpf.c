// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second programs of the tracepoints of waits, called after the first: they report the events
 * that these did not see, of an interrupt that has come while a first one runs. The kernel does not
 * call a program that runs already, so the first ones could not: but these can. waits.bpf.c
 * includes this file.
 */

static __always_inline void see_nested(struct bpf_raw_tracepoint_args *ctx, enum what what)
{
	__u64 pid_tid = bpf_get_current_pid_tgid();
	__u32 cpu = bpf_get_smp_processor_id();
	struct waits_cpu *c = waits_here(cpu);
	const struct lock_owner none = {0}; /* an interrupt only spins */

	if (!c || ring_was_seen(&c->ring, event_of(ctx, what)) || !c->nested.id ||
	    !is_wanted(pid_tid))
		return;
	/* An interrupt of an interrupt: one program is not called while it runs, so this is the
	 * other half. Both are missing, so that nothing is taken for what it is not. The same if
	 * only the begin was kept, to be summed up. */
	if (c->nested.busy || (what == END && config.shorts && short_forget(cpu, ctx->args[0]))) {
		c->nested.missed += what == RELEASE ? 1 : 2;
		return;
	}
	c->nested.busy = 1;
	report_wait(ctx, c, what, &none, true, pid_tid, cpu);
	c->nested.busy = 0;
}

SEC("raw_tp/contention_begin")
int see_nested_begin(struct bpf_raw_tracepoint_args *ctx)
{
	see_nested(ctx, BEGIN);
	return 0;
}

SEC("raw_tp/contention_end")
int see_nested_end(struct bpf_raw_tracepoint_args *ctx)
{
	see_nested(ctx, END);
	return 0;
}

SEC("raw_tp/contended_release")
int see_nested_release(struct bpf_raw_tracepoint_args *ctx)
{
	see_nested(ctx, RELEASE);
	return 0;
}
