// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts that both inspectors share: the choice between them, the cost of their snapshots, and
 * the number of breakpoint slots of this machine.
 *
 * The cost is CPU time per second. A second lasts from one snapshot to another, and the cost of a
 * snapshot is that of the time before it.
 *
 * x86 has four debug registers, for data and execution alike (HBP_NUM). arm64 has pools of a size
 * that varies between CPUs; a tracer reads it: the lowest byte of the register sets NT_ARM_HW_BREAK
 * and NT_ARM_HW_WATCH.
 */
#include "kontend/inspect.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/pidns.h"

#include <errno.h>
#include <stdio.h>
#if defined(__aarch64__)
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static const uint64_t SECOND = 1000000000;

uint64_t inspect_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void inspect_cost(struct inspect_cost *c, struct snap_head *h, uint64_t cpu_ns)
{
	uint64_t now = inspect_cpu_ns(), run = h->time_ns - c->from_ns;

	h->cost_ns = now - cpu_ns;
	if (!c->from_ns) {
		c->from_ns = h->time_ns;
		return;
	}
	c->sum_ns += h->cost_ns;
	/* Ticks are not of exactly the same length. */
	if (run >= SECOND - SECOND / 20) {
		c->per_s_ns = (uint64_t)((double)c->sum_ns * (double)SECOND / (double)run + 0.5);
		c->from_ns = h->time_ns;
		c->sum_ns = 0;
	}
	h->cost_per_s_ns = c->per_s_ns;
}

int inspect_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	struct error why = {0};
	int code = -ECANCELED;

	if (!o->no_bpf) {
		code = inspect_bpf_new(ret, o, &why);
		if (code == 0)
			return 0;
	}
	int probe = inspect_probe_new(ret, o, err);
	if (probe == 0)
		snprintf((*ret)->why, sizeof((*ret)->why), "%.180s%s",
			 o->no_bpf ? "BPF was switched off (--no-bpf)" : why.text, pidns_unseen());
	return probe;
}

#if defined(__x86_64__) || defined(__i386__)
struct slots_machine slots_of_machine(void)
{
	return (struct slots_machine){1, {SNAP_SLOT_ANY}, {4}};
}
#elif defined(__aarch64__)
static int32_t registers_of(pid_t pid, uintptr_t set)
{
	uint64_t buf[64];
	struct iovec io = {buf, sizeof(buf)};

	return ptrace(PTRACE_GETREGSET, pid, set, &io) < 0 ? -1 : (int32_t)(buf[0] & 0xff);
}

struct slots_machine slots_of_machine(void)
{
	struct slots_machine m = {0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (pid < 0)
		return m;
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int32_t exec = registers_of(pid, NT_ARM_HW_BREAK);
		int32_t data = registers_of(pid, NT_ARM_HW_WATCH);
		if (exec >= 0 && data >= 0)
			m = (struct slots_machine){
				2, {SNAP_SLOT_EXEC, SNAP_SLOT_DATA}, {exec, data}};
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return m;
}
#else
struct slots_machine slots_of_machine(void)
{
	return (struct slots_machine){0};
}
#endif
