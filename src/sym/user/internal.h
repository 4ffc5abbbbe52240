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

/* A file that symbols were read from. A build id says it, but whoever wrote it could say any. */
struct usersym_file {
	uint64_t ino, size, mtime_ns, ctime_ns;
};

/* What was read of one file, whatever names it has. */
struct usersym_image {
	uint64_t dev;
	struct usersym_file file;
	enum usersym_answer answer; /* PENDING: being read */
	struct symtab table;
	struct elfimg_segment *segments;
	size_t n_segments;
	uint8_t id[USERSYM_ID_MAX]; /* build id */
	uint8_t id_len;
	bool poor;		  /* not from a whole table */
	int given;		  /* a debug file from elsewhere; -1: none */
	uint64_t used;		  /* by the clock of usersyms */
	bool distrusted;	  /* what was kept of it is damaged */
	bool keep;		  /* it is to be kept by that: */
	struct cachefile_key key; /* no name: it cannot be */
};

struct usersym_object {
	const char *path;
	uint8_t id[USERSYM_ID_MAX];
	uint8_t id_len;
	bool asked;
	enum usersym_answer answer; /* USERSYM_OK: ask the image */
	pid_t pid;
	uint32_t next; /* of the same hash, + 1 */
	struct usersym_image *image;
};

/* A table of symbols that is being read, and the names it uses. */
struct usersym_source {
	const struct elfimg *elf;
	const struct elfimg_section *symbols, *names;
};

enum usersym_stage {
	STAGE_DEBUG, /* a separate file by build id */
	STAGE_LINK,  /* by name */
	STAGE_SUM,   /* is it the right one? */
	STAGE_KEPT,  /* all that follows may have been done before */
	STAGE_PACKED,
	STAGE_NAMES,
	STAGE_SYMBOLS,
	STAGE_STUBS,
	STAGE_SORT,
	STAGE_DONE,
};

/* The one file that is being loaded, in steps. */
struct usersym_load {
	struct usersym_object *object; /* NULL: none is */
	struct usersym_image *image;
	enum usersym_stage stage, after_kept;
	struct elfimg main, debug, packed;
	void *unpacked; /* bytes of .gnu_debugdata */
	int root_fd;	/* of the process's mount namespace, or -1 */
	struct usersym_source sources[2];
	size_t n_sources, source;
	uint64_t at;
	size_t text_base;
	/* The separate file by name and checksum. */
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
	uint32_t *queue; /* objects asked for; those below `head` are loaded */
	size_t n_queue, cap_queue, head;
	struct usersym_jit **jits;
	size_t n_jits, cap_jits, jit_turn; /* turn: the one that makes room next */
	struct map64 jit_by_pid;	   /* index + 1 */
	bool jit_asked, grown;		   /* grown: since they were tidied */
	uint64_t clock;
	struct usersym_load load;
	struct cachefile_write keeping;
	char note[320]; /* "": nothing to be said */
	bool noted;
};

/* Steps of the load that is begun. True: there are more. */
bool usersym_load_begin(struct usersyms *u, struct usersym_object *o);
bool usersym_load_step(struct usersyms *u);
void usersym_load_end(struct usersym_load *l);

struct usersym_file usersym_file_of(const struct stat *st);
/* True: the table of the image is what was kept of it, and nothing is to be read. */
bool symbol_cache_find(struct usersyms *u, struct usersym_load *l);
/* The table of the image was just loaded: is it worth to be kept? */
void symbol_cache_want(const struct usersyms *u, struct usersym_load *l);
/* A step of that. True: there are more. */
bool symbol_cache_step(struct usersyms *u);
/* What was kept, and is in use, turned out to be damaged: it is to be read again. */
enum usersym_answer symbol_cache_lost(struct usersyms *u, uint32_t object);

/* Descriptor of a regular file, links in it leading nowhere but below @root_fd; or -errno. */
int usersym_open_in(const struct usersyms *u, int root_fd, const char *path,
		    int flags /* O_NOFOLLOW, or 0 */);
/* Is it the code of who may not open more files? */
static inline bool usersym_is_short(int code)
{
	return code == -EMFILE || code == -ENFILE;
}
/* The mount namespace of a process; -1: not there, or not to be looked at. */
int usersym_open_root(const struct usersyms *u, pid_t pid);
/* The file of an object, whose build id is compared, and its root (-1: ours), if it is OK. */
enum usersym_answer usersym_open(const struct usersyms *u, const struct usersym_object *o,
				 struct elfimg *ret, int *ret_root);

/*
 * Separate symbols. Each: a step of looking for them; 1: found, in l->debug or l->packed; 0: they
 * are not there; 2: again. Or -ENOMEM.
 */
int usersym_debug_by_id(struct usersyms *u, struct usersym_load *l);
int usersym_debug_by_link(struct usersyms *u, struct usersym_load *l);
int usersym_debug_sum(struct usersym_load *l);
int usersym_debug_packed(struct usersym_load *l);
/* Has an object loaded when its turn comes. PENDING, or NO_MEMORY. */
enum usersym_answer usersym_ask(struct usersyms *u, uint32_t object);
/* Forgets the names of its image: they are read anew. PENDING, or NO_MEMORY. */
enum usersym_answer usersym_reload(struct usersyms *u, uint32_t object);

#endif
