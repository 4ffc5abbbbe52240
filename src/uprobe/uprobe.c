// SPDX-License-Identifier: GPL-2.0-only
/*
 * The class of a probe, for all machines, and cheaper places for it. Code can only be decoded
 * forwards, so before the probe only nops are recognized, by their bytes.
 */
#include "kontend/uprobe.h"

#include <stdio.h>
#include <string.h>

struct uprobe_kernel uprobe_kernel_of(const char *release)
{
	unsigned major = 0, minor = 0;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return (struct uprobe_kernel){0};
	return (struct uprobe_kernel){
		.optimizes = major > 6 || (major == 6 && minor >= 18),
		.simulates_nops = major > 6 || (major == 6 && minor >= 13),
	};
}

const char *uprobe_class_name(enum upsnap_class c)
{
	switch (c) {
	case UPSNAP_OPTIMIZED:
		return "optimized";
	case UPSNAP_EMULATED:
		return "emulated";
	case UPSNAP_OUT_OF_LINE:
		return "out of line";
	default:
		return "-";
	}
}

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

size_t uprobe_length(enum uprobe_machine m, const uint8_t *bytes, size_t n)
{
	if (m == UPROBE_X86_64)
		return uprobe_x86_length(bytes, n);
	return m == UPROBE_ARM64 && n >= 4 ? 4 : 0;
}

void uprobe_judge(enum uprobe_machine m, struct uprobe_kernel k, const uint8_t *bytes, size_t n,
		  uint64_t offset, struct uprobe_verdict *ret)
{
	*ret = (struct uprobe_verdict){0};
	if (m == UPROBE_X86_64)
		uprobe_x86_judge(k, bytes, n, offset, ret);
	else if (m == UPROBE_ARM64 && n >= 4)
		uprobe_arm64_judge(k, word_at(bytes), ret);
	else
		snprintf(ret->reason, sizeof(ret->reason), "%s",
			 n ? "instructions of this machine are not known here"
			   : "its instruction cannot be read");
}

/*
 * Length of a nop that ends at @at: only those that compilers and USDT macros emit. Before a
 * function it is padding: then the caller passes no bytes before @at.
 */
static size_t nop_before(enum uprobe_machine m, const uint8_t *bytes, size_t at)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	static const uint8_t nop_arm64[] = {0x1f, 0x20, 0x03, 0xd5};

	if (m == UPROBE_ARM64)
		return at >= 4 && !memcmp(bytes + at - 4, nop_arm64, 4) ? 4 : 0;
	if (m != UPROBE_X86_64)
		return 0;
	if (at >= 5 && !memcmp(bytes + at - 5, nop5, 5))
		return 5;
	/* 90 may also be the end of another instruction: two of them count as none. */
	return at >= 2 && bytes[at - 1] == 0x90 && bytes[at - 2] == 0x90 ? 1 : 0;
}

int uprobe_hint(enum uprobe_machine m, struct uprobe_kernel k, const uint8_t *bytes, size_t n,
		size_t at, uint64_t offset, struct uprobe_verdict *ret)
{
	struct uprobe_verdict here, other;

	if (at >= n)
		return 0;
	uprobe_judge(m, k, bytes + at, n - at, offset, &here);
	if (here.class_ != UPSNAP_OUT_OF_LINE || !here.len)
		return 0;
	if (here.len < n - at) {
		uprobe_judge(m, k, bytes + at + here.len, n - at - here.len, offset + here.len,
			     &other);
		/* Another function begins after a return or a jump. */
		bool goes_on = strcmp(here.what, "ret") && strcmp(here.what, "indirect jmp");
		if (goes_on &&
		    (other.class_ == UPSNAP_EMULATED || other.class_ == UPSNAP_OPTIMIZED)) {
			*ret = other;
			return (int)here.len;
		}
	}
	size_t before = nop_before(m, bytes, at);
	if (!before || before > offset)
		return 0;
	uprobe_judge(m, k, bytes + at - before, n - at + before, offset - before, &other);
	if (other.class_ != UPSNAP_EMULATED && other.class_ != UPSNAP_OPTIMIZED)
		return 0;
	*ret = other;
	return -(int)before;
}
