/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERSYMS_H
#define KONTEND_USERSYMS_H

#include "kontend/error.h"
#include "kontend/file-access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Functions of programs and libraries by file offset, and of JIT compilers by address. Files are
 * read in steps, between which a screen can be drawn: asking for a name of what is not loaded yet
 * says so, and has it loaded by the next usersyms_load_some(). Every failure has a reason to be
 * shown. All that is read is taken for hostile. One thread.
 */
struct usersyms;

struct usersyms_config {
	/* Was what is looked up recorded by this machine, since it booted? Else processes of the
	 * same number are others, and a file is the one recorded only if its build id says so. */
	bool same_machine;
	const char *proc;	/* NULL: "/proc"; both are borrowed until usersyms_free() */
	const char *debug_root; /* NULL: "/usr/lib/debug" */
	/* Who opens files; NULL: we do. Borrowed as well. */
	const struct file_access *door;
	/* Are symbols that took long to read kept for the next time (cachefile.h)? */
	bool keep;
	uint64_t keep_least_ns, keep_most; /* so long; bytes of all: for tests; 0: usual */
	uint64_t tables_most; /* bytes of tables that usersyms_tidy() keeps; the same */
	uint64_t
		jit_pause_ns; /* before names that a process lacks are looked for again; the same */
};

enum usersym_answer {
	USERSYM_OK,
	USERSYM_PENDING, /* not loaded yet */
	USERSYM_NO_FILE,
	USERSYM_NO_RIGHT,   /* may not be read by this user */
	USERSYM_OTHER_FILE, /* the build id differs from the one recorded */
	USERSYM_UNSURE,	    /* recorded elsewhere, without a build id */
	USERSYM_NOT_ELF,    /* or damaged */
	USERSYM_NO_TABLE,   /* stripped, and no separate symbols */
	USERSYM_NO_SYMBOL,  /* none covers the place */
	USERSYM_SLOTS,	    /* no file: where the kernel has uprobes stepped out of line */
	/* Bytes of code that is in the memory of a process alone: */
	USERSYM_MEMORY_GONE,   /* which has ended, or has it no more */
	USERSYM_MEMORY_DENIED, /* which may not be read by this user */
	USERSYM_NO_DESCRIPTOR, /* as many files are open as may be: asked again later */
	USERSYM_NOT_BELIEVED,  /* names by a file that neither root, we nor its process owns */
	USERSYM_NO_MEMORY,
	USERSYM_ANSWERS,
};

/* "the build id differs", for people; never NULL. */
const char *usersym_reason(enum usersym_answer a);

struct usersym {
	const char *name; /* demangled, clean; until usersyms_free() */
	uint64_t start;	  /* file offset (JIT: address) of its first byte */
	uint64_t size;
};

int usersyms_new(struct usersyms **ret, const struct usersyms_config *c, struct error *err);
void usersyms_free(struct usersyms *u); /* NULL is fine */

/*
 * A number for a file as the kernel names it in mappings, "[vdso]" and "... (deleted)" included.
 * The same path and build id have one number, whatever the process; through the last @pid given
 * (0: none) the file is opened. Nothing is read. @build_id: at most 20 bytes are kept. 0 or
 * -ENOMEM.
 */
int usersyms_object(struct usersyms *u, const char *path, const uint8_t *build_id,
		    size_t build_id_len, pid_t pid, uint32_t *ret);
/* @ret is set with USERSYM_OK alone. */
enum usersym_answer usersyms_lookup(struct usersyms *u, uint32_t object, uint64_t file_offset,
				    struct usersym *ret);
/* The address that the file says of the place, whether or not it has a name. */
enum usersym_answer usersyms_address(struct usersyms *u, uint32_t object, uint64_t file_offset,
				     uint64_t *ret);
/* A function that is asked for by its name. */
struct usersym_wanted {
	const char *name; /* as in the table of symbols; borrowed */
	uint64_t arg;	  /* the caller's */
	uint64_t addr;	  /* that the file says of one of them */
	unsigned n;	  /* so many are called so */
};

/* Fills in `addr` and `n` of each, by one walk through the table. */
enum usersym_answer usersyms_functions(struct usersyms *u, uint32_t object,
				       struct usersym_wanted *wanted, size_t n);
/* Of the file that names are from, at most 20 bytes; 0: not loaded, or it has none. */
size_t usersyms_build_id(const struct usersyms *u, uint32_t object, uint8_t ret[20]);
/*
 * Code that process @pid made, by what its compiler writes: /tmp/perf-PID.map, or the dump that it
 * has mapped.
 */
enum usersym_answer usersyms_lookup_jit(struct usersyms *u, pid_t pid, uint64_t addr,
					struct usersym *ret);
/* @pid has mapped the file @path, jit-PID.dump, as those do who write one. 0 or -ENOMEM. */
int usersyms_jitdump(struct usersyms *u, pid_t pid, const char *path);
/*
 * Bytes of such code from @addr on, at most @n, out of the dump, or, if no file has them, out of
 * the memory of the process that wrote the map; *ret_path: of the dump, or says so; until
 * usersyms_free().
 */
enum usersym_answer usersyms_bytes_jit(struct usersyms *u, pid_t pid, uint64_t addr, void *ret,
				       size_t n, size_t *ret_n, const char **ret_path);
/*
 * Has it no names but those that it exports, or none? Then those of a debug file are of use: @fd is
 * one that came from elsewhere, and stays the caller's. If it is of the object's build id and has
 * symbols, these are loaded.
 */
bool usersyms_is_poor(const struct usersyms *u, uint32_t object);
void usersyms_give(struct usersyms *u, uint32_t object, int fd);
/*
 * Bytes of the file from @file_offset on, at most @n: *ret_n are there. Read now, from the file
 * that the names are of.
 */
enum usersym_answer usersyms_bytes(struct usersyms *u, uint32_t object, uint64_t file_offset,
				   void *ret, size_t n, size_t *ret_n);

/*
 * Loads what was asked for until @budget_ns have passed, at least one step (some milliseconds).
 * True: there is more to do. *ret_changed: names may be there that were not.
 */
bool usersyms_load_some(struct usersyms *u, uint64_t budget_ns, bool *ret_changed);
/*
 * Now and then, as at the begin of a frame: bounds what tables of symbols take. Those that were not
 * looked into for longest are forgotten, and read anew when they are. Names that were given stay.
 */
void usersyms_tidy(struct usersyms *u);
/* What is to be said about the symbols that are kept, for people, once; NULL: nothing new. */
const char *usersyms_note(struct usersyms *u);
/* How many files have their symbols kept, and the bytes that takes. 0 or a negative errno. */
int usersyms_kept(size_t *ret_n, uint64_t *ret_size);

#endif
