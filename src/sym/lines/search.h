/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_SEARCH_H
#define KONTEND_SYM_SRCLINES_SEARCH_H

#include "kontend/srclines.h"
#include "user/internal.h"

/* Looking for the file with the debug information of an object, in steps. */
struct srclines_search {
	struct usersyms *files;
	struct usersym_load load;
	enum usersym_stage stage;
	struct elfimg shared;	    /* what it has in common with others; fd -1: nothing */
	const struct elfimg *found; /* one of `load`, whose descriptor it is */
	/* The build id of what it has in common with others and is not here; length 0: nothing. */
	uint8_t lacks[ELFIMG_BUILD_ID_MAX];
	size_t lacks_len;
};

/* SRCLINES_PENDING: go on by steps; else why it is not to be had. End it in any case. */
enum srclines_answer srclines_search_begin(struct srclines_search *s, struct usersyms *files,
					   uint32_t object);
/* PENDING: there are more; OK: `found` and `shared` are set. */
enum srclines_answer srclines_search_step(struct srclines_search *s);
/*
 * With a file from elsewhere after it said NO_INFO: OK if that is what was looked for. @fd is
 * closed with the search in any case.
 */
enum srclines_answer srclines_search_give(struct srclines_search *s, int fd);
/* The same with a file for `shared` that is lacking. One that is not that is closed. */
void srclines_search_give_shared(struct srclines_search *s, int fd);
void srclines_search_end(struct srclines_search *s);

#endif
