/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRCLINES_H
#define KONTEND_SRCLINES_H

#include "kontend/usersyms.h"

/*
 * Lines of source and inlined functions of places in programs, from debug information. Another
 * process reads that: it may be hundreds of megabytes, and damaged in ways that the library which
 * reads it does not stand. Asking never waits; answers are kept. What is answered is taken for
 * hostile. One thread.
 */
struct srclines;

enum srclines_answer {
	SRCLINES_PENDING, /* being looked for */
	SRCLINES_OK,
	SRCLINES_NO_FILE, /* not to be opened: usersyms_lookup() says why */
	SRCLINES_NO_INFO, /* no debug information */
	SRCLINES_NO_LINE, /* it says nothing of this place */
	SRCLINES_DAMAGED, /* it cannot be read: srclines_why() */
	SRCLINES_NO_MEMORY,
	SRCLINES_NOT_BUILT, /* kontend was built without libdw */
	SRCLINES_GIVEN_UP,  /* too many files were damaged */
	SRCLINES_TOO_LONG,  /* who may not wait any longer has stopped asking */
	SRCLINES_KERNEL,    /* of the kernel, and its file is not known */
	SRCLINES_ANSWERS,
};

const char *srclines_reason(enum srclines_answer a); /* for people; never NULL */

/* The place is in line @line of @file, in @function; that has been inlined in the next frame. */
struct srclines_frame {
	const char *function; /* demangled, clean; "": not known */
	const char *file;     /* a path as the compiler knew it, clean; "": not known */
	uint32_t line;	      /* 0: not known */
};

enum { SRCLINES_FRAMES = 16 };

struct srclines_place {
	size_t n; /* at least 1; innermost first: the last one is a function that is not inlined */
	struct srclines_frame frames[SRCLINES_FRAMES];
};

struct srclines_config {
	/* What the other process is: this program's own file with these arguments, NULL at the
	 * end, which must call srclines_work(). NULL: nobody is asked. Borrowed. */
	const char *const *argv;
	const char *root; /* before the paths of the kernel's files; NULL: "" */
	/* The same for the process that asks debuginfod for debug files that are not there, which
	 * must call srclines_fetch() with the last argument; two of these. NULL: it is not asked.
	 */
	const char *const *fetch_argv;
	const struct file_access *door; /* who runs these, and opens files; NULL: we do. Borrowed */
	size_t places_most;		/* that are kept by srclines_tidy(): for tests; 0: usual */
	bool no_inline;			/* for those who show call trees: without what is inlined */
};

/* How main() knows that it is the other process, as argv[1]. */
#define SRCLINES_WORKER_ARG "--internal-srclines-worker"
extern const char *const srclines_worker_argv[];
/* Its main loop, over descriptor SRCLINES_FD. An exit status. */
int srclines_work(void);
enum { SRCLINES_FD = 3 };

/* The same for the other one, as argv[1] of 3: it brings one file. An exit status. */
#define SRCLINES_FETCH_ARG "--internal-debuginfod-worker"
extern const char *const srclines_fetch_argv[];
int srclines_fetch(const char *build_id);

/* @files must outlive it. 0 or -ENOMEM. The process begins with the first place asked for. */
int srclines_new(struct srclines **ret, struct usersyms *files, const struct srclines_config *c,
		 struct error *err);
void srclines_free(struct srclines *l); /* ends the process; NULL is fine */

/*
 * Nobody holds a place any more: where there are very many, all are forgotten, and asked for anew.
 * Texts of frames stay.
 */
void srclines_tidy(struct srclines *l);

/*
 * @object: of usersyms_object(). *ret is set with SRCLINES_OK, and stays until srclines_tidy(). Of
 * its frames there are only the `n` first ones in memory.
 */
enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret);
/* The same by an address that the file says. */
enum srclines_answer srclines_find_addr(struct srclines *l, uint32_t object, uint64_t addr,
					const struct srclines_place **ret);
/* Why an object's lines are not to be had, for people; NULL: its answer says all. */
const char *srclines_why(const struct srclines *l, uint32_t object);

/*
 * Looks for files, sends questions, takes answers, as far as that needs no waiting, for about
 * @budget_ns. True: there is more to do at once. *ret_changed: something was answered.
 */
bool srclines_pump(struct srclines *l, uint64_t budget_ns, bool *ret_changed);
/* Readable when there are answers to be pumped; -1: nothing is being asked. */
int srclines_fd(const struct srclines *l);
/*
 * Until everything is answered, or until @most_ns have passed: then the rest is TOO_LONG from now
 * on, as it is when we are asked to end (asked.h). True: something was answered.
 */
bool srclines_wait(struct srclines *l, uint64_t most_ns);

#endif
