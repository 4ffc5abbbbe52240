/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_MSG_H
#define KONTEND_SYM_SRCLINES_MSG_H

#include "kontend/srclines.h"

/*
 * What kontend and the process that reads debug information say to each other: messages of at most
 * SRCLINES_MSG_MOST bytes, each one datagram, in this machine's byte order. Whoever gets one takes
 * it for hostile.
 */
enum srclines_msg_kind {
	/* Questions. Their answers come in the same order; a close has none. */
	SRCLINES_MSG_OPEN = 1, /* a file; descriptors come along: of it, and of what it shares */
	SRCLINES_MSG_FIND,     /* n places in a file: an answer each */
	SRCLINES_MSG_CLOSE,
	/* Answers. */
	SRCLINES_MSG_OPENED, /* `answer`, and why where it is not OK */
	SRCLINES_MSG_PLACE,  /* of an address */
	SRCLINES_MSG_KINDS,
};

enum {
	SRCLINES_MSG_MOST = 48 << 10,
	SRCLINES_MSG_PLACES = 256, /* in one question */
	SRCLINES_MSG_TEXT = 1024,  /* bytes of a name, with its NUL */
};

struct srclines_msg {
	enum srclines_msg_kind kind;
	uint32_t file;
	size_t n; /* FIND: addresses */
	uint64_t addrs[SRCLINES_MSG_PLACES];
	uint64_t addr; /* PLACE */
	enum srclines_answer answer;
	const char *why;	     /* OPENED: in the bytes; "": nothing more to say */
	struct srclines_place place; /* PLACE that is OK; texts are in the bytes */
};

/* Into @buf, which has SRCLINES_MSG_MOST bytes: how many they are. Longer texts are cut. */
size_t srclines_msg_put(uint8_t *buf, const struct srclines_msg *m);
/* False: it is no such message. @ret is valid as long as @buf. */
bool srclines_msg_get(const uint8_t *buf, size_t n, struct srclines_msg *ret);

#endif
