/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_STATE_H
#define KONTEND_SANDBOX_STATE_H

#include <stddef.h>

/* Whoever reads a recording has given up its rights, or has not: said wherever results are. */
enum sandbox_state {
	SANDBOX_NONE, /* nothing is read that others may have made */
	SANDBOX_ON,
	SANDBOX_PARTIAL, /* the kernel has not all that it takes */
	SANDBOX_OFF,	 /* --no-sandbox */
};

struct sandbox {
	enum sandbox_state state;
	char why[160]; /* PARTIAL: what there is not */
};

/* "on", as JSON has it; NULL with SANDBOX_NONE. */
const char *sandbox_name(const struct sandbox *s);
/* What people must know: "sandbox off (--no-sandbox)"; NULL: nothing. */
const char *sandbox_note(const struct sandbox *s, char *buf, size_t size);

#endif
