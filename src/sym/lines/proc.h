/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_PROC_H
#define KONTEND_SYM_SRCLINES_PROC_H

#include "msg.h"

#include <sys/types.h>

/* The process that reads debug information, from outside. */
struct srclines_proc {
	pid_t pid; /* 0: there is none */
	int fd;
	char end[96]; /* how the last one ended: "worker ended by signal 11" */
	uint8_t bytes[SRCLINES_MSG_MOST];
};

/* @argv: as in srclines_config. 0 or a negative errno. */
int srclines_proc_start(struct srclines_proc *p, const char *const *argv);
/* Ends it, if there is one, and fills in `end`. */
void srclines_proc_stop(struct srclines_proc *p);
/* With @n descriptors, which stay the caller's. 0, -EAGAIN: not now; others: it is broken. */
int srclines_proc_send(struct srclines_proc *p, const struct srclines_msg *m, const int *fds,
		       size_t n);
/* The next answer, in p->bytes. 1; 0: none yet; negative: it has ended, or is broken. */
int srclines_proc_receive(struct srclines_proc *p, struct srclines_msg *ret);

#endif
