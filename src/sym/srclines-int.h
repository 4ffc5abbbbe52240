/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_INT_H
#define KONTEND_SYM_SRCLINES_INT_H

#include "kontend/srclines.h"
#include "srclines-fetch.h"
#include "srclines-proc.h"
#include "srclines-search.h"

enum srclines_state { FILE_NEW, FILE_MISSING /* debuginfod is asked */, FILE_OPEN, FILE_FAILED };

struct srclines_asked {
	uint64_t addr;
	enum srclines_answer answer;
	struct srclines_place *found;
};

struct srclines_object {
	uint32_t object;
	enum srclines_state state;
	enum srclines_answer answer; /* FAILED */
	const char *why;	     /* NULL: the answer says all */
	/* Files from elsewhere; -1: none. */
	int debug, shared;
	/* Asked for, or it is: the build id of one of these. */
	uint8_t wants[FETCH_ID_MOST];
	size_t wants_len;
	bool wants_shared;
	uint64_t used;
	struct map64 by_addr;
	struct srclines_asked *places;
	size_t n, cap, answered;
};

struct srclines {
	struct usersyms *users;
	struct srclines_config config;
	struct map64 by_object;
	struct srclines_object *files;
	size_t n_files, cap_files, n_places;
	struct strpool names;
	struct srclines_proc proc;
	struct srclines_search search;
	struct srclines_fetch fetch;
	size_t fetching;  /* the file that it is for */
	size_t missing;	  /* files of this state */
	size_t asking;	  /* the file that is looked for, or asked about */
	bool searching;	  /* it is looked for */
	size_t awaited;	  /* answers of the question that is under way */
	uint64_t sent_ns; /* since when */
	uint64_t clock;
	unsigned starts;
	bool given_up, too_long;
	struct srclines_msg msg;
};

/* srclines.c: no line of it is to be had from now on. @why: NULL: the answer says all. */
void srclines_fail(struct srclines *l, struct srclines_object *f, enum srclines_answer a,
		   const char *why);

/* srclines-find.c: the search for the file with debug information, begun for l->asking. */
void srclines_begin_search(struct srclines *l);
void srclines_search_on(struct srclines *l);
/* A step of asking debuginfod. False: there is nothing to do now. */
bool srclines_fetch_on(struct srclines *l, bool *ret_changed);

/* srclines-talk.c: has l->asking opened by the process, which begins if there is none; asks it. */
void srclines_ask_to_open(struct srclines *l);
void srclines_ask_places(struct srclines *l);
/* Takes what has been answered. False: there is nothing to be taken now. */
bool srclines_receive(struct srclines *l, bool *ret_changed);

#endif
