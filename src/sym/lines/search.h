/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_SEARCH_H
#define KONTEND_SYM_SRCLINES_SEARCH_H

#include "kontend/srclines.h"
#include "user/internal.h"

/* Search for the file with the debug information of an object, in steps. */
struct srclines_search {
	struct usersyms *files;
	struct usersym_load load;
	enum usersym_stage stage;
	struct elfimg shared;	    /* alternate debug file; fd -1: none */
	const struct elfimg *found; /* one of `load`, which owns the descriptor */
	/* Build id of an alternate debug file that is missing; length 0: none missing. */
	uint8_t lacks[ELFIMG_BUILD_ID_MAX];
	size_t lacks_len;
};

/*
 * SRCLINES_PENDING: call srclines_search_step(); else the reason. Call srclines_search_end() in any
 * case.
 */
enum srclines_answer srclines_search_begin(struct srclines_search *s, struct usersyms *files,
					   uint32_t object);
/* PENDING: call again; OK: `found` and `shared` are set. */
enum srclines_answer srclines_search_step(struct srclines_search *s);
/*
 * Continues after NO_INFO with a downloaded file: OK if it is the one searched for. The search
 * closes @fd in any case.
 */
enum srclines_answer srclines_search_give(struct srclines_search *s, int fd);
/* The same for a missing `shared` file. A wrong file is closed. */
void srclines_search_give_shared(struct srclines_search *s, int fd);
void srclines_search_end(struct srclines_search *s);

#endif
