// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the instruction that a probe replaced: the first byte of the input selects the
 * machine and kernel, the second the offset in its page. An instruction lies within the given
 * bytes, every class has a length and a reason, and the alternative in a hint is cheaper.
 */
#include "fuzz.h"
#include "kontend/uprobe.h"
#include <string.h>

enum { INSN_MAX = 15, ARM64_INSN = 4 };

static bool is_whole(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static void check_verdict(enum uprobe_machine m, const struct uprobe_verdict *v, size_t n)
{
	fuzz_require(v->class_ <= UPSNAP_OUT_OF_LINE);
	fuzz_require(v->len <= n && v->len <= INSN_MAX);
	fuzz_require(v->class_ == UPSNAP_CLASS_UNKNOWN || v->len);
	fuzz_require(m != UPROBE_ARM64 || !v->len || v->len == ARM64_INSN);
	fuzz_require(is_whole(v->what, sizeof(v->what)));
	fuzz_require(is_whole(v->reason, sizeof(v->reason)) && *v->reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uprobe_verdict v, other;

	if (size < 2)
		return 0;
	enum uprobe_machine m = (enum uprobe_machine)(data[0] % 3);
	struct uprobe_kernel k = {.optimizes = data[0] & 0x40, .simulates_nops = data[0] & 0x80};
	uint64_t offset = 0x1000u + data[1] * 16u;
	const uint8_t *code = data + 2;
	size_t n = size - 2, at = n ? data[1] % n : 0, rest = n - at;

	uprobe_judge(m, k, code, n < 16 ? n : 16, offset, &v);
	check_verdict(m, &v, n);
	fuzz_require(uprobe_length(m, code, n) <= n);
	int by = uprobe_hint(m, k, code, n, at, offset, &other);
	fuzz_require(by >= -(int)at && by <= (int)rest);
	if (!by)
		return 0;
	uprobe_judge(m, k, code + at, rest < 16 ? rest : 16, offset, &v);
	fuzz_require(other.class_ != UPSNAP_CLASS_UNKNOWN && other.class_ < v.class_);
	return 0;
}
