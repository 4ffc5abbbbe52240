/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_KERNEL_H
#define KONTEND_SRC_FILE_KERNEL_H

#include "kontend/error.h"
#include "kontend/filemap.h"
#include "kontend/reader.h"
#include "kontend/thisboot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A cache (cachefile.h) of /proc/kallsyms: the kernel takes longer to print it than a report of
 * 500,000 events takes.
 */

struct cachefile;
struct features;

/* A text of kallsyms: in heap memory, or a part of a file. `= {0}` is none. Its address must not
 * change: the guard of a mapped file is in a list. */
struct kallsyms_text {
	const char *text; /* not terminated by NUL; NULL: there is none */
	size_t len;
	char *heap;
	struct cachefile *kept;
	struct filemap file;
};

void kallsyms_text_deinit(struct kallsyms_text *t);

/* Identifies the kernel code in memory: while it is equal, /proc/kallsyms is unchanged. */
struct kallsyms_cache_state {
	char boot[THISBOOT_ID];
	uint64_t modules; /* hash of their names, sizes and addresses */
	uint64_t bpf;	  /* hash of the ids of programs and links */
};

/* 0, or a negative errno: the state is unknown, so no cache can be used. */
int kallsyms_cache_now(struct kallsyms_cache_state *ret);
/* Hash of the text of /proc/modules, without the fields that change while modules stay loaded. */
uint64_t kallsyms_cache_modules(const char *text);

/* The lines of @text that sym_load() uses, into @ret, which has room for @len + 1. Returns
 * bytes. */
size_t kallsyms_without_padding(const char *text, size_t len, char *ret);

/* The cached text, if it is of @state. 0, -ENOENT or another errno with @ret empty. */
int kallsyms_cache_load(const struct kallsyms_cache_state *state, struct kallsyms_text *ret);
/* Replaces the cache by @text. 0 or a negative errno, with nothing changed. */
int kallsyms_cache_store(const struct kallsyms_cache_state *state, const char *text, size_t len);

enum { KERNEL_WHY = 512 };

/* Where the recorded kernel had _text, or instead _stext; 0: not known. */
struct kernel_place {
	uint64_t addr;
	bool is_stext;
};

/* Symbols of a kernel in a file that the user has given: kernel-given.c. `= {0}` is none. */
struct kernel_given {
	const char *path; /* borrowed; NULL: none was given */
	char *text;	  /* as of kallsyms, terminated by NUL */
	size_t len;
	uint64_t at[2]; /* of _text and _stext in it; 0: it has none */
	uint8_t id[20];
	size_t id_len;
};

/* Reads @o->symbols. 0, -ENOMEM, or another negative errno with @err. */
int kernel_given_read(struct kernel_given *ret, const struct reader_options *o, struct error *err);
void kernel_given_deinit(struct kernel_given *g);
/*
 * The text for a recording with these features and this place of the kernel, into @ret, which is
 * empty if the file is not of its kernel; @say: a sentence about that. 0 or -ENOMEM.
 */
int kernel_given_symbols(struct kernel_given *g, const struct features *f,
			 const struct kernel_place *k, struct kallsyms_text *ret,
			 char say[KERNEL_WHY]);

/*
 * The text of /proc/kallsyms, if the running kernel is the one of the recording: same release, same
 * build id if the file has one, and loaded at the same address if @k has that; or the text from
 * our cache or perf's. Otherwise @ret is empty and @why names the difference. *ret_is_here: it is
 * the running kernel, and its address was compared. 0 or -ENOMEM. @o has the function that opens
 * files. kallsyms_text_deinit() @ret.
 */
int kernel_symbols(const struct features *f, const struct reader_options *o,
		   const struct kernel_place *k, struct kallsyms_text *ret, bool *ret_is_here,
		   char why[KERNEL_WHY]);
static const char kernel_kallsyms[] = "/proc/kallsyms";
/* The text of the running kernel, from the cache if nothing has changed. 0 or -errno. */
int kernel_running_text(struct kallsyms_text *ret);
/* The running kernel's GNU build id into @id (20 bytes); returns its size, 0 = unknown. */
size_t kernel_build_id(uint8_t id[20]);

#endif
