/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_CHOOSER_H
#define KONTEND_UI_WIDGETS_CHOOSER_H

#include "kontend/screen.h"

/* Answers of chooser_key() besides 0: nothing has changed. */
enum { CHOOSER_MOVED = 1, CHOOSER_TICKED, CHOOSER_TAKEN, CHOOSER_LEFT };

enum { CHOOSER_ENTRIES = 64 };

/*
 * A list in a box, of which one entry is taken, or several are ticked. It has copies of its texts:
 * what they are about goes on below it.
 */
struct chooser {
	char title[64];
	bool ticks; /* Space ticks entries, Enter keeps them */
	struct chooser_entry {
		char name[32], help[160];
		char state[16]; /* a word on its state, "" = none */
		bool is_now, ticked;
		bool is_fixed; /* its tick stays */
		unsigned turn; /* the last tick was the Nth of the list; 0: as it was */
		size_t id;     /* the user's */
	} entries[CHOOSER_ENTRIES];
	size_t n, index;
	/* From here on private. */
	size_t top;
	unsigned turns;
	struct rect box; /* in the last frame */
};

void chooser_open(struct chooser *c, const char *title, bool ticks);
/* The new last entry, which the caller completes; NULL: there is no room. */
struct chooser_entry *chooser_add(struct chooser *c, const char *name, const char *help);
/* A key or a click; letters go to the next entry that begins with them. */
int chooser_key(struct chooser *c, const struct display_input *in);
/* In the lower left corner of @r, as large as it needs to be. */
void chooser_draw(struct chooser *c, struct screen *s, struct rect r);

#endif
