// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many debug registers there are. x86 has four, for data and execution alike (HBP_NUM). arm64
 * has pools of a size that varies between CPUs; a tracer reads it: the lowest byte of the
 * register sets NT_ARM_HW_BREAK and NT_ARM_HW_WATCH.
 */
#include "slots.h"
#include "kontend/perfsnap.h"

#if defined(__x86_64__) || defined(__i386__)
struct slots_machine slots_of_machine(void)
{
	return (struct slots_machine){1, {SNAP_SLOT_ANY}, {4}};
}
#elif defined(__aarch64__)
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

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
