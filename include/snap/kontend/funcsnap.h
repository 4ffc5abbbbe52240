/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FUNCSNAP_H
#define KONTEND_FUNCSNAP_H

#include "kontend/sections.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names of all recorded functions, and the code of the most expensive ones: the payload of
 * SNAPSHOT_FUNCS, so that another machine needs neither the programs nor the kernel. References as
 * in upsnap.h: to objects by index + 1, to texts by offset, 0: none; all are valid after decoding.
 */
enum { FUNCSNAP_VERSION = 1 };

struct funcsnap_head {
	uint64_t left_names, left_code; /* functions without room */
	uint64_t no_code;		/* functions with unreadable code */
};

/* As in maps.h. */
struct funcsnap_object {
	uint32_t path; /* text */
	int32_t pid;   /* of anonymous memory: its process */
	uint32_t maj, min;
	uint64_t ino;
	uint8_t id[20]; /* build id of the file that the names are from */
	uint8_t id_len;
	uint8_t pad[3];
};

/* Of a variable with a lock: `start` is this, and bytes after the object's first in memory. */
#define FUNCSNAP_DATA (1ull << 62)

struct funcsnap_func {
	uint64_t start; /* offset in the object; kernel and memory: address */
	uint64_t size;
	uint32_t object; /* 0: the kernel, whose names are in kallsyms */
	uint32_t name;	 /* text */
	uint32_t code;	 /* offset of its bytes */
	uint32_t code_len;
};

struct funcsnap {
	struct funcsnap_head head;
	struct funcsnap_object *objects;
	struct funcsnap_func *funcs; /* by object and start, once funcsnap_sort() was called */
	char *strings;		     /* begins with NUL and ends with NUL */
	uint8_t *code;
	size_t n_objects, n_funcs, n_strings, n_code;
	size_t cap_objects, cap_funcs, cap_strings, cap_code;
};

SECTIONS_FUNCTIONS(funcsnap)
SECTIONS_ADD(funcsnap, func, funcs, struct funcsnap_func)
/* Index + 1; 0: no memory. */
uint32_t funcsnap_add_object(struct funcsnap *s, const struct funcsnap_object *item);
/* Copies the text and returns its offset; 0: no memory. */
uint32_t funcsnap_add_text(struct funcsnap *s, const char *text);
/* Sets `code` and `code_len` of @f. 0 or -ENOMEM. */
int funcsnap_add_code(struct funcsnap *s, struct funcsnap_func *f, const void *bytes, size_t n);
void funcsnap_sort(struct funcsnap *s);
/*
 * Merges @from into @to, both sorted; may change @from, which stays the caller's. 1: something was
 * new; 0; -ENOMEM, with a part merged; -ENOSPC: too large.
 */
int funcsnap_merge(struct funcsnap *to, struct funcsnap *from);

/* The function of @object that covers @at, or begins there if its size is not known; NULL: none. */
const struct funcsnap_func *funcsnap_find(const struct funcsnap *s, uint32_t object, uint64_t at);

#endif
