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
 * Functions of programs and libraries by file offset, and of JIT-compiled code by address. Files
 * are read in steps, so that the screen can be drawn in between: a lookup in a file that is not
 * loaded yet answers USERSYM_PENDING, and the next usersyms_load_some() loads it. Each failure has
 * a reason for users. All input is untrusted. For one thread.
 */
struct usersyms;

struct usersyms_config {
	/* True: the events are from this machine and this boot. Else PIDs are those of other
	 * processes, and a file is the recorded one only if its build id is the same. */
	bool same_machine;
	/* Take a file without a build id by its path, even where nothing shows that it is the
	 * recorded one. */
	bool trust_paths;
	/* Not NULL: look for all files below this folder, and take those without a build id. */
	const char *symfs;
	const char *proc;	/* NULL: "/proc"; these paths are borrowed until usersyms_free() */
	const char *debug_root; /* NULL: "/usr/lib/debug" */
	/* Opens files; NULL: directly. Borrowed as well. */
	const struct file_access *door;
	/* Keep symbols that took long to read for the next run (cachefile.h). */
	bool keep;
	uint64_t keep_least_ns,
		keep_most;     /* least reading time; bytes in all: for tests; 0: default */
	uint64_t tables_most;  /* bytes of tables that usersyms_tidy() keeps; the same */
	uint64_t jit_pause_ns; /* pause before a missing JIT name is searched again; the same */
};

enum usersym_answer {
	USERSYM_OK,
	USERSYM_PENDING, /* not loaded yet */
	USERSYM_NO_FILE,
	USERSYM_NO_RIGHT,   /* the user may not read it */
	USERSYM_OTHER_FILE, /* the build id differs from the one recorded */
	USERSYM_UNSURE,	    /* recorded on another machine or boot, without a build id */
	USERSYM_CHANGED,    /* no build id, and the inode or its change time differ */
	USERSYM_NOT_ELF,    /* or damaged ELF */
	USERSYM_NO_TABLE,   /* stripped, and no separate symbols */
	USERSYM_NO_SYMBOL,  /* none covers the place */
	USERSYM_SLOTS,	    /* no file: memory where the kernel single-steps uprobes out of line */
	/* Code that exists only in the memory of a process ... */
	USERSYM_MEMORY_GONE,   /* which has ended, or no longer has it */
	USERSYM_MEMORY_DENIED, /* which this user may not read */
	USERSYM_NO_DESCRIPTOR, /* too many open files: tried again later */
	USERSYM_NOT_BELIEVED,  /* names from a file that belongs neither to root, kontend's user nor
				  the user of the process */
	USERSYM_NO_MEMORY,
	USERSYM_ANSWERS,
};

/* For users: "the build id differs"; never NULL. */
const char *usersym_reason(enum usersym_answer a);

struct usersym {
	const char *name; /* demangled, no control characters; until usersyms_free() */
	uint64_t start;	  /* file offset (JIT: address) of its first byte */
	uint64_t size;
};

int usersyms_new(struct usersyms **ret, const struct usersyms_config *c, struct error *err);
void usersyms_free(struct usersyms *u); /* NULL is fine */

/*
 * A number for a file as the kernel names it in mappings, "[vdso]" and "... (deleted)" included.
 * The same path and build id have one number in all processes; the file is opened through the last
 * @pid given (0: none). Reads nothing. @build_id: the first 20 bytes count. 0 or -ENOMEM.
 */
int usersyms_object(struct usersyms *u, const char *path, const uint8_t *build_id,
		    size_t build_id_len, pid_t pid, uint32_t *ret);
/*
 * The part of a mapping that shows which file it was, if it has no build id. A file at the path is
 * the same if it has this inode, and was not changed after it was mapped. Devices are compared if
 * the file's has a major number: those of btrfs and overlayfs have none, and stat() says another.
 */
struct usersym_inode {
	uint32_t maj, min;
	uint64_t ino;	    /* 0: not known, so the path alone decides */
	uint64_t mapped_ns; /* CLOCK_REALTIME; 0: not known */
};
/* usersyms_object() for such a file. */
int usersyms_object_at(struct usersyms *u, const char *path, const struct usersym_inode *inode,
		       pid_t pid, uint32_t *ret);
/* Sets @ret only with USERSYM_OK. */
enum usersym_answer usersyms_lookup(struct usersyms *u, uint32_t object, uint64_t file_offset,
				    struct usersym *ret);
/*
 * The variable @at bytes after the place in memory where the file's first byte is; its start is
 * counted likewise.
 */
enum usersym_answer usersyms_variable(struct usersyms *u, uint32_t object, uint64_t at,
				      struct usersym *ret);
/* The virtual address in the file of that place. */
enum usersym_answer usersyms_data(struct usersyms *u, uint32_t object, uint64_t at, uint64_t *ret);
/*
 * True if the object's names are those of a file at its path, and nothing shows that the file is
 * the recorded one: as `trust_paths` or `symfs` allows. usersyms_trusted(): the paths of these,
 * from *@at = 0 on; NULL: no more.
 */
bool usersyms_is_trusted(const struct usersyms *u, uint32_t object);
const char *usersyms_trusted(const struct usersyms *u, size_t *at);
extern const char usersym_trusted_note[]; /* a remark for users on such a name */
/* The virtual address in the file, whether or not the place has a name. */
enum usersym_answer usersyms_address(struct usersyms *u, uint32_t object, uint64_t file_offset,
				     uint64_t *ret);
/* A function to find by its name. */
struct usersym_wanted {
	const char *name; /* as in the symbol table; borrowed */
	uint64_t arg;	  /* the caller's */
	uint64_t addr;	  /* virtual address in the file of one match */
	unsigned n;	  /* number of functions with that name */
};

/* Fills in `addr` and `n` of each by one walk through the symbol table. */
enum usersym_answer usersyms_functions(struct usersyms *u, uint32_t object,
				       struct usersym_wanted *wanted, size_t n);
/* Build ID of the file that names are from, at most 20 bytes; 0: not loaded, or none. */
size_t usersyms_build_id(const struct usersyms *u, uint32_t object, uint8_t ret[20]);
/*
 * Code that process @pid compiled at run time, from the names that its JIT compiler writes:
 * /tmp/perf-PID.map, or the jitdump that it has mapped.
 */
enum usersym_answer usersyms_lookup_jit(struct usersyms *u, pid_t pid, uint64_t addr,
					struct usersym *ret);
/* Process @pid has mapped the file @path, jit-PID.dump, as writers of jitdumps do. 0 or -ENOMEM. */
int usersyms_jitdump(struct usersyms *u, pid_t pid, const char *path);
/*
 * Up to @n bytes of JIT code from @addr on, from the jitdump, or, if no file has them, from the
 * memory of the process that wrote the map. *ret_path: the path of the dump, or a text that names
 * the memory; valid until usersyms_free().
 */
enum usersym_answer usersyms_bytes_jit(struct usersyms *u, pid_t pid, uint64_t addr, void *ret,
				       size_t n, size_t *ret_n, const char **ret_path);
/*
 * True if the object has only exported names, or none. Then symbols of a debug file help: @fd is
 * one from another source and stays the caller's. If it has the object's build id and symbols,
 * these are loaded.
 */
bool usersyms_is_poor(const struct usersyms *u, uint32_t object);
void usersyms_give(struct usersyms *u, uint32_t object, int fd);
/*
 * Reads up to @n bytes from @file_offset on, now, from the file that the names are from. *ret_n:
 * number of bytes read.
 */
enum usersym_answer usersyms_bytes(struct usersyms *u, uint32_t object, uint64_t file_offset,
				   void *ret, size_t n, size_t *ret_n);

/*
 * Loads requested files until @budget_ns have passed, at least one step (some milliseconds). True:
 * there is more to do. *ret_changed: there may be new names.
 */
bool usersyms_load_some(struct usersyms *u, uint64_t budget_ns, bool *ret_changed);
/*
 * Call now and then, as at the start of a frame: limits the memory of symbol tables. It drops the
 * least recently used; the next lookup reads them again. Names already returned stay.
 */
void usersyms_tidy(struct usersyms *u);
/* Tables that it has dropped so far. */
uint64_t usersyms_dropped(const struct usersyms *u);
/*
 * True if names and files, which are never dropped one by one, take half as much as tables may: the
 * owner should begin with a new one when it needs no number and no name of this one any more.
 */
bool usersyms_is_worn(const struct usersyms *u);
/* A new message about cached symbols, for users; NULL: nothing new. */
const char *usersyms_note(struct usersyms *u);
/* Number and total size of files in the symbol cache. 0 or a negative errno. */
int usersyms_kept(size_t *ret_n, uint64_t *ret_size);

#endif
