// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line with the lines of programs that wait for a lock, and of its holder. Where both do not
 * fit the system call is left out, then the share, then each is cut to half of the room, unless the
 * other one takes less.
 */
#include "kontend/screen.h"
#include "kontend/text.h"
#include "note.h"

static const char before_owner[] = ", holder at ", only_owner[] = "holder at ";

static int width_of(const char *text, int more)
{
	return text ? text_width(text) + more : 0;
}

/* The part after the comma. */
static int owner_width(const struct view_places *p)
{
	return width_of(p->owner_at, text_width(p->at ? before_owner : only_owner));
}

static int waits_width(const struct view_places *p)
{
	return p->at ? text_width(p->waits) + text_width(p->at) + width_of(p->syscall, 3) +
			       width_of(p->share, 1)
		     : 0;
}

static void shorten(struct view_places *p, int room)
{
	if (waits_width(p) + owner_width(p) > room)
		p->syscall = NULL;
	if (waits_width(p) + owner_width(p) > room)
		p->share = NULL;
}

/* With a mark at its end where it has more than @width columns. */
static void put_cut(struct line *l, const char *text, int width)
{
	size_t at = 0;
	uint32_t ch;

	if (text_width(text) <= width) {
		line_put(l, ROLE_BOLD, text);
		return;
	}
	for (int x = 1; text[at];) {
		size_t n = text_decode(text + at, &ch);
		x += text_char_width(ch);
		if (x > width)
			break;
		at += n;
	}
	line_printf(l, ROLE_BOLD, "%.*s…", (int)at, text);
}

/* Columns for the line that waits. */
static int room_for(const struct view_places *p, int room)
{
	int rest = room - owner_width(p), width = rest > room / 2 ? rest : room / 2;

	return width - text_width(p->waits) - width_of(p->syscall, 3) - width_of(p->share, 1);
}

void view_put_places(const struct view_places *places, struct line *l)
{
	struct view_places p = *places;

	shorten(&p, l->r.w - l->x);
	if (p.at) {
		int width = room_for(&p, l->r.w - l->x);
		line_put(l, ROLE_DIM, p.waits);
		put_cut(l, p.at, width);
	}
	if (p.at && p.syscall)
		line_printf(l, ROLE_NORMAL, " (%s)", p.syscall);
	if (p.at && p.share)
		line_printf(l, ROLE_NORMAL, " %s", p.share);
	if (!p.owner_at)
		return;
	line_put(l, ROLE_DIM, p.at ? before_owner : only_owner);
	put_cut(l, p.owner_at, l->r.w - l->x);
}
