/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_MUX_NOTE_H
#define KONTEND_SOURCE_MUX_NOTE_H

#include "kontend/mux.h"

/* The notes of mux.h: one file a PMU, which is taken whole and replaced whole, under a lock. */
enum { MUX_OWNERS = 32 };

/* A session that has set a value, in the order in which they did. */
struct mux_owner {
	uint32_t ms;
	pid_t pid;
	uint64_t start; /* of the process: another one may have its number */
	bool alive;	/* not in the file */
};

struct mux_note {
	uint32_t before_ms; /* what the value was when nobody of us had set one */
	size_t n;
	struct mux_owner owners[MUX_OWNERS];
};

/* The folder of notes. */
struct mux_notes {
	const struct mux_roots *roots;
	int dir;
	int lock; /* nobody else writes; -1: neither do we */
};

/* @write: made if it is not there, and locked until it is closed. 0 or a negative errno. */
int mux_notes_open(struct mux_notes *s, const struct mux_roots *roots, bool write);
void mux_notes_close(struct mux_notes *s);
/* The note on a PMU, with who is alive. False: there is none, or none to be believed. */
bool mux_note_load(const struct mux_notes *s, const char *pmu, struct mux_note *ret);
/* Without owners there is no note afterwards. 0 or a negative errno. */
int mux_note_store(const struct mux_notes *s, const char *pmu, const struct mux_note *note);
/* The name of the PMU that a file of the folder is a note on, or NULL. */
const char *mux_note_pmu(const char *file);

#endif
