/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_NAMES_H
#define KONTEND_QUERY_NAMES_H

#include "../internal.h"
#include "kontend/funcsnap.h"
#include "kontend/lockname.h"
#include "kontend/query-functions.h"
#include "kontend/query-samples.h"
#include "kontend/srclines.h"
#include "kontend/usersyms.h"
#include "kontend/vmlinux.h"

/*
 * The names of functions, source lines and places, from all sources of them: the recording, files
 * of programs, the file of the kernel, debug information.
 *
 * lines.c: the source line of @frame; of an address to which a call returns, the line of the call.
 * With SRCLINES_OK *ret is set, else *ret_why: the reason, as text.
 */
enum srclines_answer query_place(struct query *q, uint64_t frame, bool is_return,
				 const struct srclines_place **ret, const char **ret_why);
/* srclines_member() of the file with that number in q->users. */
enum srclines_answer query_member(struct query *q, uint32_t file, uint64_t at,
				  struct srclines_member *ret);
/* "dir/file.c:12", in the arena; NULL: unknown, or no memory. */
const char *query_place_text(struct query *q, const struct srclines_frame *f);
/*
 * Writes the functions of a call chain to @ret, innermost first, with inlined ones, whose names end
 * in " (inlined)". Returns their number. @ret has room for @most, which is at least @n.
 */
uint32_t query_chain_funcs(struct query *q, const uint64_t *frames, uint32_t n, uint32_t *ret,
			   uint32_t most);
/*
 * chains.c: the same for a call chain of the profile, or of a wait without the functions that
 * reported it; cached as long as names are. NULL: no memory.
 */
const struct query_chain *query_sample_chain(struct query *q, uint32_t stack);
const struct query_chain *query_wait_chain(struct query *q, uint32_t stack);
void query_chains_drop(struct query_cache *c);
/* The text of a source line, cleaned, with blanks for tabs; in the arena. NULL: not readable. */
const char *query_source_text(struct query *q, uint64_t frame, const struct srclines_frame *f);
void query_lines_deinit(struct query *q);

/* query.c: adds a function. @name lives as long as the cache; NULL: the address is its name. */
uint32_t query_func_add(struct query *q, uint64_t start, const char *name, const char *object);

/* query.c: the function "object+0xoffset" at @frame, which has no name because of @why. */
uint32_t query_func_unnamed(struct query *q, uint64_t frame, const char *object, const char *why);

/* user.c: the symbol of a program's file that contains @frame. */
enum usersym_answer query_user_symbol(struct query *q, uint64_t frame, struct usersym *ret);
/* Build id of the file with the names of object @object: its length; 0: unknown. */
size_t query_user_build_id(struct query *q, uint32_t object, uint8_t ret[20]);
/* The function of a program that contains @frame. */
uint32_t query_user_func(struct query *q, uint64_t frame);
/*
 * Up to @n bytes of the function of a program that begins at @start; *ret_path: the file, as the
 * kernel names it. Both are set only with USERSYM_OK.
 */
enum usersym_answer query_user_bytes(struct query *q, uint64_t start, void *ret, size_t n,
				     size_t *ret_n, const char **ret_path);
/* Makes q->users if there is none. 0 or -ENOMEM. */
int query_open_names(struct query *q);
/* The number in q->users of the file that contains @frame. 0; -ENOENT: none; -ENOMEM. */
int query_user_file(struct query *q, uint64_t frame, uint32_t *ret);
/* Bounds the memory of names and lines. Call it at the begin of a frame: no caller has rows then.
 */
void query_users_tidy(struct query *q);
void query_users_deinit(struct query *q);

/*
 * recorded.c: functions that the recording itself describes, for readers without their files. All
 * answers are borrowed until the next query_sync().
 *
 * The function that contains @frame; NULL: none is recorded, or q->cache->failed.
 */
const struct funcsnap_func *recorded_func(struct query *q, uint64_t frame);
/*
 * The name of the variable, or of a member of it, with the lock of a program @n, as
 * query_variable() gave it where it was recorded; NULL: none.
 */
const char *recorded_variable(struct query *q, const struct lockname *n);
const char *recorded_name(const struct query *q, const struct funcsnap_func *f);
/* The code of the function that begins at @start. */
bool recorded_bytes(struct query *q, uint64_t start, const uint8_t **ret, size_t *ret_n);
void query_recorded_deinit(struct query *q);

/*
 * variables.c: the name of the variable with the lock of a program @n, or of the member of one:
 * "server.conn.lock", "pool[3].lock", "hot_mutex+0x28" without debug information; in the arena.
 * NULL: none is known, or not yet. Of a name that files give *ret_file, if not NULL, is the file's
 * number in q->users.
 */
const char *query_variable(struct query *q, const struct lockname *n, uint32_t *ret_file);
/*
 * origin.c: the place in a program, by its calls @frames, innermost first: @ret as in query_origin,
 * with a text in the arena. True: names are still to come.
 */
struct query_origin;
bool query_user_at(struct query *q, const uint64_t *frames, uint32_t n, struct query_origin *ret);

/* variables.c: adds the names of all such variables to @ret, unsorted. 0 or -ENOMEM. */
int query_variables(struct query *q, const struct query_functions_limits *l, struct funcsnap *ret);

/*
 * vmlinux.c: the place of an address of the kernel, or of a module, in the file of it, and the
 * number of that file in q->users. SRCLINES_OK, PENDING, NO_MEMORY, or SRCLINES_KERNEL with
 * *ret_why. Needs q->engine->lines.
 */
enum srclines_answer query_vmlinux(struct query *q, uint64_t addr, uint32_t *ret_file,
				   uint64_t *ret_addr, const char **ret_why);
/* The build id of the kernel (@object: NULL) or of "[module]". Returns false if it is unknown. */
bool query_kernel_build_id(const struct query *q, const char *object, struct vmlinux *ret);
void query_vmlinux_deinit(struct query *q);

/*
 * statics.c: the lock that functions that wait for @lock, or in the other mode for @twin
 * (UINT32_MAX: there is none), take alone: a static one, "ptl sh/612" of page tables, or of an
 * object that is not known "d_lock (dentry)". NULL: not known.
 */
enum statics_of {
	STATICS_EVERYWHERE = 1, /* nothing that is another one in the next boot */
	STATICS_IN_CACHE = 2,	/* it is known to be in a slab cache */
};
const char *query_static_lock(struct query *q, uint32_t lock, uint32_t twin, enum statics_of of);

/* steady.c: how much the name of a lock says. */
enum query_name_rank {
	QUERY_NAME_ADDRESS,
	QUERY_NAME_FUNCTION, /* that waits, with the end of the address */
	QUERY_NAME_CACHE,    /* the same with the slab cache */
	QUERY_NAME_TYPE,     /* which lock it is, of an object that is not known */
	QUERY_NAME_LOCK,
};
/*
 * The name that lock @lock is shown with: @name, or one that was shown before and says more, or as
 * much where both are by functions that wait. NULL: @name is NULL.
 */
const char *query_steady_name(struct query *q, uint32_t lock, const char *name,
			      enum query_name_rank rank);
/* Bounds their memory. Call it at the begin of a frame: no caller has rows then. */
void query_steady_tidy(struct query *q);
void query_steady_deinit(struct query *q);

/* places.c: the places of call chains, each made once, in the query's arena. */
struct places {
	struct query *q;
	struct map64
		known[2]; /* of frames, and of addresses to which calls return: index in `all` */
	const struct query_place **all;
	size_t n, cap;
	struct map64 files; /* number of a program's file -> index in `codes` */
	const struct query_code **codes;
	size_t n_codes, cap_codes;
	bool lines;  /* with source lines, from debug information */
	bool failed; /* an allocation failed */
};

/* The places of frames @from to @n of a chain; @ret has room for them. */
void places_of_chain(struct places *p, const uint64_t *frames, uint32_t from, uint32_t n,
		     const struct query_place **ret);
void places_deinit(struct places *p);

/* list.c: a name for a sentence: "task 5216" for "-/5216", a task without a name; others unchanged.
 */
const char *query_in_words(struct query *q, const char *name);

#endif
