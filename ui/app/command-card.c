// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keys that one needs on one screen of 80 by 24, in two halves. Which keys these are is in the
 * table of commands; this file has a word or two on what each does, as there is no more room.
 */
#include "kontend/command.h"
#include "kontend/textbuf.h"

#include <string.h>

enum { KEYS = 11, NAME = 5, HALF = 40, TOGETHER = 4 };

struct entry {
	enum command commands[TOGETHER]; /* CMD_NONE ends */
	const char *words;		 /* without commands: a title, or an empty line */
};

static const struct entry left[] = {
	{{CMD_NONE}, "MOVING"},
	{{CMD_VIEW}, "a view; also W U Q I M"},
	{{CMD_VIEW_NEXT, CMD_VIEW_PREV}, "next, previous view"},
	{{CMD_UP, CMD_DOWN}, "row up, down"},
	{{CMD_PGUP, CMD_PGDN}, "page up, down"},
	{{CMD_TOP, CMD_BOTTOM}, "first, last row"},
	{{CMD_ENTER}, "why? open the row"},
	{{CMD_WHY}, "open what the verdict says"},
	{{CMD_BACK}, "back"},
	{{CMD_SCROLL_LEFT, CMD_SCROLL_RIGHT}, "other columns"},
	{{CMD_NONE}, ""},
	{{CMD_NONE}, "ROWS"},
	{{CMD_FILTER}, "filter: rwsem avg_ns>1ms"},
	{{CMD_CLEAR_FILTER}, "without filter"},
	{{CMD_SEARCH}, "search"},
	{{CMD_SEARCH_NEXT, CMD_SEARCH_PREV}, "next, previous hit"},
	{{CMD_SORT_PREV, CMD_SORT_NEXT, CMD_SORT}, "sort: left, right, choose"},
	{{CMD_SORT_REVERSE}, "turn the order round"},
	{{CMD_BY}, "choose what rows are by"},
	{{CMD_COLUMNS}, "choose columns"},
	{{CMD_COPY}, "copy the row"},
	{{CMD_SAVE}, "save the screen"},
	{{CMD_PALETTE}, "any command by its name"},
};

static const struct entry right[] = {
	{{CMD_NONE}, "TIME"},
	{{CMD_PAUSE}, "pause, play"},
	{{CMD_STEP_BACK, CMD_STEP}, "step back, forward"},
	{{CMD_JUMP}, "go to a time"},
	{{CMD_START, CMD_LAST}, "begin, end"},
	{{CMD_RANGE_FROM, CMD_RANGE_TO, CMD_RANGE_CLEAR}, "range: from, to, none"},
	{{CMD_CUT}, "cut the range out"},
	{{CMD_WINDOW}, "window: 1s, 10s, 1m, all"},
	{{CMD_MARK}, "mark A, then B: B minus A"},
	{{CMD_ZERO}, "count from now on"},
	{{CMD_PLAY_SLOWER, CMD_PLAY_FASTER}, "play slower, faster"},
	{{CMD_NONE}, ""},
	{{CMD_NONE}, "CALL PATHS AND CODE"},
	{{CMD_EXPAND, CMD_COLLAPSE}, "open, close a level"},
	{{CMD_EXPAND_ALL, CMD_COLLAPSE_ALL}, "open, close all"},
	{{CMD_INVERT}, "callers, or entry points"},
	{{CMD_FLAME, CMD_VERSUS}, "flame graph; of two rows"},
	{{CMD_ANNOTATE}, "instructions"},
	{{CMD_ZOOM}, "zoom into the row"},
	{{CMD_LOCK_PATHS}, "only lock paths"},
	{{CMD_NONE}, ""},
	{{CMD_HELP}, "all keys of this view"},
	{{CMD_QUIT}, "quit"},
};

enum { LINES = sizeof(left) / sizeof(*left) };

_Static_assert(LINES == sizeof(right) / sizeof(*right), "both halves have as many lines");
_Static_assert(LINES < 24, "a screen of 24 lines has room for the card and a prompt");

static const struct command_info *info_of(enum command c)
{
	const struct command_info *i = command_table;

	while (i->command != c)
		i++;
	return i;
}

/* Of several keys the first one whose name is short. */
static const char *key_of(enum command c, char buf[16])
{
	const struct command_info *i = info_of(c);
	size_t k = 0;

	if (c == CMD_VIEW)
		return "0-9";
	while (i->keys[k] && strlen(command_key_name(i->keys[k], buf)) > NAME)
		k++;
	return command_key_name(i->keys[k], buf);
}

static void put_keys(struct textbuf *b, const enum command *commands)
{
	char name[16];

	for (size_t i = 0; i < TOGETHER && commands[i]; i++) {
		textbuf_str(b, i ? " " : "");
		textbuf_str(b, key_of(commands[i], name));
	}
}

static void put_half(struct textbuf *b, const struct entry *e)
{
	const char *begin = b->at;

	if (e->commands[0]) {
		textbuf_str(b, "  ");
		put_keys(b, e->commands);
		textbuf_pad(b, begin, KEYS + 2);
	}
	textbuf_str(b, e->words);
}

bool command_card_line(unsigned line, char ret[COMMAND_CARD_LINE])
{
	struct textbuf b = textbuf_make(ret, COMMAND_CARD_LINE);

	if (line >= LINES)
		return false;
	put_half(&b, &left[line]);
	if (*right[line].words) {
		textbuf_pad(&b, b.from, HALF);
		put_half(&b, &right[line]);
	}
	textbuf_end(&b);
	return true;
}
