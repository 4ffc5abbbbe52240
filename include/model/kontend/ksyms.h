/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KSYMS_H
#define KONTEND_KSYMS_H

#include "kontend/map64.h"
#include "kontend/maps.h"
#include "kontend/strpool.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Code that the kernel makes while it runs, and what it calls it: BPF programs and trampolines,
 * and copies out of line for ftrace and kprobes. An address has the name of the code that is there
 * at this moment of the stream: it becomes a frame with the number of that name (maps.h), as
 * other code may be there later.
 */

/* The code of a number. Numbers begin with 1. */
struct ksym {
	uint64_t start;	  /* as a kernel frame */
	uint32_t len;	  /* bytes */
	uint32_t first;	  /* number of the first one with this name and kind, which may be itself */
	const char *name; /* interned, unchanged from the kernel */
	bool is_bpf;
};

enum {
	KSYMS_MOST = 1 << 14,	  /* names and places; more are left out */
	KSYMS_LONGEST = 64 << 20, /* bytes: no code of that kind is longer */
};

/* Numbers that were given: they stay, and copies of a model share them. */
struct ksym_set;

/* Code that is there, up to its end or where the next one begins. */
struct ksym_range {
	uint64_t start, end;
	uint32_t number;
};

struct ksyms {
	struct ksym_set *set;
	struct ksym_range *ranges; /* by start; no two have the same */
	size_t n, cap;
	uint64_t low, high; /* no range is outside of it; 0, 0: there is none */
	uint64_t dropped;   /* registered, but too long, or without room for the name */
};

int ksyms_init(struct ksyms *k); /* 0 or -ENOMEM */
int ksyms_copy(struct ksyms *dst, const struct ksyms *src);
void ksyms_deinit(struct ksyms *k);
/*
 * Code is registered or unregistered (EVENT_KSYMBOL). Older code that it covers is gone, unless
 * the event has no time: perf then says a whole page for what is shorter. 0 or -ENOMEM.
 */
int ksyms_event(struct ksyms *k, const struct event *ev);
/* The frame of @frame, one of the kernel, at this moment. */
uint64_t ksyms_find(const struct ksyms *k, uint64_t frame);
static inline uint64_t ksyms_frame(const struct ksyms *k, uint64_t frame)
{
	return frame - k->low < k->high - k->low ? ksyms_find(k, frame) : frame;
}

/*
 * The same for a call chain of kernel addresses: @frames itself where none is in such code, else
 * @buf, which has room for @n.
 */
const uint64_t *ksyms_chain(const struct ksyms *k, const uint64_t *frames, uint32_t n,
			    uint64_t *buf);

/* The code whose number @frame has; NULL: @frame has none. Valid until ksyms_event(). */
const struct ksym *ksyms_get(const struct ksyms *k, uint64_t frame);
/* The address of any kernel frame. */
uint64_t ksyms_address(const struct ksyms *k, uint64_t frame);
/* Those of a chain: @frames itself if it has no such code, else @buf, with room for @n. */
const uint64_t *ksyms_addresses(const struct ksyms *k, const uint64_t *frames, uint32_t n,
				uint64_t *buf);
size_t ksyms_bytes(const struct ksyms *k);

#endif
