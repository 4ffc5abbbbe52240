// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions for tables and trees: sets of ids as sorted arrays (they are small, and read far more
 * often than changed), the movement of a selection, and the window of visible rows, which moves
 * only as far as needed to keep the selection visible.
 */
#include "widget.h"

#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t lower_bound(const struct widget_ids *s, uint64_t id)
{
	return id ? bisect_at(s->v, s->n, sizeof(*s->v), 0, id - 1) : 0;
}

bool widget_ids_has(const struct widget_ids *s, uint64_t id)
{
	size_t at = lower_bound(s, id);

	return at < s->n && s->v[at] == id;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int widget_ids_set(struct widget_ids *s, const uint64_t *ids, size_t n)
{
	size_t kept = 0;

	s->n = 0;
	if (n > s->cap) {
		uint64_t *grown = mem_resize(s->v, n, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->v = grown;
		s->cap = n;
	}
	if (!n)
		return 0;
	memcpy(s->v, ids, n * sizeof(*ids));
	qsort(s->v, n, sizeof(*s->v), compare_ids);
	for (size_t i = 0; i < n; i++)
		if (!i || s->v[i] != s->v[kept - 1])
			s->v[kept++] = s->v[i];
	s->n = kept;
	return 0;
}

int widget_ids_add(struct widget_ids *s, uint64_t id)
{
	size_t at = lower_bound(s, id);
	int r;

	if (at < s->n && s->v[at] == id)
		return 0;
	r = mem_grow(&s->v, &s->cap, s->n, sizeof(*s->v));
	if (r < 0)
		return r;
	memmove(s->v + at + 1, s->v + at, (s->n - at) * sizeof(*s->v));
	s->v[at] = id;
	s->n++;
	return 0;
}

void widget_ids_remove(struct widget_ids *s, uint64_t id)
{
	size_t at = lower_bound(s, id);

	if (at == s->n || s->v[at] != id)
		return;
	s->n--;
	memmove(s->v + at, s->v + at + 1, (s->n - at) * sizeof(*s->v));
}

void widget_ids_deinit(struct widget_ids *s)
{
	mem_free(s->v);
	*s = (struct widget_ids){0};
}

bool widget_move(enum command c, size_t n, size_t page, size_t *index)
{
	size_t last = n ? n - 1 : 0;
	size_t step = c == CMD_PGUP || c == CMD_PGDN ? (page > 1 ? page - 1 : 1) : 1;

	switch (c) {
	case CMD_UP:
	case CMD_PGUP:
		*index = *index > step ? *index - step : 0;
		return true;
	case CMD_DOWN:
	case CMD_PGDN:
		*index = *index + step < last ? *index + step : last;
		return true;
	case CMD_TOP:
		*index = 0;
		return true;
	case CMD_BOTTOM:
		*index = last;
		return true;
	default:
		return false;
	}
}

bool widget_search(enum command c, int *search)
{
	if (c != CMD_SEARCH_NEXT && c != CMD_SEARCH_PREV)
		return false;
	*search = c == CMD_SEARCH_NEXT ? 1 : -1;
	return true;
}

size_t widget_scroll(size_t top, size_t index, size_t n, size_t page)
{
	if (!page)
		return 0;
	if (index < top)
		top = index;
	if (index >= top + page)
		top = index - page + 1;
	if (top + page > n)
		top = n > page ? n - page : 0;
	return top;
}

bool widget_inside(struct rect r, const struct command_arg *arg)
{
	return arg->x >= r.x && arg->x < r.x + r.w && arg->y >= r.y && arg->y < r.y + r.h;
}

size_t widget_row_at(struct rect r, const struct command_arg *arg, size_t top, size_t n)
{
	size_t row;

	if (!widget_inside(r, arg) || arg->y == r.y)
		return SIZE_MAX;
	row = top + (size_t)(arg->y - r.y - 1);
	return row < n ? row : SIZE_MAX;
}

void widget_text(struct screen *s, struct rect r, int x, int y, int w, enum role role,
		 const char *text)
{
	struct rect cell = {r.x + x, r.y + y, w, 1};

	if (x >= r.w || y >= r.h || w <= 0)
		return;
	if (x + w > r.w)
		cell.w = r.w - x;
	screen_put_name(s, cell, 0, 0, role, text);
}
