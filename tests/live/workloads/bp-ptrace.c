// SPDX-License-Identifier: GPL-2.0-only
/* A tracer with a watchpoint in its tracee, as debuggers set them: no descriptor leads to it. */
#include "bp-kinds.h"

#include <elf.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
/* The kernel's placeholder until the control register is written. */
enum { OFF_TYPE = HW_BREAKPOINT_W, OFF_LEN = HW_BREAKPOINT_LEN_1 };

/* Address, then length (8 bytes), kind (write) and the local enable bit of the first register. */
static void set_watchpoint(pid_t pid, bool enable)
{
	const size_t at = offsetof(struct user, u_debugreg);
	const unsigned long control = 2ul << 18 | 1ul << 16 | 1;

	if (ptrace(PTRACE_POKEUSER, pid, at, &bp_watched[1]) < 0 ||
	    (enable && ptrace(PTRACE_POKEUSER, pid, at + 7 * sizeof(long), control) < 0))
		bp_die("PTRACE_POKEUSER");
}
#elif defined(__aarch64__)
enum { OFF_TYPE = HW_BREAKPOINT_RW, OFF_LEN = HW_BREAKPOINT_LEN_4 };

struct registers {
	uint32_t info, pad;
	struct {
		uint64_t addr;
		uint32_t control, pad;
	} regs[1];
};

static void set_watchpoint(pid_t pid, bool enable)
{
	/* Bytes 0 to 7, stores, of EL0. */
	const uint32_t control = 0xffu << 5 | 2u << 3 | 2u << 1 | (enable ? 1 : 0);
	struct registers r = {.regs = {{(uintptr_t)&bp_watched[1], control, 0}}};
	struct iovec io = {&r, sizeof(r)};

	if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_HW_WATCH, &io) < 0)
		bp_die("PTRACE_SETREGSET");
}
#else
enum { OFF_TYPE = HW_BREAKPOINT_W, OFF_LEN = HW_BREAKPOINT_LEN_1 };

static void set_watchpoint(pid_t pid, bool enable)
{
	(void)pid;
	(void)enable;
	bp_die("not known how to set a watchpoint here");
}
#endif

static void set_breakpoint(const char *name, bool enable)
{
	struct perf_event_attr attr = bp_attr();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		bp_die("a tracee");
	set_watchpoint(pid, enable);
	attr.bp_addr = (uintptr_t)&bp_watched[1];
	attr.disabled = !enable;
	if (!enable) {
		attr.bp_type = OFF_TYPE;
		attr.bp_len = OFF_LEN;
	}
	struct bp_made m = bp_made_of(name, "one", &attr, -1);
	m.tracer = getpid();
	m.owner = m.owner_pid = 0;
	m.target = pid;
	bp_print(&m);
}

void bp_make_ptrace(const char *name, int cpu)
{
	(void)cpu;
	set_breakpoint(name, true);
}

void bp_make_ptrace_off(const char *name, int cpu)
{
	(void)cpu;
	set_breakpoint(name, false);
}
