/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRCLINES_H
#define KONTEND_SRCLINES_H

#include "kontend/usersyms.h"

/*
 * Source lines and inlined functions of program code, from debug information. A worker process
 * reads that: debug information may have hundreds of megabytes, and damaged files can crash the
 * library that reads it. Lookups never block; answers are cached. Answers of the worker are
 * untrusted input. For one thread.
 */
struct srclines;

enum srclines_answer {
	SRCLINES_PENDING, /* being looked up */
	SRCLINES_OK,
	SRCLINES_NO_FILE, /* cannot be opened: usersyms_lookup() has the reason */
	SRCLINES_NO_INFO, /* no debug information */
	SRCLINES_NO_LINE, /* the debug information does not cover this place */
	SRCLINES_DAMAGED, /* unreadable: srclines_why() */
	SRCLINES_NO_MEMORY,
	SRCLINES_NOT_BUILT, /* kontend was built without libdw */
	SRCLINES_GIVEN_UP,  /* too many files were damaged */
	SRCLINES_TOO_LONG,  /* srclines_wait() ended before the answer */
	SRCLINES_KERNEL,    /* kernel code whose debug file is not known */
	SRCLINES_ANSWERS,
};

const char *srclines_reason(enum srclines_answer a); /* for users; never NULL */

/*
 * The place is in line @line of @file, in @function, which is inlined into that of the next frame.
 */
struct srclines_frame {
	const char *function; /* demangled, no control characters; "": not known */
	const char *file;     /* path from the compiler, no control characters; "": not known */
	uint32_t line;	      /* 0: not known */
};

enum { SRCLINES_FRAMES = 16 };

struct srclines_place {
	size_t n; /* at least 1; innermost first: the last function is not inlined */
	struct srclines_frame frames[SRCLINES_FRAMES];
};

struct srclines_config {
	/* How to start the worker: arguments for this program's own file, ended by NULL; it must
	 * call srclines_work(). NULL: no lookups. Borrowed. */
	const char *const *argv;
	const char *root; /* prefix of the paths of kernel files; NULL: "" */
	/* The same for the worker that asks debuginfod for missing debug files: it must call
	 * srclines_fetch() with the last argument. Two arguments. NULL: debuginfod is not asked. */
	const char *const *fetch_argv;
	const struct file_access *door; /* starts these and opens files; NULL: directly. Borrowed */
	size_t places_most; /* places that srclines_tidy() keeps: for tests; 0: default */
	bool no_inline;	    /* for call trees: leave out inlined functions */
};

/* main() runs the worker if argv[1] is this. */
#define SRCLINES_WORKER_ARG "--internal-srclines-worker"
extern const char *const srclines_worker_argv[];
/* Main loop of the worker, over descriptor SRCLINES_FD. Returns an exit status. */
int srclines_work(void);
enum { SRCLINES_FD = 3 };

/* The same for the debuginfod worker, argv[1] of 3: it fetches one file. Returns an exit status. */
#define SRCLINES_FETCH_ARG "--internal-debuginfod-worker"
extern const char *const srclines_fetch_argv[];
int srclines_fetch(const char *build_id);

/* @files must outlive it. 0 or -ENOMEM. The worker starts at the first lookup. */
int srclines_new(struct srclines **ret, struct usersyms *files, const struct srclines_config *c,
		 struct error *err);
void srclines_free(struct srclines *l); /* ends the worker; NULL is fine */

/*
 * Call when no result of srclines_find() is in use: where very many places are cached, it drops
 * them all, and lookups ask again. Texts of frames stay.
 */
void srclines_tidy(struct srclines *l);

/*
 * @object: from usersyms_object(). SRCLINES_OK sets *ret, which stays until srclines_tidy(). Only
 * the first `n` of its frames are in memory.
 */
enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret);
/* The same by virtual address in the file. */
enum srclines_answer srclines_find_addr(struct srclines *l, uint32_t object, uint64_t addr,
					const struct srclines_place **ret);
/* The member of a variable. */
struct srclines_member {
	/* By the types: "[3].lock"; "" is all of it, "+0x8" at the end bytes into a member. */
	const char *way;
	const char *function; /* that the variable is within; "": none */
	uint64_t into;	      /* bytes after the variable's begin */
};

/* That which is @at bytes after the place in memory where the file's first byte is. */
enum srclines_answer srclines_member(struct srclines *l, uint32_t object, uint64_t at,
				     struct srclines_member *ret);
/* Why an object has no lines, for users; NULL: the answer code says all. */
const char *srclines_why(const struct srclines *l, uint32_t object);

/*
 * Looks for files, sends questions and receives answers for about @budget_ns; never blocks. True:
 * there is more to do at once. *ret_changed: an answer has come.
 */
bool srclines_pump(struct srclines *l, uint64_t budget_ns, bool *ret_changed);
/* Readable when srclines_pump() can read answers; -1: no question is open. */
int srclines_fd(const struct srclines *l);
/*
 * Waits until all questions are answered or @most_ns have passed. After that, or when the process
 * is asked to end (asked.h), the rest is TOO_LONG from now on. True: an answer has come.
 */
bool srclines_wait(struct srclines *l, uint64_t most_ns);

/*
 * Texts of source lines (srctext.c). Debug information, which any user may have written, names the
 * files; so when kontend runs as root it shows only files that are world-readable. Caches recent
 * files. For one thread.
 */
struct srclines_text;

enum { SRCLINES_TEXT_MOST = 400 }; /* bytes of a line, with its NUL; longer lines are cut */

/* @files must outlive it. 0 or -ENOMEM. */
int srclines_text_new(struct srclines_text **ret, struct usersyms *files, struct error *err);
void srclines_text_free(struct srclines_text *s); /* NULL is fine */
/*
 * Line @line, from 1 on, of file @path, opened as the process that ran @object sees it, else as
 * kontend does. Control characters are removed, tabs become blanks, trailing blanks are cut. False:
 * the line cannot be read.
 */
bool srclines_text_line(struct srclines_text *s, uint32_t object, const char *path, uint32_t line,
			char ret[SRCLINES_TEXT_MOST]);

#endif
