// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers with which tasks that have no CPU have entered the kernel, as far as a caller finds
 * in them what it had there before the call: with these a stack can be unwound from the begin on,
 * whatever its functions keep in registers. One pass over all tasks finds those that user space
 * asks for.
 */
#include "kernel/locks.h"
#include "kernel/ns.h"
#include "registers-shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct raw_registers_config config = {0};

ARRAY(registers, struct raw_registers, RAW_REGISTERS_TASKS);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u32); /* index + 1 */
	__uint(max_entries, RAW_REGISTERS_TASKS);
} registers_by_thread SEC(".maps");

struct pt_regs___x86_all {
	unsigned long r15, r14, r13, r12, bp, bx, ip, sp;
} CORE;

struct user_pt_regs___all {
	__u64 regs[31];
	__u64 sp, pc;
} CORE;

struct pt_regs___arm64_all {
	struct user_pt_regs___all user_regs;
} CORE;

/* Numbers of perf. */
enum { X86_BX = 1, X86_BP = 6, X86_SP, X86_IP, X86_R12 = 20, X86_R13, X86_R14, X86_R15 };
enum { ARM64_FIRST = 19, ARM64_LAST = 30, ARM64_SP, ARM64_PC };

static __always_inline void read_x86(struct pt_regs___x86_all *x86, struct raw_registers *r)
{
	r->mask = 1 << X86_BX | 1 << X86_BP | 1 << X86_SP | 1 << X86_IP | 1 << X86_R12 |
		  1 << X86_R13 | 1 << X86_R14 | 1 << X86_R15;
	r->of[0] = BPF_CORE_READ(x86, bx);
	r->of[1] = BPF_CORE_READ(x86, bp);
	r->of[2] = BPF_CORE_READ(x86, sp);
	r->of[3] = BPF_CORE_READ(x86, ip);
	r->of[4] = BPF_CORE_READ(x86, r12);
	r->of[5] = BPF_CORE_READ(x86, r13);
	r->of[6] = BPF_CORE_READ(x86, r14);
	r->of[7] = BPF_CORE_READ(x86, r15);
}

static __always_inline void read_arm64(struct pt_regs___arm64_all *arm64, struct raw_registers *r)
{
	const int n = ARM64_LAST - ARM64_FIRST + 1;

	r->mask = ((1ull << n) - 1) << ARM64_FIRST | 1ull << ARM64_SP | 1ull << ARM64_PC;
	bpf_probe_read_kernel(r->of, n * sizeof(r->of[0]), &arm64->user_regs.regs[ARM64_FIRST]);
	r->of[n] = BPF_CORE_READ(arm64, user_regs.sp);
	r->of[n + 1] = BPF_CORE_READ(arm64, user_regs.pc);
}

SEC("iter/task")
int see_registers(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct task_struct___locks *task = (void *)t;
	struct pt_regs___x86_all *x86;
	struct pt_regs___arm64_all *arm64;

	if (!t)
		return 0;
	__u32 tid = (__u32)ns_tid(t, &config.ns);
	__u32 *at = bpf_map_lookup_elem(&registers_by_thread, &tid);
	if (!at)
		return 0;
	__u32 i = *at - 1;
	struct raw_registers *r = bpf_map_lookup_elem(&registers, &i);
	void *regs = (void *)bpf_task_pt_regs(t);
	if (!r || !regs || !bpf_core_field_exists(task->on_cpu) ||
	    BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu))
		return 0;
	x86 = regs;
	arm64 = regs;
	if (bpf_core_field_exists(x86->r15))
		read_x86(x86, r);
	else if (bpf_core_field_exists(arm64->user_regs))
		read_arm64(arm64, r);
	else
		return 0;
	r->seen = 1;
	return 0;
}
