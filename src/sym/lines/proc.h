/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_PROC_H
#define KONTEND_SYM_SRCLINES_PROC_H

#include "kontend/srclines.h"

#include <stddef.h>
#include <sys/types.h>

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

/* The process that reads debug information, from outside. */
struct srclines_proc {
	pid_t pid;			/* 0: there is none */
	const struct file_access *door; /* who began it; NULL: we did */
	int fd;
	char end[96]; /* how the last one ended: "worker ended by signal 11" */
	uint8_t bytes[SRCLINES_MSG_MOST];
};

/* @door, @argv: as in srclines_config. 0 or a negative errno. */
int srclines_proc_start(struct srclines_proc *p, const struct file_access *door,
			const char *const *argv);
/* Ends it, if there is one, and fills in `end`. */
void srclines_proc_stop(struct srclines_proc *p);
/* With @n descriptors, which stay the caller's. 0, -EAGAIN: not now; others: it is broken. */
int srclines_proc_send(struct srclines_proc *p, const struct srclines_msg *m, const int *fds,
		       size_t n);
/* The next answer, in p->bytes. 1; 0: none yet; negative: it has ended, or is broken. */
int srclines_proc_receive(struct srclines_proc *p, struct srclines_msg *ret);

/*
 * Gives up, for good, whatever the process that reads debug information does not need: other
 * descriptors than standard streams and @fd, capabilities, another user than nobody where that may
 * be chosen, memory without bounds, and nearly all system calls. 0 or a negative errno, after which
 * nothing must be read.
 */
int srclines_jail(int fd);
/* Before each question: from now on the process may use so much, else the kernel ends it. */
void srclines_jail_budget(unsigned cpu_s, unsigned wall_s);

/*
 * For a process that needs the network and files of its user: other descriptors than standard
 * streams and @fd are closed, capabilities dropped; it ends with who began it.
 */
int srclines_jail_rights(int fd);
/* Where the kernel can see to it: nothing is run, and nothing written to but below folder @path. */
int srclines_jail_writes(const char *path);

#endif
