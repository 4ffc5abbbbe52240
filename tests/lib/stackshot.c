// SPDX-License-Identifier: GPL-2.0-only
#include "stackshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
/* In the order of perf's numbers: AX BX CX DX SI DI BP SP IP, and R8 to R15 after the segments. */
static void take_regs(struct stackshot *s, const ucontext_t *c)
{
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_RIP, REG_R8,	REG_R9,	 REG_R10,
				    REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		s->regs[i] = (uint64_t)c->uc_mcontext.gregs[order[i]];
	s->mask = 0xff01ff;
}
enum { STACK_POINTER = 7 };
#elif defined(__aarch64__)
static void take_regs(struct stackshot *s, const ucontext_t *c)
{
	for (size_t i = 0; i < 31; i++)
		s->regs[i] = c->uc_mcontext.regs[i];
	s->regs[31] = c->uc_mcontext.sp;
	s->regs[32] = c->uc_mcontext.pc;
	s->mask = 0x1ffffffff;
}
enum { STACK_POINTER = 31 };
#else
static void take_regs(struct stackshot *s, const ucontext_t *c)
{
	(void)c;
	s->mask = 0;
}
enum { STACK_POINTER = 0 };
#endif

/* Whatever lies there: the gaps between variables, too. */
__attribute__((no_sanitize("address", "undefined"))) static void
copy_stack(struct stackshot *s, uint64_t from, uint64_t end)
{
	s->len = end - from < STACKSHOT_MOST ? (size_t)(end - from) : STACKSHOT_MOST;
	for (size_t i = 0; i < s->len; i++)
		s->stack[i] = ((const volatile uint8_t *)(uintptr_t)from)[i];
}

__attribute__((noinline)) static unsigned innermost(struct stackshot *s, uint64_t stack_end)
{
	ucontext_t c;

	getcontext(&c);
	take_regs(s, &c);
	s->truth[s->n++] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	if (s->mask)
		copy_stack(s, s->regs[STACK_POINTER], stack_end);
	return (unsigned)s->n;
}

__attribute__((noinline)) static unsigned nest(struct stackshot *s, uint64_t stack_end,
					       unsigned depth)
{
	unsigned below = depth ? nest(s, stack_end, depth - 1) : innermost(s, stack_end);

	if (s->n < STACKSHOT_DEPTH)
		s->truth[s->n++] =
			(uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	/* Something that is done after the call, so that it is one. */
	__asm__ volatile("" : "+r"(below));
	return below + depth;
}

static void take_map(struct stackshot *s, struct usersyms *files, const char *line,
		     uint64_t *ret_stack_end)
{
	char perms[8], path[512] = "";
	struct unwind_map m = {0};

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &m.start,
		   &m.end, perms, &m.file_offset, path) < 4)
		return;
	if ((uintptr_t)&m >= m.start && (uintptr_t)&m < m.end)
		*ret_stack_end = m.end;
	if (perms[2] == 'x' && s->n_maps < STACKSHOT_MAPS &&
	    usersyms_object(files, path, NULL, 0, getpid(), &m.object) == 0)
		s->maps[s->n_maps++] = m;
}

bool stackshot_take(struct stackshot *s, struct usersyms *files, unsigned depth)
{
	uint64_t stack_end = 0;
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "re");

	memset(s, 0, sizeof(*s));
	while (f && fgets(line, sizeof(line), f))
		take_map(s, files, line, &stack_end);
	if (f)
		fclose(f);
	if (!stack_end)
		return false;
	nest(s, stack_end, depth);
	return s->mask != 0;
}

struct unwind_sample stackshot_sample(const struct stackshot *s)
{
	return (struct unwind_sample){s->mask, s->regs, s->stack, s->len};
}
