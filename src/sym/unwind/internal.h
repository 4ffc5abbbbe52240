/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_UNWIND_INT_H
#define KONTEND_SYM_UNWIND_INT_H

#include "kontend/cfisnap.h"
#include "kontend/elfimg.h"
#include "kontend/unwind.h"
#include "kontend/usersyms.h"

/* Common parts of the unwinders: files, mappings, registers. */

/*
 * The exception tables of a file: .eh_frame_hdr, which is sorted by address, and .eh_frame, as one
 * piece of memory, with their virtual addresses in the file.
 */
struct unwind_tables {
	uint8_t *bytes; /* NULL: no tables */
	uint64_t addr;	/* of the first byte */
	size_t len;
	uint64_t header;	    /* address of .eh_frame_hdr */
	size_t entries;		    /* in the header, 8 bytes each, from its byte 12 on */
	enum usersym_answer answer; /* of opening the file */
	struct elfimg_segment *segments;
	size_t n_segments;
	uint8_t *image; /* built by libdw.c, with the bytes in it; NULL: not yet */
	void *rules;	/* the same; */
	void (*free_rules)(void *rules);
	uint64_t used; /* by the clock of `unwind` */
};

/*
 * The header's format that linkers write (DW_EH_PE_*): addresses of 32 bits, relative to their own
 * place; a 32-bit count; a table of 32 bits, relative to the header.
 */
enum {
	UNWIND_HEADER_SIZE = 12,
	UNWIND_ENTRY_SIZE = 8,
	UNWIND_HEADER_VERSION = 1,
	UNWIND_ENCODED_PLACE = 0x1b,
	UNWIND_ENCODED_COUNT = 0x03,
	UNWIND_ENCODED_TABLE = 0x3b,
};

/* frames.c: @t has the bytes of .eh_frame only: adds a header. 0, with or without tables, or
 * -ENOMEM. */
int unwind_frames_index(struct unwind_tables *t, bool is_64);

/* tables.c: 0, with or without tables; -ENOMEM. */
int unwind_tables_load(struct unwind_tables *t, const struct elfimg *e);
/* Copies the tables of @s into @t, which has none. NULL, or no memory: @t stays empty. */
void unwind_tables_take(struct unwind_tables *t, const struct cfisnap *s);
void unwind_tables_deinit(struct unwind_tables *t);

/* A file's tables at their place in a process. */
struct unwind_view {
	const struct unwind_tables *tables;
	uint64_t bias; /* address in the process minus address in the file */
};

struct unwind_machine {
	const char *name; /* as uname() has it */
	uint16_t elf;	  /* EM_* */
	uint8_t perf_fp, perf_sp, perf_ip;
	uint8_t n_regs;
	const int8_t *perf_regs; /* by DWARF register number */
};

struct unwind_backend;

struct unwind {
	const struct unwind_machine *machine;
	const struct unwind_backend *backend;
	struct usersyms *files;
	struct unwind_config config;
	struct unwind_tables **tables; /* by object; NULL: not read yet */
	size_t cap;
	uint64_t clock;
};

/*
 * Drops the tables that were used least recently, if all have more than @most bytes. No space may
 * have mappings set: the caller sets them afterwards. Returns how many were dropped.
 */
size_t unwind_tidy(struct unwind *u, size_t most);

struct unwind_space {
	struct unwind *u;
	void *own; /* private data of the backend */
	const struct unwind_map *maps;
	size_t n_maps;
	struct unwind_view *views;
	size_t n_views, cap_views, last;
	/* State of the current stack. */
	const struct unwind_sample *sample;
	uint64_t sp, ip;     /* of its first frame */
	uint64_t unknown_ip; /* address of the last failed table lookup */
	long reads_left;
	bool is_cut, is_unknown;
	bool is_searching; /* for a table, not for a frame */
};

/* Finds frames. One backend for each library. */
struct unwind_backend {
	bool (*is_for)(const struct unwind_machine *m);
	int (*open)(struct unwind_space *s); /* 0 or -ENOMEM */
	void (*close)(struct unwind_space *s);
	void (*forget)(struct unwind_space *s); /* the mappings have changed */
	/* Adds frames outside of the first, which is set, up to @most in all; *ret_end: why it
	 * stopped. */
	size_t (*walk)(struct unwind_space *s, struct unwind_frame *ret, size_t most,
		       enum unwind_end *ret_end);
};

/* NULL: built without the library. */
const struct unwind_backend *unwind_by_libunwind(void);
const struct unwind_backend *unwind_by_libdw(void);

/* libdw.c: as unwind_rule_of(), for an address in the file. -ENOTSUP: built without the library. */
int unwind_rule_by_libdw(struct unwind_tables *t, const struct unwind_machine *m, uint64_t addr,
			 struct unwind_rule *ret);

/* Instructions of x86-64 with a distance to their end. */
enum {
	UNWIND_CALL = 0xe8,
	UNWIND_CALL_SIZE = 5,
	UNWIND_JUMP = 0xe9,
	UNWIND_JUMP_SHORT = 0xeb,
};

/* Bytes of code: as many of @n from @at on as there are. */
struct unwind_code {
	size_t (*read)(void *ctx, uint64_t at, void *ret, size_t n);
	void *ctx;
};

/* code.c: the rule of x86-64 code where a thread goes on, by its instructions. 0 or -ENOENT. */
int unwind_rule_by_code(const struct unwind_code *code, uint64_t at, struct unwind_rule *ret);
/* Where it continues: @addr, or right after it, if that is the last byte of a call. */
uint64_t unwind_goes_on(const struct unwind_code *code, uint64_t addr);

/* False: its code has none; backends guess then. */
bool unwind_has_table(struct unwind_space *s, uint64_t addr);
const struct unwind_map *unwind_find_map(const struct unwind_space *s, uint64_t ip);
/* The tables of a mapping, at their place in the process. NULL: none. */
const struct unwind_view *unwind_view_of(struct unwind_space *s, const struct unwind_map *m);
/* Where the function at an address begins, by the tables of its file; 0: they do not show it. */
uint64_t unwind_begin_of(struct unwind_space *s, uint64_t addr);
/* A register of the sample by its DWARF number. */
bool unwind_reg(const struct unwind_space *s, unsigned reg, uint64_t *ret);
/* A word of the stack dump. False: outside of it. */
bool unwind_stack_word(const struct unwind_space *s, uint64_t addr, uint64_t *ret);
void unwind_put_frame(const struct unwind_space *s, uint64_t ip, bool is_return,
		      struct unwind_frame *ret);
/* Why there are no tables for the code at unknown_ip. */
enum unwind_end unwind_no_tables(const struct unwind_space *s);

#endif
