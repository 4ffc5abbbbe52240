/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PORTER_H
#define KONTEND_PORTER_H

#include "kontend/error.h"
#include "kontend/fdpass.h"
#include <stdint.h>

/*
 * The porter: a process that stays outside the cage and does, when it is asked, one of a few deeds
 * that were settled before the first byte of the recording was read. He never reads a recording
 * himself. Whoever asks is taken for hostile: so a deed must check what it is asked for.
 */
enum { PORTER_TEXT = 4300, PORTER_KEEPS = 8 };

struct porter_ask {
	int64_t number;
	const char *text;     /* ends in a NUL; "": none */
	int fds[FDPASS_MOST]; /* that came along; -1: none; the porter closes them */
};

struct porter_answer {
	int64_t number; /* negative: -errno */
	char text[640]; /* for people, or a name */
	int fd;		/* goes along, and is closed here; -1: none */
};

struct porter_deed {
	void (*run)(void *ctx, const struct porter_ask *ask, struct porter_answer *ret);
};

struct porter {
	int pid; /* 0: there is none */
	int fd;
};

/*
 * Forks, so while there is but one thread. @deeds and @ctx are his own copy, as they are now. Of
 * descriptors he keeps those in @keep, under their numbers; -1: none.
 */
int porter_start(struct porter *p, const struct porter_deed *deeds, size_t n_deeds, void *ctx,
		 const int *keep, size_t n_keep, struct error *err);
/*
 * ret->fd is the caller's. 0, whatever the answer is; -ENOLINK: he has ended, so that there is no
 * answer; else what sendmsg() said.
 */
int porter_do(const struct porter *p, unsigned deed, const struct porter_ask *ask,
	      struct porter_answer *ret);
/* Nothing more will be asked: he ends. */
void porter_stop(struct porter *p);

#endif
