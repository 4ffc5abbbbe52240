// SPDX-License-Identifier: GPL-2.0-only
/* Which PID namespace we are in, and all tasks that there are, also those outside of it. */
#include "kernel/ns.h"
#include "kernel/walk.h"

char license_text[] SEC("license") = "GPL";

struct ns_state state = {0};

ARRAY(tasks, struct ns_task, NS_TASKS);

SEC("raw_tp")
int learn_ns(void *ctx)
{
	struct task_struct___ns *t = (void *)bpf_get_current_task();
	struct pid *p = BPF_CORE_READ(t, thread_pid);
	__u64 at;

	state.own.level = BPF_CORE_READ(p, level);
	at = (__u64)p + bpf_core_field_offset(p->numbers) +
	     state.own.level * (__u64)bpf_core_type_size(struct upid);
	state.own.ns = word_at(at + bpf_core_field_offset(((struct upid *)0)->ns));
	return 0;
}

static long put_task(__u32 round, struct walk_tasks *w)
{
	struct task_struct *t = (void *)w->task;
	__u32 i = state.n_tasks;
	struct ns_task *r = bpf_map_lookup_elem(&tasks, &i);

	state.n_tasks = i + 1;
	if (r) {
		r->host_pid = BPF_CORE_READ(t, tgid);
		r->host_tid = BPF_CORE_READ(t, pid);
		r->pid = ns_pid(t, &state.own);
		r->tid = ns_tid(t, &state.own);
		BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	}
	return !walk_on(w);
}

SEC("raw_tp")
int read_all_tasks(void *ctx)
{
	struct walk_tasks w = {0};

	state.n_tasks = 0;
	walk_begin(&w);
	bpf_loop(WALK_MOST, put_task, &w, 0);
	if (!w.ended)
		state.torn++;
	return 0;
}
