/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_PROMPT_H
#define KONTEND_UI_APP_PROMPT_H

#include "kontend/command.h"
#include "kontend/screen.h"

enum prompt_kind {
	PROMPT_NONE,
	PROMPT_FILTER,
	PROMPT_SEARCH,
	PROMPT_PALETTE,
	PROMPT_GO,
	PROMPT_CUT,
	PROMPT_KINDS
};

enum { PROMPT_TEXT = 240, PROMPT_HISTORY = 16 };

/* Answers of prompt_key(). */
enum { PROMPT_EDITED = 1, PROMPT_DONE = 2, PROMPT_CANCEL = 3 };

/* A line being typed at the bottom of the screen, with the lines typed before, a list each kind. */
struct prompt {
	enum prompt_kind kind;
	enum command_mode mode; /* whose commands the palette offers */
	char text[PROMPT_TEXT];
	size_t len, cursor;	     /* bytes */
	char saved[PROMPT_TEXT];     /* what was there before browsing the history */
	int at;			     /* in the history; -1: the line being typed */
	char completed[PROMPT_TEXT]; /* what Tab cycles through: text before the first Tab */
	size_t cycle;
	struct prompt_history {
		char lines[PROMPT_HISTORY][PROMPT_TEXT]; /* newest first */
		size_t n;
	} history[PROMPT_KINDS];
};

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
/* 0, or PROMPT_*; the text stays readable after DONE and CANCEL. */
int prompt_key(struct prompt *p, uint32_t key);
/* The line itself; for the palette also the matching commands in lines above @r. */
void prompt_draw(const struct prompt *p, struct screen *s, struct rect r);

#endif
