/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_TERM_MOUSE_H
#define KONTEND_UI_TERM_MOUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two forms of a report, by what it begins with. */
enum mouse_form {
	MOUSE_NONE,
	MOUSE_BYTES, /* ESC [ M: three bytes, each plus 32 */
	MOUSE_SGR,   /* ESC [ <: three numbers, then M: pressed, or m: released */
};
#define MOUSE_BYTES_BEGIN "\033[M"
#define MOUSE_SGR_BEGIN "\033[<"

enum mouse_button { MOUSE_LEFT, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_OTHER };

enum mouse_state {
	MOUSE_GOES_ON,
	MOUSE_IS_WHOLE,
	MOUSE_IS_BROKEN, /* the byte is none of the report */
};

/*
 * A report of which bytes come one by one, maybe in several packets: it is kept until the rest is
 * there. `= {0}`: none.
 */
struct mouse_report {
	enum mouse_form form;
	uint64_t at_ns; /* of its last byte */
	int n, numbers[3];
	bool has_digit;
	enum mouse_button button;
	bool is_pressed;
	int x, y; /* from 0 */
};

void mouse_begin(struct mouse_report *r, enum mouse_form form, uint64_t now_ns);
/* A report that is whole or broken can be read until the next one begins; its form is NONE.
 */
enum mouse_state mouse_take(struct mouse_report *r, int byte, uint64_t now_ns);

#endif
