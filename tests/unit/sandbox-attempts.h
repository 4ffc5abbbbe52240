/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEST_CAGE_ATTEMPTS_H
#define KONTEND_TEST_CAGE_ATTEMPTS_H

#include <netinet/in.h>
#include <sys/types.h>

/* Targets of the attacks: made before by the process that runs the test. */
struct sandbox_target {
	char dir[64], data[128], victim_file[128], new_file[128], socket[100], mailbox[100];
	pid_t victim;
	int loose, terminal; /* a socket that is not connected; a terminal's other end */
	struct sockaddr_in address;
};

/* Root alone gets through without the sandbox; a sanitizer needs what is tried; not all have it. */
enum { SANDBOX_ATTEMPT_ROOT = 1, SANDBOX_ATTEMPT_PLAIN = 2, SANDBOX_ATTEMPT_OPTIONAL = 4 };

/* Actions of an attacker who has taken over a process. */
struct sandbox_attempt {
	const char *name;			     /* NULL: the end */
	int (*make)(const struct sandbox_target *t); /* 0: it was done; else the kernel's error */
	unsigned needs;
};

extern const struct sandbox_attempt sandbox_attempts[];

#endif
