// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a sample, from RAW on: the CPU's own call stack (LBR), the user registers and the dump
 * of the user stack. Every length is checked against the remaining bytes; nothing is copied. For
 * kernel threads the kernel writes "none" (abi 0, size 0); a dump has its real length.
 */
#include "sample.h"

/* Missing in headers of 5.13: 64-bit words, one per entry, after the entries. */
enum { BRANCH_COUNTERS = 1 << 19, BRANCH_WORDS = 3 };

/* The remaining bytes, and whether an error was found. */
struct rest {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t take_u64(struct rest *r)
{
	uint64_t v = 0;

	if (r->bad || r->end - r->p < 8) {
		r->bad = true;
		return 0;
	}
	v = load_u64(r->p);
	r->p += 8;
	return v;
}

/* @n items of @size bytes; NULL: truncated. */
static const void *take_items(struct rest *r, uint64_t n, size_t size)
{
	const uint8_t *at = r->p;

	if (r->bad || n > (size_t)(r->end - r->p) / size) {
		r->bad = true;
		return NULL;
	}
	r->p += n * size;
	return at;
}

/* RAW has a 32-bit size, chosen so that the next field is aligned. */
static void pass_raw(struct rest *r)
{
	const uint8_t *len = take_items(r, 1, 4);
	uint32_t n = len ? load_u32(len) : 0;

	take_items(r, n, 1);
	if ((4 + (uint64_t)n) % 8)
		r->bad = true;
}

static void take_branches(const struct decode_attr *a, struct rest *r, struct event *ev)
{
	uint64_t n = take_u64(r);

	if (a->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take_u64(r);
	const void *at = take_items(r, n, BRANCH_WORDS * 8);
	if (a->branch_type & BRANCH_COUNTERS)
		take_items(r, n, 8);
	if (r->bad || !(a->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return;
	ev->sample.branches = at;
	ev->sample.n_branches = (uint32_t)n;
}

static void take_registers(const struct decode_attr *a, struct rest *r, struct event *ev)
{
	uint64_t abi = take_u64(r);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	if (abi > PERF_SAMPLE_REGS_ABI_64)
		r->bad = true;
	ev->sample.regs = take_items(r, (uint64_t)__builtin_popcountll(a->regs_user), 8);
	ev->sample.regs_mask = a->regs_user;
	ev->sample.is_32bit = abi == PERF_SAMPLE_REGS_ABI_32;
}

static void take_stack(struct rest *r, struct event *ev)
{
	uint64_t size = take_u64(r), there;

	ev->sample.stack = take_items(r, size, 1);
	ev->sample.stack_len = 0;
	if (!size)
		return;
	there = take_u64(r);
	if (there > size || size % 8)
		r->bad = true;
	ev->sample.stack_len = (uint32_t)there;
}

int decode_user_part(const struct decode_attr *a, const uint8_t *p, const uint8_t *end,
		     struct event *ev)
{
	struct rest r = {.p = p, .end = end};

	if (a->sample_type & PERF_SAMPLE_RAW)
		pass_raw(&r);
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(a, &r, ev);
	if (a->sample_type & PERF_SAMPLE_REGS_USER)
		take_registers(a, &r, ev);
	if (a->sample_type & PERF_SAMPLE_STACK_USER)
		take_stack(&r, ev);
	/* Registers without a stack have no callers. */
	if (!(a->sample_type & PERF_SAMPLE_STACK_USER))
		ev->sample.regs = NULL;
	return r.bad ? DECODE_BAD : 0;
}
