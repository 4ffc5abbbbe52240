/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRCLINES_H
#define KONTEND_SRCLINES_H

#include "kontend/usersyms.h"

/*
 * Lines of source and inlined functions of places in programs, from debug information. That may be
 * hundreds of megabytes, so a thread of its own looks, for what is asked for: asking never waits.
 * Answers are kept.
 */
struct srclines;

enum srclines_answer {
	SRCLINES_PENDING, /* being looked for */
	SRCLINES_OK,
	SRCLINES_NO_FILE, /* not to be opened: usersyms_lookup() says why */
	SRCLINES_NO_INFO, /* no debug information */
	SRCLINES_NO_LINE, /* it says nothing of this place */
	SRCLINES_NO_MEMORY,
	SRCLINES_NOT_BUILT, /* kontend was built without libdw */
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
	size_t n; /* at least 1; the last one is a function that was not inlined */
	struct srclines_frame frames[SRCLINES_FRAMES];
};

/* @files must outlive it. 0 or -ENOMEM. The thread begins with the first place asked for. */
int srclines_new(struct srclines **ret, struct usersyms *files, struct error *err);
void srclines_free(struct srclines *l); /* waits for what the thread is doing; NULL is fine */

/* @object: of usersyms_object(). *ret is set with SRCLINES_OK, and stays until srclines_free(). */
enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret);
/* Has there been an answer since the last call? Then it is worth drawing again. */
bool srclines_changed(struct srclines *l);
/* Until everything that was asked for is answered. */
void srclines_wait(struct srclines *l);

#endif
