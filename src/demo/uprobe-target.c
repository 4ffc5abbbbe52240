// SPDX-License-Identifier: GPL-2.0-only
/* Functions of this program to place uprobes on, each of which begins with another instruction. */
#include "kontend/uprobe-target.h"
#include "kontend/self-probe.h"

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
	return self_probe_place(kinds[k].call, is_return, err);
}
