/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEST_CAGE_ATTEMPTS_H
#define KONTEND_TEST_CAGE_ATTEMPTS_H

#include <netinet/in.h>
#include <sys/types.h>

/* What there is to be attacked: made before, by who runs the test. */
struct cage_target {
	char dir[64], data[128], victim_file[128], new_file[128], socket[100], mailbox[100];
	pid_t victim;
	int loose, terminal; /* a socket that is not connected; a terminal's other end */
	struct sockaddr_in address;
};

/* Root alone gets through without the cage; a sanitizer needs what is tried; not all have it. */
enum { CAGE_ATTEMPT_ROOT = 1, CAGE_ATTEMPT_PLAIN = 2, CAGE_ATTEMPT_OPTIONAL = 4 };

/* What somebody does who has taken over a process. */
struct cage_attempt {
	const char *name;			  /* NULL: the end */
	int (*make)(const struct cage_target *t); /* 0: it was done; else what the kernel said */
	unsigned needs;
};

extern const struct cage_attempt cage_attempts[];

#endif
