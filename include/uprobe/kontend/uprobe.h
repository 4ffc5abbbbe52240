/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_H
#define KONTEND_UPROBE_H

#include "kontend/error.h"
#include "kontend/upsnap-items.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The cost of a probe depends on the instruction that it replaces: the kernel emulates some, turns
 * a 5-byte nop into a call (optimized), and executes all others out of line in a slot, followed by
 * a second trap.
 */
enum uprobe_machine { UPROBE_OTHER, UPROBE_X86_64, UPROBE_ARM64 };

/* Abilities of a kernel, by its release. */
struct uprobe_kernel {
	bool optimizes;	     /* x86-64, 6.18: 5-byte nops; and emulates nops of any length */
	bool simulates_nops; /* arm64, 6.13 */
};

struct uprobe_kernel uprobe_kernel_of(const char *release);

struct uprobe_verdict {
	enum upsnap_class class_;
	uint32_t len;	  /* of the instruction; 0: not known */
	char what[48];	  /* "push %rbp", "ret"; "": no name known */
	char reason[112]; /* of the class, for users */
};

/*
 * Classifies the instruction of @n bytes, up to 16, at file offset @offset (its place in the page
 * matters). Unknown instructions are UPSNAP_CLASS_UNKNOWN.
 */
void uprobe_judge(enum uprobe_machine m, struct uprobe_kernel k, const uint8_t *bytes, size_t n,
		  uint64_t offset, struct uprobe_verdict *ret);
/* Length of the instruction; 0: not known, or truncated. */
size_t uprobe_length(enum uprobe_machine m, const uint8_t *bytes, size_t n);

/*
 * Would the probe be cheaper one instruction later, or on the nop right before it? @bytes are
 * around the probe, which is at @at. Returns the distance in bytes and sets @ret to the instruction
 * there; 0: no.
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
/* Hits in a line of uprobe_profile for @event; false: a line of another event. */
bool uprobe_profile_parse(const char *text, const char *event, uint64_t *ret);

/*
 * The place of a probe as users give it: BINARY:FUNCTION, BINARY:FUNCTION+BYTES,
 * BINARY:FUNCTION%return, or BINARY:OFFSET into the file. Numbers are decimal or 0x.
 */
struct uprobe_spec {
	char binary[256];   /* a path, or a name without a slash */
	char function[160]; /* "": `offset` is into the file */
	uint64_t offset;    /* else from the start of the function */
	bool is_return;
};

/* 0, or -EINVAL with a message. */
int uprobe_spec_parse(const char *text, struct uprobe_spec *ret, struct error *err);

/*
 * Cost of a hit on this machine: measured by `kontend bench uprobe` and kept until the next boot in
 * a small file. ns of one hit on one CPU, with a probe that counts; 0: not measured.
 */
struct uprobe_costs {
	uint64_t ns[UPSNAP_OUT_OF_LINE + 1][2]; /* by enum upsnap_class; [1]: return probes */
};

/* 0; -ENOENT: not measured since boot; or another negative errno. */
int uprobe_cost_load(struct uprobe_costs *ret);
int uprobe_cost_store(const struct uprobe_costs *c, struct error *err);

/* Implementation by machine. */
void uprobe_x86_judge(struct uprobe_kernel k, const uint8_t *bytes, size_t n, uint64_t offset,
		      struct uprobe_verdict *ret);
size_t uprobe_x86_length(const uint8_t *bytes, size_t n);
void uprobe_arm64_judge(struct uprobe_kernel k, uint32_t insn, struct uprobe_verdict *ret);

#endif
