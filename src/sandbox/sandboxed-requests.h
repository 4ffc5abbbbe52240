/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOX_SANDBOXED_REQUESTS_H
#define KONTEND_SANDBOX_SANDBOXED_REQUESTS_H

#include "kontend/newfile.h"
#include "kontend/sandboxed.h"

/* Requests that the broker serves for a verb; by number, as in messages. */
enum sandboxed_request {
	BROKER_RECORDING, /* text: a path; its descriptor */
	BROKER_FILE,	  /* text: a path, number: flags, descriptor: a root; its descriptor */
	BROKER_ROOT,	  /* number: a pid, or 0 for wants->symfs; its root */
	BROKER_MAPPED,	  /* number: a pid, text: a path; text "deleted", its descriptor */
	BROKER_START,	  /* text: build id, "": lines; descriptor: its socket; a number */
	BROKER_STOP,	  /* that number; a wait status */
	BROKER_MAKE,	  /* text: the path of the command line, or a plain name; its descriptor */
	BROKER_MADE,	  /* number: give up? else the last of these gets its name */
	BROKER_PUT,	  /* number: give up? */
	BROKER_SAVE, /* text: a name, number: as P has it? descriptor: what is in it; its name */
	BROKER_KEEP, /* text: table, newline, keys; number: without keys? */
	SANDBOXED_REQUESTS,
};

enum {
	SANDBOXED_WORKERS = 2, /* processes at once: for lines, and for debuginfod */
	SANDBOXED_MADE = 16,   /* files that may be made */
	SANDBOXED_SAVED = 256, /* screens that may be saved */
	SANDBOXED_SAVED_BYTES = 64 << 20,
};

/* A process that was started here. */
struct sandboxed_worker {
	int pid; /* 0: none */
	bool has_ended;
	int status; /* then */
};

/*
 * The broker's state, as it was before the sandbox. Folders are open since then, as O_PATH: changes
 * that the process in the sandbox makes to a path lead nowhere else. -1: none.
 */
struct sandboxed_world {
	const struct sandboxed_wants *wants;
	bool may_fetch;
	int reader; /* the process in the sandbox */
	int here, make_dir;
	const char *make_name; /* of wants->make */
	struct newfile made;   /* the last one that was made; fd -1: none */
	unsigned n_made, n_saved;
	uint64_t saved_bytes;
	uint64_t most_bytes; /* that a made file may have */
	struct sandboxed_worker workers[SANDBOXED_WORKERS];
};

extern const struct broker_request sandboxed_requests[SANDBOXED_REQUESTS];

#endif
