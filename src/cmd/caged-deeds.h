/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_CAGED_DEEDS_H
#define KONTEND_CMD_CAGED_DEEDS_H

#include "caged.h"

/* What the porter does for a verb; by number, as messages have it. */
enum caged_deed {
	DEED_RECORDING, /* text: a path; its descriptor */
	DEED_FILE,	/* text: a path, number: flags, descriptor: a root; its descriptor */
	DEED_ROOT,	/* number: a pid; its root */
	DEED_MAPPED,	/* number: a pid, text: a path; text "deleted", its descriptor */
	DEED_START,	/* text: build id, "": lines; descriptor: its socket; a number */
	DEED_STOP,	/* that number; a wait status */
	DEED_MAKE,	/* text: a path; its descriptor */
	DEED_UNMAKE,	/* the last of these */
	DEED_PUT,	/* number: give up? */
	DEED_SAVE,	/* text: a name, number: as P has it? descriptor: what is in it; its name */
	DEED_KEEP,	/* text: table, newline, keys; number: without keys? */
	DEEDS,
};

/* What the porter knows: as it was before the cage. */
struct caged_world {
	const struct caged_wants *wants;
	bool may_fetch;
	char made[PORTER_TEXT]; /* the last one; "": none */
};

extern const struct porter_deed caged_deeds[DEEDS];

#endif
