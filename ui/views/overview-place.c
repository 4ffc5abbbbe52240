// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the parts of the overview are: a pure function of the size of the page and the rows of its
 * tables. Figures come first, then types and CPUs, the worst locks, and who waits. Wide pages have
 * types and CPUs side by side; short ones, too, with two rows each, but not where ten locks would
 * not have room; only tall ones have those who wait. If all rows fit, each table has all of its
 * own. Tables come and go with storms, but a page that moves with each refresh
 * cannot be read: a table keeps the room that it has needed in the last one or two periods.
 */
#include "overview-place.h"
#include "widgets/layout.h"

/* A rule and the titles of columns come on top of the rows of a table. */
enum { TITLES = 2 };
enum { SHORT_H = 27, SHORTEST_H = 15, TALL_H = 31, SIDE_BY_SIDE_W = 150 };
enum { BOTH_ROWS = 2, WORST_LOCKS = 5, PERIOD = 32 };

static int table_height(size_t rows, int most)
{
	return rows + TITLES > (size_t)most ? most : (int)rows + TITLES;
}

/* Lines without which a table says nothing; those it has, if these are fewer. */
static int least_of(int height)
{
	enum { LEAST = TITLES + 2 };

	return height < LEAST ? height : LEAST;
}

/* The lower part: the worst locks, and who waits where there is room for both. */
static void place_lists(struct overview_place *p, struct rect r, bool tall,
			const struct overview_place_rows *rows)
{
	int waiters = tall ? table_height(rows->waiters, r.h / 2) : 0;
	int locks = table_height(rows->locks, r.h - waiters);
	struct rect parts[2];

	layout_rows(r,
		    (struct layout_part[]){{least_of(locks), locks, !tall},
					   {tall ? 3 : 0, waiters, tall}},
		    2, parts);
	p->locks = parts[0];
	p->waiters = parts[1];
}

/* On short pages figures are worth more than lines of programs. */
static int lines_of_figures(int h, const struct overview_place_rows *rows)
{
	return OVERVIEW_PLACE_ALL + (h >= SHORTEST_H && rows->places);
}

/* Does a page of that height have all rows, if these lines are for types and CPUs? */
static bool fits(int h, int both, const struct overview_place_rows *rows)
{
	size_t waiters = h >= TALL_H ? rows->waiters + TITLES : 0;

	return (size_t)lines_of_figures(h, rows) + (size_t)both + rows->locks + TITLES + waiters <=
	       (size_t)h;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void place_both(struct overview_place *p, struct rect line, int gap)
{
	struct rect cols[3];

	layout_cols(line, (struct layout_part[]){{1, 1, 1}, {gap, gap, 0}, {1, 1, 1}}, 3, cols);
	p->types = cols[0];
	p->cpus = cols[2];
}

static void place_wide(struct overview_place *p, struct rect r,
		       const struct overview_place_rows *rows)
{
	int now = lines_of_figures(r.h, rows);
	int all = table_height(larger(rows->types, rows->cpus), r.h);
	int both = fits(r.h, all, rows) || all < r.h / 2 ? all : r.h / 2;
	struct rect parts[3];

	layout_rows(r,
		    (struct layout_part[]){{now, now, 0},
					   {3, both, 0},
					   {WORST_LOCKS + TITLES, WORST_LOCKS + TITLES, 1}},
		    3, parts);
	p->now = parts[0];
	place_both(p, parts[1], 2);
	place_lists(p, parts[2], r.h >= TALL_H, rows);
}

/* Types and CPUs share a few lines, and the worst locks have the rest, as far as there are any. */
static void place_short(struct overview_place *p, struct rect r,
			const struct overview_place_rows *rows)
{
	int now = lines_of_figures(r.h, rows);
	int left = r.h - now - table_height(rows->locks, r.h), least = BOTH_ROWS + 2;
	int both = table_height(larger(rows->types, rows->cpus), left > least ? left : least);
	bool is_full = rows->locks >= OVERVIEW_PLACE_LOCKS &&
		       r.h - now - both < OVERVIEW_PLACE_LOCKS + TITLES;
	struct rect parts[3];

	both = r.h < SHORTEST_H || is_full ? 0 : both;
	layout_rows(r, (struct layout_part[]){{now, now, 0}, {both, both, 0}, {3, 3, 1}}, 3, parts);
	p->now = parts[0];
	place_both(p, parts[1], 1);
	place_lists(p, parts[2], false, rows);
}

static void place_narrow(struct overview_place *p, struct rect r,
			 const struct overview_place_rows *rows)
{
	int now = lines_of_figures(r.h, rows);
	int both = table_height(rows->types, r.h) + table_height(rows->cpus, r.h);
	int most = fits(r.h, both, rows) ? r.h : r.h / 3;
	int types = table_height(rows->types, most), cpus = table_height(rows->cpus, most);
	struct rect parts[4];

	layout_rows(r,
		    (struct layout_part[]){{now, now, 0},
					   {least_of(types), types, 0},
					   {least_of(cpus), cpus, 0},
					   {5, WORST_LOCKS + TITLES, 1}},
		    4, parts);
	p->now = parts[0];
	p->types = parts[1];
	p->cpus = parts[2];
	place_lists(p, parts[3], r.h >= TALL_H, rows);
}

/* A table without rows has a sentence in their place, the one of locks in two lines. */
static struct overview_place_rows with_sentences(const struct overview_place_rows *rows)
{
	return (struct overview_place_rows){larger(rows->types, 1), larger(rows->cpus, 1),
					    larger(rows->locks, 2), larger(rows->waiters, 1),
					    rows->places};
}

struct overview_place overview_place(struct rect r, const struct overview_place_rows *rows)
{
	const struct overview_place_rows all = with_sentences(rows);
	struct overview_place p = {0};

	if (r.w >= SIDE_BY_SIDE_W)
		place_wide(&p, r, &all);
	else if (r.h < SHORT_H)
		place_short(&p, r, &all);
	else
		place_narrow(&p, r, &all);
	p.has_places = p.now.h > OVERVIEW_PLACE_ALL;
	return p;
}

size_t overview_place_cpus(struct rect r)
{
	int rows = r.h / (r.w >= SIDE_BY_SIDE_W ? 2 : 3) - TITLES;

	return rows > 0 ? (size_t)rows : 0;
}

static struct overview_place_rows most_of(const struct overview_place_rows *a,
					  const struct overview_place_rows *b)
{
	return (struct overview_place_rows){
		larger(a->types, b->types), larger(a->cpus, b->cpus), larger(a->locks, b->locks),
		larger(a->waiters, b->waiters), larger(a->places, b->places)};
}

struct overview_place_rows overview_place_see(struct overview_place_seen *s, struct rect r,
					      const struct overview_place_rows *rows, uint64_t tick)
{
	bool is_next = tick / PERIOD == s->tick / PERIOD + 1;

	if (s->r.w != r.w || s->r.h != r.h || (!is_next && tick / PERIOD != s->tick / PERIOD)) {
		s->now = s->before = (struct overview_place_rows){0};
	} else if (is_next) {
		s->before = s->now;
		s->now = (struct overview_place_rows){0};
	}
	s->now = most_of(&s->now, rows);
	s->tick = tick;
	s->r = r;
	return most_of(&s->now, &s->before);
}
