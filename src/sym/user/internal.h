/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_USERSYMS_INT_H
#define KONTEND_SYM_USERSYMS_INT_H

#include "jit.h"
#include "kontend/cachefile.h"
#include "kontend/map64.h"
#include "kontend/usersyms.h"

#include <errno.h>
#include <sys/stat.h>

enum { USERSYM_ID_MAX = 20 };

/* Identity of a file whose symbols were read. A build id is not enough: any user can write any. */
struct usersym_file {
	uint64_t ino, size, mtime_ns, ctime_ns;
};

/* Symbols of one file, under all its names. */
struct usersym_image {
	uint64_t dev;
	struct usersym_file file;
	enum usersym_answer answer; /* PENDING: being read */
	struct symtab table;
	struct elfimg_segment *segments;
	size_t n_segments;
	uint8_t id[USERSYM_ID_MAX]; /* build id */
	uint8_t id_len;
	bool poor;		  /* not from a full symbol table */
	int given;		  /* a debug file from another source; -1: none */
	uint64_t used;		  /* time of last use by the clock of usersyms */
	bool distrusted;	  /* its cached table is damaged */
	bool keep;		  /* write it to the cache, under `key`: */
	struct cachefile_key key; /* without a name: it cannot be cached */
};

struct usersym_object {
	const char *path;
	uint8_t id[USERSYM_ID_MAX];
	uint8_t id_len;
	bool asked;
	bool is_trusted; /* nothing shows that it is the recorded file */
	struct usersym_inode inode;
	enum usersym_answer answer; /* USERSYM_OK: ask the image */
	pid_t pid;
	uint32_t next; /* next object with the same hash, + 1 */
	struct usersym_image *image;
};

/* A symbol table being read, and its names. */
struct usersym_source {
	const struct elfimg *elf;
	const struct elfimg_section *symbols, *names;
};

enum usersym_stage {
	STAGE_DEBUG, /* a separate file by build id */
	STAGE_LINK,  /* by name */
	STAGE_SUM,   /* verify its checksum */
	STAGE_KEPT,  /* all that follows may be in the cache */
	STAGE_PACKED,
	STAGE_NAMES,
	STAGE_SYMBOLS,
	STAGE_STUBS,
	STAGE_SORT,
	STAGE_DONE,
};

/* The one file being loaded, in steps. */
struct usersym_load {
	struct usersym_object *object; /* NULL: none */
	struct usersym_image *image;
	enum usersym_stage stage, after_kept;
	struct elfimg main, debug, packed;
	void *unpacked; /* unpacked .gnu_debugdata */
	int root_fd;	/* of the process's mount namespace, or -1 */
	struct usersym_source sources[2];
	size_t n_sources, source;
	uint64_t at;
	size_t text_base;
	/* Separate file by name and checksum. */
	char link[256];
	uint32_t link_sum, sum;
	unsigned candidate;
	uint64_t spent_ns;
};

struct usersyms {
	struct usersyms_config config;
	struct strpool names;
	struct usersym_object **objects;
	size_t n_objects, cap_objects;
	struct map64 by_key; /* hash -> index + 1 */
	struct usersym_image **images;
	size_t n_images, cap_images;
	uint32_t *queue; /* requested objects; those below `head` are loaded */
	size_t n_queue, cap_queue, head;
	struct usersym_jit **jits;
	size_t n_jits, cap_jits, jit_turn; /* turn: the next one to be replaced */
	struct map64 jit_by_pid;	   /* index + 1 */
	bool jit_asked, grown;		   /* grown: since the last tidying */
	uint64_t clock;
	uint64_t rounds;	       /* of tidying */
	uint64_t dropped, fixed_bytes; /* tables; of objects and images, which stay */
	struct usersym_load load;
	struct cachefile_write keeping;
	char note[320]; /* "": no message */
	bool noted;
};

/* Steps of the current load. True: there are more. */
bool usersym_load_begin(struct usersyms *u, struct usersym_object *o);
bool usersym_load_step(struct usersyms *u);
void usersym_load_end(struct usersym_load *l);

struct usersym_file usersym_file_of(const struct stat *st);
/* True: the image got its table from the cache; nothing needs to be read. */
bool symbol_cache_find(struct usersyms *u, struct usersym_load *l);
/* Decides if the table just loaded is worth caching. */
void symbol_cache_want(const struct usersyms *u, struct usersym_load *l);
/* Writes the next part of the cache. True: there is more. */
bool symbol_cache_step(struct usersyms *u);
/* The cached table in use is damaged: reads the file again. */
enum usersym_answer symbol_cache_lost(struct usersyms *u, uint32_t object);

/* Descriptor of a regular file, or -errno. Links cannot lead out of @root_fd. */
int usersym_open_in(const struct usersyms *u, int root_fd, const char *path,
		    int flags /* O_NOFOLLOW, or 0 */);
/* True if there are too many open files. */
static inline bool usersym_is_short(int code)
{
	return code == -EMFILE || code == -ENFILE;
}
/* Root folder of the process's mount namespace; -1: gone, or access denied. */
int usersym_open_root(const struct usersyms *u, pid_t pid);
/* Opens the file of an object, checks its build id, and sets its root (-1: kontend's own). */
enum usersym_answer usersym_open(const struct usersyms *u, struct usersym_object *o,
				 struct elfimg *ret, int *ret_root);

/*
 * Separate symbols. Each call is a step of the search. 1: found, in l->debug or l->packed; 0: none;
 * 2: call again. Or -ENOMEM.
 */
int usersym_debug_by_id(struct usersyms *u, struct usersym_load *l);
int usersym_debug_by_link(struct usersyms *u, struct usersym_load *l);
int usersym_debug_sum(struct usersym_load *l);
int usersym_debug_packed(struct usersym_load *l);
/* Queues an object for loading. PENDING, or NO_MEMORY. */
enum usersym_answer usersym_ask(struct usersyms *u, uint32_t object);
/* Drops the names of its image and reads them again. PENDING, or NO_MEMORY. */
enum usersym_answer usersym_reload(struct usersyms *u, uint32_t object);

#endif
