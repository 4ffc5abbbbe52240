/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_COMMAND_H
#define KONTEND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything a user can ask for. Keys, palette, help, key bar and man page come from one table. */
enum command {
	CMD_NONE,
	CMD_QUIT,
	CMD_BACK,
	CMD_HELP,
	CMD_UP,
	CMD_DOWN,
	CMD_PGUP,
	CMD_PGDN,
	CMD_TOP,
	CMD_BOTTOM,
	CMD_ENTER,
	CMD_LEFT,
	CMD_RIGHT,
	CMD_EXPAND,
	CMD_COLLAPSE,
	CMD_TOGGLE,
	CMD_EXPAND_ALL,
	CMD_COLLAPSE_ALL,
	CMD_INVERT,
	CMD_COUNT_WAIT,
	CMD_PERCENT,
	CMD_FILTER,
	CMD_SEARCH,
	CMD_SEARCH_NEXT,
	CMD_SEARCH_PREV,
	CMD_CLEAR_FILTER,
	CMD_SORT_PREV,
	CMD_SORT_NEXT,
	CMD_SORT_REVERSE,
	CMD_SORT,
	CMD_BY,
	CMD_BY_NEXT,
	CMD_BY_PREV,
	CMD_SET,
	CMD_COLUMNS,
	CMD_SCROLL_LEFT,
	CMD_SCROLL_RIGHT,
	CMD_LOCK_PATHS,
	CMD_EVENTS,
	CMD_ANNOTATE,
	CMD_FLAME,
	CMD_VERSUS,
	CMD_HEAT,
	CMD_ZOOM,
	CMD_HOTTEST,
	CMD_HOT_NEXT,
	CMD_HOT_PREV,
	CMD_SOURCE,
	CMD_BYTES,
	CMD_UNIT,
	CMD_ADDRESSES,
	CMD_PAUSE,
	CMD_STOP_ON,
	CMD_ZERO,
	CMD_WINDOW,
	CMD_MARK,
	CMD_PLAY,
	CMD_STEP,
	CMD_STEP_BACK,
	CMD_JUMP,
	CMD_START,
	CMD_LAST,
	CMD_PLAY_FASTER,
	CMD_PLAY_SLOWER,
	CMD_RANGE_FROM,
	CMD_RANGE_TO,
	CMD_RIBBON,
	CMD_RANGE_CLEAR,
	CMD_CUT,
	CMD_FASTER,
	CMD_SLOWER,
	CMD_DELAY,
	CMD_COST,
	CMD_TOUR,
	CMD_WHY,
	CMD_SAVE,
	CMD_COPY,
	CMD_PALETTE,
	CMD_REDRAW,
	CMD_SUSPEND,
	CMD_THEME,
	CMD_SIDE,
	CMD_VIEW,
	CMD_VIEW_NEXT,
	CMD_VIEW_PREV,
	CMD_SELECT, /* arg: id of a row */
	CMD_CLICK,  /* arg: x, y on the screen, as the rects that draw() is given */
	CMD_DCLICK,
	COMMANDS,
};

struct command_arg {
	const char *text; /* palette argument, NULL = none */
	int x, y, n;	  /* CMD_VIEW: its key */
	uint64_t id;	  /* CMD_SELECT */
};

/* The kind of input of the app; some commands are for some kinds only. */
enum command_mode {
	COMMAND_LIVE = 1,   /* what happens now */
	COMMAND_TRAVEL = 2, /* the same, with a history that one can go back in */
	COMMAND_REPLAY = 4, /* a recording */
	COMMAND_TIMES = 7,
	COMMAND_CODE = 8,  /* besides: a function's instructions, where some keys differ */
	COMMAND_ROWS = 16, /* of a command: everywhere else */
};

struct command_info {
	enum command command;
	const char *name; /* palette: ":sort avg" */
	const char *arg;  /* "COLUMN", or NULL */
	const char *help;
	uint32_t keys[4]; /* 0 ends */
	const char *bar;  /* short text in the key bar, NULL = not there */
	unsigned modes;	  /* enum command_mode, or-ed; none of a kind = all of them */
};

/*
 * Ended by CMD_NONE. `+` and `-` are CMD_EXPAND and CMD_COLLAPSE; where a view leaves these
 * unhandled the app makes CMD_SLOWER and CMD_FASTER of them, and so of CMD_LEFT and CMD_RIGHT
 * CMD_BACK and CMD_ENTER.
 */
extern const struct command_info command_table[];

/* A command that works in a view, and what it does there in a word or two: for the key bar. */
struct view_key {
	enum command command;
	const char *text;
};

/* Is the command there in @mode: one of the times, maybe with COMMAND_CODE? */
bool command_in(const struct command_info *info, enum command_mode mode);
/* Is that the key of a root view: '0' to '9', or the letter of one? */
bool command_is_view_key(uint32_t key);
/* The letters of views beyond the ten with a digit, and of the sets held and did of blame. */
extern const char command_view_letters[];
enum command command_of_key(enum command_mode mode, uint32_t key, struct command_arg *ret_arg);
/* Parses a palette line: CMD_NONE when unknown. @ret_arg->text points into @line. */
enum command command_parse(enum command_mode mode, const char *line, struct command_arg *ret_arg);
const char *command_key_name(uint32_t key, char buf[16]); /* "PgUp", "^L", "a" */
uint32_t command_key_parse(const char *name);		  /* the other way; 0 when unknown */

enum { COMMAND_CARD_LINE = 81 };

/* Writes line @line (from 0) of the card of keys, up to 80 ASCII columns. False after the last. */
bool command_card_line(unsigned line, char ret[COMMAND_CARD_LINE]);

#endif
