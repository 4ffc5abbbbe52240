/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_H
#define KONTEND_UPROBE_H

#include "kontend/upsnap-items.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a probe costs follows from the instruction that it replaced: the kernel does some itself
 * (emulated), some become a call when they are a 5-byte nop (optimized), all others are executed in
 * a slot out of line, with a second trap behind them.
 */
enum uprobe_machine { UPROBE_OTHER, UPROBE_X86_64, UPROBE_ARM64 };

/* What the kernel can do, by its release. */
struct uprobe_kernel {
	bool optimizes;	     /* x86-64, 6.18: 5-byte nops; and emulates nops of any length */
	bool simulates_nops; /* arm64, 6.13 */
};

struct uprobe_kernel uprobe_kernel_of(const char *release);

struct uprobe_verdict {
	enum upsnap_class class_;
	uint32_t len;	  /* of the instruction; 0: not known */
	char what[48];	  /* "push %rbp", "ret"; "" for those without a name here */
	char reason[112]; /* of the class, in words */
};

/*
 * The @n bytes of the instruction at file offset @offset (its place in the page counts), up to 16.
 * Bytes that are no instruction we know of are UPSNAP_CLASS_UNKNOWN.
 */
void uprobe_judge(enum uprobe_machine m, struct uprobe_kernel k, const uint8_t *bytes, size_t n,
		  uint64_t offset, struct uprobe_verdict *ret);
/* Bytes of the instruction; 0: not known, or not all there. */
size_t uprobe_length(enum uprobe_machine m, const uint8_t *bytes, size_t n);

/*
 * Would the probe be cheaper an instruction further, or on the nop right before it? @bytes are
 * those around it, @at its own place in them. Distance in bytes and what is there; 0: no.
 */
int uprobe_hint(enum uprobe_machine m, struct uprobe_kernel k, const uint8_t *bytes, size_t n,
		size_t at, uint64_t offset, struct uprobe_verdict *ret);

/* "out of line"; "-" when not known. */
const char *uprobe_class_name(enum upsnap_class c);

/* A line of tracefs' uprobe_events. */
struct uprobe_line {
	char group[64], event[64], path[256];
	uint64_t offset, ref_ctr;
	bool is_return;
};

bool uprobe_line_parse(const char *text, struct uprobe_line *ret);
/* Hits in the line of uprobe_profile that is of @event; false: it is of another one. */
bool uprobe_profile_parse(const char *text, const char *event, uint64_t *ret);

/* The parts, by machine. */
void uprobe_x86_judge(struct uprobe_kernel k, const uint8_t *bytes, size_t n, uint64_t offset,
		      struct uprobe_verdict *ret);
size_t uprobe_x86_length(const uint8_t *bytes, size_t n);
void uprobe_arm64_judge(struct uprobe_kernel k, uint32_t insn, struct uprobe_verdict *ret);

#endif
