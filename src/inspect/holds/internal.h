/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_HOLDS_INTERNAL_H
#define KONTEND_INSPECT_HOLDS_INTERNAL_H

#include "holds-shared.h"
#include "kontend/snapshot-holds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;
struct bpf_prog_info;

/* attach.c: the programs at functions of the kernel. */
struct holds_function {
	const char *name;
	uint32_t kinds; /* bits of enum raw_holds_kind that it takes or releases */
	bool releases;
	bool needed; /* without it the kind cannot be measured */
};

enum { HOLDS_FUNCTIONS = 20 };
extern const struct holds_function holds_functions[HOLDS_FUNCTIONS];

/* By function; descriptors that are not there are -1. */
struct holds_programs {
	int programs[HOLDS_FUNCTIONS], links[HOLDS_FUNCTIONS];
};

/* Where the instructions of a function of a program are. */
struct holds_code {
	uint64_t at, len;
};

enum { HOLDS_CODE_EACH = 4, HOLDS_CODE = HOLDS_FUNCTIONS * HOLDS_CODE_EACH };

/* Those of one time, in sum. */
struct holds_runs {
	uint64_t runs, run_ns, missed;
};

/* Before @o is loaded: leaves out programs at functions that this kernel lacks. */
int holds_leave_out(struct bpf_object *o, const void *types);
void holds_programs_init(struct holds_programs *p, struct bpf_object *o);
/* Places those of @kinds, and removes the others. 0 or a negative errno. */
int holds_programs_attach(struct holds_programs *p, uint32_t kinds);
struct holds_runs holds_programs_runs(const struct holds_programs *p);
/* Those of all programs. Returns how many, none where addresses are withheld. */
size_t holds_programs_code(const struct holds_programs *p, struct holds_code ret[HOLDS_CODE]);
/* "mutex_lock, down_read" of @kinds, that are not placed; "": none. */
void holds_programs_lack(const struct holds_programs *p, uint32_t kinds, char *buf, size_t size);

/* symbols.c: addresses, of the kernel's from one pass over kallsyms. */
struct holds_symbols {
	uint64_t functions[HOLDS_FUNCTIONS]; /* 0: not known */
	uint64_t lock; /* of the variable that was asked for; 0: there is none */
	struct holds_code code[HOLDS_CODE]; /* of the programs */
	size_t n_code;
	bool by_frames; /* of x86-64: it follows frame pointers, and has no table of frames (ORC) */
};

/* 0 or a negative errno. */
int holds_symbols_read(const char *path, const char *lock, struct holds_symbols *ret);
/*
 * How many frames at the begin are not of the caller: the program, the kernel's trampoline to it,
 * and the function itself, which is missing where the trampoline is jumped to (Linux 7).
 */
uint32_t holds_symbols_inner(const struct holds_symbols *s, const uint64_t *frames, uint32_t n);

#endif
