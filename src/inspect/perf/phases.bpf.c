// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a rotation and of a switch between cgroups, which no tracepoint separates. Probes
 * are at the timer's function, at the function that turns its events, and at perf's work when a
 * task of another cgroup comes on; so a rotation is hit three times, and a switch twice, on CPUs
 * that have events of cgroups. Nothing is written event by event: sums are kept here, and user
 * space reads them.
 *
 * A probe may be missed (one within another is). A begin without an end is overwritten by the next
 * one, and an end without a begin is no expiry.
 */
#include "kernel/phases.h"

#include "phases-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct phases_config config = {0};
struct phases_state state = {0};

ARRAY(phase_cpus, struct phases_cpu, PHASES_CPUS);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PHASES_PAIRS);
	__type(key, struct phases_pair);
	__type(value, struct phases_sum);
} phase_pairs SEC(".maps");

static __always_inline struct phases_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&phase_cpus, &cpu);
}

/* The timer's function begins. */
SEC("kprobe")
int phase_begin(void *ctx)
{
	struct phases_cpu *c = this_cpu();

	if (!c || !state.on)
		return 0;
	c->turned = 0;
	c->began = bpf_ktime_get_ns();
	return 0;
}

/* The first event goes to the end of its queue: all that are to go are off the counters. */
SEC("kprobe")
int phase_turn(void *ctx)
{
	struct phases_cpu *c = this_cpu();

	if (c && c->began && !c->turned)
		c->turned = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void count(unsigned int *buckets, __u64 ns)
{
	__u64 b = phases_bucket(ns);

	/* It is below; the verifier wants to see that. */
	barrier_var(b);
	buckets[b & (PHASES_BUCKETS - 1)]++;
}

static __always_inline void add_rotation(struct phases_cpu *c, __u64 now)
{
	__u64 out = c->turned - c->began, in = now - c->turned;

	c->n++;
	c->out_ns += out;
	c->in_ns += in;
	c->out_max = out > c->out_max ? out : c->out_max;
	c->in_max = in > c->in_max ? in : c->in_max;
	count(c->out, out);
	count(c->in, in);
}

SEC("kprobe")
int phase_end(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct phases_cpu *c = this_cpu();

	if (!c || !c->began)
		return 0;
	if (c->turned)
		add_rotation(c, now);
	else
		c->unturned++;
	c->began = 0;
	return 0;
}

/* The id of the cgroup that perf counts a task for; 0: not known. */
static __always_inline __u64 cgroup_of(__u64 task)
{
	struct task_struct___cgroups *t = (void *)task;
	struct css_set *set = BPF_CORE_READ(t, cgroups);
	struct cgroup_subsys_state *css = NULL;
	__u64 at = (__u64)set + bpf_core_field_offset(set->subsys);

	bpf_probe_read_kernel(&css, sizeof(css), (void *)(at + config.subsys * sizeof(css)));
	return BPF_CORE_READ(css, cgroup, kn, id);
}

static __always_inline __u64 first_argument(void *ctx)
{
	if (is_x86())
		return BPF_CORE_READ((struct pt_regs___di *)ctx, di);
	if (is_arm64())
		return BPF_CORE_READ((struct pt_regs___x0 *)ctx, regs[0]);
	return 0;
}

/* perf_cgroup_switch(the task that comes on), while the other one is still there. */
SEC("kprobe")
int cgroup_begin(void *ctx)
{
	struct phases_cpu *c = this_cpu();
	__u64 next = first_argument(ctx), now = bpf_get_current_task();

	if (!c || !state.on)
		return 0;
	c->switch_began = 0;
	/* Not a switch: a task has gone to another cgroup. */
	if (!next || next == now)
		return 0;
	c->from = cgroup_of(now);
	c->to = cgroup_of(next);
	if (c->from == c->to)
		c->same++;
	else
		c->switch_began = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void add_pair(struct phases_cpu *c, __u64 ns)
{
	struct phases_pair key = {.from = c->from, .to = c->to};
	struct phases_sum none = {0};
	struct phases_sum *s = bpf_map_lookup_elem(&phase_pairs, &key);

	if (!s) {
		bpf_map_update_elem(&phase_pairs, &key, &none, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&phase_pairs, &key);
	}
	if (!s) {
		c->dropped++;
		return;
	}
	__sync_fetch_and_add(&s->n, 1);
	__sync_fetch_and_add(&s->ns, ns);
}

SEC("kprobe")
int cgroup_end(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct phases_cpu *c = this_cpu();

	if (!c || !c->switch_began)
		return 0;
	__u64 ns = now - c->switch_began;
	c->switch_began = 0;
	c->switches++;
	c->switch_ns += ns;
	c->switch_max = ns > c->switch_max ? ns : c->switch_max;
	add_pair(c, ns);
	return 0;
}
