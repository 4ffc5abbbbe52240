// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the mouse, byte by byte. Curses would read the rest of a report by a read() that waits
 * until all is there: where a report ends early, no signal and no event would reach the main loop.
 */
#include "mouse.h"

enum { DIGITS_MOST = 99999, RELEASED = 3, MOTION = 32, WHEEL = 64, BUTTONS = 3, OTHERS = 128 };

/* The rest of a report follows at once, but for a slow line. Later bytes are keys. */
static const uint64_t REST_NS = 1000000000;

void mouse_begin(struct mouse_report *r, enum mouse_form form, uint64_t now_ns)
{
	*r = (struct mouse_report){.form = form, .at_ns = now_ns};
}

/* @code: of the button; Shift, Meta and Control, which add 4, 8 and 16, do not matter. */
static enum mouse_button button_of(int code)
{
	int which = code & BUTTONS;

	if (code & (MOTION | OTHERS))
		return MOUSE_OTHER;
	if (code & WHEEL)
		return which == 0 ? MOUSE_WHEEL_UP : which == 1 ? MOUSE_WHEEL_DOWN : MOUSE_OTHER;
	return which == 0 ? MOUSE_LEFT : MOUSE_OTHER;
}

static enum mouse_state finish(struct mouse_report *r, bool is_pressed)
{
	r->form = MOUSE_NONE;
	r->button = button_of(r->numbers[0]);
	r->is_pressed = is_pressed;
	r->x = r->numbers[1] - 1;
	r->y = r->numbers[2] - 1;
	/* Columns and lines are counted from 1. */
	return r->x < 0 || r->y < 0 ? MOUSE_IS_BROKEN : MOUSE_IS_WHOLE;
}

static enum mouse_state give_up(struct mouse_report *r)
{
	r->form = MOUSE_NONE;
	return MOUSE_IS_BROKEN;
}

static enum mouse_state take_byte(struct mouse_report *r, int byte)
{
	if (byte < 32 || byte > 255)
		return give_up(r);
	r->numbers[r->n++] = byte - 32;
	if (r->n < 3)
		return MOUSE_GOES_ON;
	return finish(r, (r->numbers[0] & BUTTONS) != RELEASED);
}

static enum mouse_state take_sgr(struct mouse_report *r, int byte)
{
	if (byte >= '0' && byte <= '9' && r->numbers[r->n] <= DIGITS_MOST) {
		r->numbers[r->n] = r->numbers[r->n] * 10 + byte - '0';
		r->has_digit = true;
		return MOUSE_GOES_ON;
	}
	if (!r->has_digit)
		return give_up(r);
	r->has_digit = false;
	if (byte == ';' && r->n < 2) {
		r->n++;
		return MOUSE_GOES_ON;
	}
	if ((byte == 'M' || byte == 'm') && r->n == 2)
		return finish(r, byte == 'M');
	return give_up(r);
}

enum mouse_state mouse_take(struct mouse_report *r, int byte, uint64_t now_ns)
{
	if (now_ns - r->at_ns > REST_NS)
		return give_up(r);
	r->at_ns = now_ns;
	return r->form == MOUSE_SGR ? take_sgr(r, byte) : take_byte(r, byte);
}
