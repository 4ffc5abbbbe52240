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
	DEED_MAKE,	/* text: the path of the command line, or a plain name; its descriptor */
	DEED_UNMAKE,	/* the last of these */
	DEED_PUT,	/* number: give up? */
	DEED_SAVE,	/* text: a name, number: as P has it? descriptor: what is in it; its name */
	DEED_KEEP,	/* text: table, newline, keys; number: without keys? */
	DEEDS,
};

enum {
	CAGED_WORKERS = 2, /* processes at once: for lines, and for debuginfod */
	CAGED_MADE = 16,   /* files that may be made */
	CAGED_SAVED = 256, /* screens that may be saved */
	CAGED_SAVED_BYTES = 64 << 20,
};

/* A process that was started here. */
struct caged_worker {
	int pid; /* 0: none */
	bool has_ended;
	int status; /* then */
};

/*
 * What the porter knows: as it was before the cage. Folders are open since then, as O_PATH: what
 * the one in the cage does to a path leads nowhere else. -1: none.
 */
struct caged_world {
	const struct caged_wants *wants;
	bool may_fetch;
	int reader; /* the process in the cage */
	int here, make_dir;
	const char *make_name; /* of wants->make */
	int made_dir, made_fd; /* the last one that was made; -1: none */
	char made_name[256];
	unsigned n_made, n_saved;
	uint64_t saved_bytes;
	uint64_t most_bytes; /* that a made file may have */
	struct caged_worker workers[CAGED_WORKERS];
};

extern const struct porter_deed caged_deeds[DEEDS];

#endif
