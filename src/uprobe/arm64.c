// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the kernel treats an arm64 instruction under a uprobe, as in its
 * arch/arm64/kernel/probes/decode-insn.c. Instructions that read or change the program counter are
 * simulated, since they would go wrong at another place; so ret is cheap here and function
 * prologues are not. Nops are simulated since 6.13. Exclusive loads and stores, and instructions
 * that trap, are refused.
 */
#include "kontend/uprobe.h"

#include <stdio.h>

static const struct kind {
	uint32_t mask, value;
	const char *what;
} simulated[] = {
	{0x7c000000, 0x14000000, "b or bl"},	 {0xff000010, 0x54000000, "b.cond"},
	{0x7e000000, 0x34000000, "cbz or cbnz"}, {0x7e000000, 0x36000000, "tbz or tbnz"},
	{0x1f000000, 0x10000000, "adr or adrp"}, {0xfffffc1f, 0xd61f0000, "br"},
	{0xfffffc1f, 0xd63f0000, "blr"},	 {0xfffffc1f, 0xd65f0000, "ret"},
	{0xbf000000, 0x18000000, "ldr literal"}, {0xff000000, 0x98000000, "ldrsw literal"},
};

static const struct kind refused[] = {
	{0x3f000000, 0x08000000, "exclusive load or store"},
	{0xff000000, 0xd4000000, "exception"},
	{0xff000000, 0xd8000000, "prefetch literal"},
	{0x3f000000, 0x1c000000, "vector literal"},
	{0xfffffc00, 0xd61f0800, "br with authentication"},
	{0xffffffff, 0xd69f03e0, "eret"},
	{0xfff8f01f, 0xd500401f, "msr"},
	{0xfff00000, 0xd5100000, "msr"},
};

static const struct kind named[] = {
	{0xffffffff, 0xd503233f, "paciasp"},	{0xffffffff, 0xd503245f, "bti c"},
	{0xffc07fff, 0xa9807bfd, "stp fp, lr"}, {0xff0003ff, 0xd10003ff, "sub sp"},
	{0xffc07fff, 0xa8c07bfd, "ldp fp, lr"}, {0xffffffff, 0xd50323bf, "autiasp"},
};

static const uint32_t NOP = 0xd503201f;

static const char *find_kind(const struct kind *list, size_t n, uint32_t insn)
{
	for (size_t i = 0; i < n; i++)
		if ((insn & list[i].mask) == list[i].value)
			return list[i].what;
	return NULL;
}

#define FIND(list, insn) find_kind(list, sizeof(list) / sizeof(*(list)), insn)

static void set_verdict(struct uprobe_verdict *v, enum upsnap_class c, const char *what,
			const char *reason)
{
	v->class_ = c;
	snprintf(v->what, sizeof(v->what), "%s", what);
	snprintf(v->reason, sizeof(v->reason), "%s%s%s", what, *what ? ": " : "", reason);
}

void uprobe_arm64_judge(struct uprobe_kernel k, uint32_t insn, struct uprobe_verdict *v)
{
	const char *what = FIND(simulated, insn);
	const char *never = FIND(refused, insn);
	const char *name = FIND(named, insn);

	*v = (struct uprobe_verdict){.len = 4};
	if (what)
		set_verdict(v, UPSNAP_EMULATED, what, "the kernel does it, one trap");
	else if (never)
		set_verdict(v, UPSNAP_CLASS_UNKNOWN, never, "the kernel refuses it");
	else if (insn == NOP && k.simulates_nops)
		set_verdict(v, UPSNAP_EMULATED, "nop", "the kernel steps over it, one trap");
	else if (insn == NOP)
		set_verdict(v, UPSNAP_OUT_OF_LINE, "nop",
			    "takes a slot and two traps before Linux 6.13");
	else
		set_verdict(v, UPSNAP_OUT_OF_LINE, name ? name : "",
			    "takes a slot on each hit, two traps");
}
