// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places uprobes on functions of this program, and has functions for that, each of which begins
 * with another instruction.
 */
#include "kontend/uprobe-target.h"

#include "kontend/perf-event.h"
#include "kontend/sysinfo.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int uprobe_target_offset(void (*call)(void), uint64_t *ret)
{
	const uintptr_t addr = (uintptr_t)call;
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t from, to, offset;
	char line[512];
	int code = -ENOENT;

	while (f && code && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) != 3)
			continue;
		if (addr < from || addr >= to)
			continue;
		*ret = addr - from + offset;
		code = 0;
	}
	if (f)
		fclose(f);
	return code;
}

int uprobe_target_place_at(void (*call)(void), bool is_return, struct error *err)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .config = is_return};
	uint64_t offset;
	int type = (int)sysinfo_number("/sys/bus/event_source/devices/uprobe/type", -1);

	if (type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "This kernel has no PMU uprobe (CONFIG_UPROBE_EVENTS)");
	if (uprobe_target_offset(call, &offset) < 0)
		return error_set(err, -ENOENT, "Cannot find out where this program is mapped");
	attr.type = (uint32_t)type;
	attr.config1 = (uintptr_t) "/proc/self/exe";
	attr.config2 = offset;
	int fd = perf_event_open(&attr, 0, -1, 0);
	if (fd < 0)
		return error_errno(err, fd,
				   "Cannot place a uprobe (it takes CAP_SYS_ADMIN or root)");
	return fd;
}

void bench_uprobe_nop(void);
void bench_uprobe_nop5(void);
void bench_uprobe_push(void);
void bench_uprobe_ret(void);

#define FUNCTION(name, code)                                                                       \
	".balign 64\n.type " #name ", %function\n" #name ":\n" code ".size " #name ", . - " #name  \
	"\n.balign 64\n"

#if defined(__x86_64__)
__asm__(".text\n" FUNCTION(bench_uprobe_nop, "nop\n ret\n")
		FUNCTION(bench_uprobe_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n")
			FUNCTION(bench_uprobe_push, "push %rbp\n pop %rbp\n ret\n")
				FUNCTION(bench_uprobe_ret, "ret\n"));
#elif defined(__aarch64__)
__asm__(".text\n" FUNCTION(bench_uprobe_nop, "nop\n ret\n")
		FUNCTION(bench_uprobe_nop5, "nop\n ret\n")
			FUNCTION(bench_uprobe_push, "stp x29, x30, [sp, #-16]!\n"
						    "ldp x29, x30, [sp], #16\n ret\n")
				FUNCTION(bench_uprobe_ret, "ret\n"));
#else
void bench_uprobe_nop(void)
{
}
void bench_uprobe_nop5(void)
{
}
void bench_uprobe_push(void)
{
}
void bench_uprobe_ret(void)
{
}
#endif

static const struct {
	const char *name;
	void (*call)(void);
} kinds[UPROBE_TARGET_KINDS] = {
	[UPROBE_TARGET_NOP] = {"nop", bench_uprobe_nop},
	[UPROBE_TARGET_NOP5] = {"nop5", bench_uprobe_nop5},
	[UPROBE_TARGET_PUSH] = {"push", bench_uprobe_push},
	[UPROBE_TARGET_RET] = {"ret", bench_uprobe_ret},
};

const char *uprobe_target_name(enum uprobe_target k)
{
	return kinds[k].name;
}

void (*uprobe_target_function(enum uprobe_target k))(void)
{
	return kinds[k].call;
}

int uprobe_target_place(enum uprobe_target k, bool is_return, struct error *err)
{
	return uprobe_target_place_at(kinds[k].call, is_return, err);
}
