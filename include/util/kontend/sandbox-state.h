/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_STATE_H
#define KONTEND_SANDBOX_STATE_H

#include <stddef.h>

/* Sandbox of the process that reads a recording; shown with all results. */
enum sandbox_state {
	SANDBOX_NONE, /* no files of other users are read */
	SANDBOX_ON,
	SANDBOX_PARTIAL, /* the kernel lacks a part of it */
	SANDBOX_OFF,	 /* --no-sandbox */
};

struct sandbox {
	enum sandbox_state state;
	char why[160]; /* PARTIAL: the missing part */
};

/* "on", as in JSON; NULL with SANDBOX_NONE. */
const char *sandbox_name(const struct sandbox *s);
/* Warning for users: "sandbox off (--no-sandbox)"; NULL: none. */
const char *sandbox_note(const struct sandbox *s, char *buf, size_t size);

#endif
