// SPDX-License-Identifier: GPL-2.0-only
#include "widgets/layout.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool inside(struct rect a, struct rect b)
{
	return a.w >= 0 && a.h >= 0 && a.x >= b.x && a.y >= b.y && a.x + a.w <= b.x + b.w &&
	       a.y + a.h <= b.y + b.h;
}

static bool overlap(struct rect a, struct rect b)
{
	return a.w > 0 && a.h > 0 && b.w > 0 && b.h > 0 && a.x < b.x + b.w && b.x < a.x + a.w &&
	       a.y < b.y + b.h && b.y < a.y + a.h;
}

static void check_parts(struct rect all, const struct rect *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i].w == 0 || p[i].h == 0)
			continue;
		if (!inside(p[i], all))
			fail_msg("part %zu leaves %dx%d", i, all.w, all.h);
		for (size_t k = 0; k < i; k++)
			if (overlap(p[i], p[k]))
				fail_msg("parts %zu and %zu overlap at %dx%d", i, k, all.w, all.h);
	}
}

static void test_app_at_every_size(void **state)
{
	(void)state;
	for (int w = 1; w <= 300; w++) {
		for (int h = 1; h <= 100; h++) {
			for (int more = 0; more < 8; more++) {
				struct layout_has has = {more & 1 ? 5 : 0, more & 2, more & 4};
				struct layout_app l = layout_app(w, h, has);
				struct rect parts[] = {l.header, l.ribbon, l.verdict,
						       l.crumbs, l.body,   l.bar};

				assert_int_equal(l.too_small, w < LAYOUT_MIN_W || h < LAYOUT_MIN_H);
				check_parts(l.all, parts, 6);
				if (l.too_small)
					continue;
				assert_int_equal(l.ribbon.h, has.ribbon);
				assert_int_equal(l.verdict.h, has.verdict);
				assert_int_equal(l.crumbs.h > 0, has.crumbs);
				assert_int_equal(l.header.h + l.ribbon.h + l.verdict.h +
							 l.crumbs.h + l.body.h + l.bar.h,
						 h);
			}
		}
	}
}

static void test_parts_at_every_size(void **state)
{
	static const struct layout_part sets[][4] = {
		{{3, 3, 0}, {2, 6, 0}, {4, 10, 1}, {3, 0, 2}},
		{{1, 0, 1}, {1, 0, 1}, {1, 0, 1}, {1, 0, 1}},
		{{0, 0, 3}, {50, 50, 0}, {0, 7, 0}, {-1, -5, -2}},
		{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
	};

	(void)state;
	for (size_t set = 0; set < 4; set++) {
		for (int size = -2; size <= 300; size++) {
			struct rect rows[4], cols[4];
			const struct rect tall = {3, 5, 40, size}, wide = {3, 5, size, 40};

			layout_rows(tall, sets[set], 4, rows);
			layout_cols(wide, sets[set], 4, cols);
			check_parts(tall, rows, 4);
			check_parts(wide, cols, 4);
			for (int i = 0; i < 4; i++)
				assert_int_equal(rows[i].h, cols[i].w);
		}
	}
}

static void test_parts_in_order_of_need(void **state)
{
	static const struct layout_part p[] = {{3, 3, 0}, {4, 8, 0}, {2, 2, 1}};
	struct rect r[3];

	(void)state;
	layout_rows((struct rect){0, 0, 10, 5}, p, 3, r);
	assert_int_equal(r[0].h, 3); /* the second does not fit, the third does */
	assert_int_equal(r[1].h, 0);
	assert_int_equal(r[2].h, 2);
	layout_rows((struct rect){0, 0, 10, 11}, p, 3, r);
	assert_int_equal(r[0].h, 3);
	assert_int_equal(r[1].h, 6);
	assert_int_equal(r[2].h, 2);
	layout_rows((struct rect){0, 0, 10, 30}, p, 3, r);
	assert_int_equal(r[1].h, 8);
	assert_int_equal(r[2].h, 19);
	assert_int_equal(r[2].y, 11);
}

static void test_more_parts_than_there_can_be(void **state)
{
	struct layout_part p[40];
	struct rect r[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		p[i] = (struct layout_part){1, 1, 1};
	layout_rows((struct rect){0, 0, 10, 100}, p, 40, r);
	check_parts((struct rect){0, 0, 10, 100}, r, 40);
}

static const struct column columns[] = {
	{"name", "NAME", "", COLUMN_TEXT, 10, 0, COLUMN_SCREEN | COLUMN_WIDE},
	{"json", "JSON", "", COLUMN_NS, 6, 0, COLUMN_REPORT},
	{"now", "NOW", "", COLUMN_COUNT, 4, 0, COLUMN_SCREEN},
	{"p99", "P99", "", COLUMN_NS, 6, 4, COLUMN_SCREEN},
	{"avg", "AVG", "", COLUMN_NS, 6, 1, COLUMN_SCREEN},
	{"who", "WHO", "", COLUMN_TEXT, 8, 2, COLUMN_SCREEN | COLUMN_WIDE},
};

static size_t columns_at(int width, struct layout_column *ret, size_t max)
{
	const struct layout_room room = {.width = width};

	return layout_columns(columns, sizeof(columns) / sizeof(columns[0]), &room, ret, max);
}

static void test_columns_at_every_width(void **state)
{
	(void)state;
	for (int width = -3; width <= 300; width++) {
		struct layout_column c[8];
		size_t used = columns_at(width, c, 8);
		int end = 0;

		for (size_t i = 0; i < used; i++) {
			assert_true(c[i].x >= end);
			assert_true(c[i].w > 0);
			assert_true(columns[c[i].col].flags & COLUMN_SCREEN);
			end = c[i].x + c[i].w + 1;
			assert_true(end - 1 <= width);
		}
		if (width >= 60) {
			assert_int_equal(used, 5);
			assert_int_equal(end - 1, width); /* wide ones take the rest */
		}
	}
}

static void test_columns_go_by_priority(void **state)
{
	struct layout_column c[8];

	(void)state;
	assert_int_equal(columns_at(15, c, 8), 2);
	assert_int_equal(c[1].col, 2);
	assert_int_equal(columns_at(22, c, 8), 3);
	assert_int_equal(c[2].col, 4);
	assert_int_equal(columns_at(31, c, 8), 4);
	assert_int_equal(c[3].col, 5);
	/* P99 would fit at 38, but the names come first: half their width more. */
	assert_int_equal(columns_at(46, c, 8), 4);
	assert_int_equal(columns_at(47, c, 8), 5);
	assert_int_equal(columns_at(47, c, 2), 2);
}

/* Reports and screens choose columns by one rule: what fits is the begin of the order of need. */
static void test_columns_that_have_room(void **state)
{
	static const struct table_room c[] = {
		{4, 0, 4}, {5, 0, 0}, {0, 0, 0}, {7, 3, 1}, {2, 0, 4}, {6, 0, 2},
	};
	static const size_t order[] = {1, 3, 5, 0, 4};
	bool shown[6];

	(void)state;
	for (int width = -5; width <= 60; width++) {
		int left = table_fit(c, 6, width, 2, shown), used = 0;
		size_t n = 0;

		assert_true(shown[1]);
		assert_false(shown[2]);
		while (n < 5 && shown[order[n]])
			used += c[order[n++]].width + 2;
		for (size_t i = n; i < 5; i++)
			assert_false(shown[order[i]]);
		assert_int_equal(left, width - used);
		assert_true(n == 1 || left >= 0);
		if (n < 5 && left >= 0) /* the next has no room, or would take that of a name */
			assert_true(left - (n > 2 ? 3 : 0) < c[order[n]].width + 2);
	}
}

static void test_page_beside_the_list(void **state)
{
	(void)state;
	for (int w = 0; w <= 600; w++) {
		const struct rect all = {0, 3, w, 40};
		const struct layout_side l = layout_side(all);
		const struct rect parts[] = {l.list, l.rule, l.page};

		check_parts(all, parts, 3);
		assert_int_equal(l.list.w + l.rule.w + l.page.w, w);
		assert_int_equal(l.page.w > 0, w >= LAYOUT_SIDE_W);
		if (!l.page.w)
			continue;
		assert_int_equal(l.rule.w, 1);
		assert_true(l.list.w >= 100 && l.page.w >= 59);
		/* A wider screen takes nothing from either. */
		assert_true(layout_side((struct rect){0, 3, w + 1, 40}).page.w >= l.page.w);
		assert_true(layout_side((struct rect){0, 3, w + 1, 40}).list.w >= l.list.w);
	}
}

/* Tables of any columns, with rows of any texts, on wide screens. */
enum { MADE = 24, TABLES = 400, WIDEST = 330 };

struct made {
	struct column columns[MADE];
	struct layout_need need[MADE];
	size_t n;
};

static uint64_t seed = 1;

static unsigned draw_number(unsigned below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((seed >> 33) % below);
}

static struct made make_table(void)
{
	struct made m = {.n = 1 + draw_number(MADE)};

	for (size_t i = 0; i < m.n; i++) {
		bool is_text = draw_number(3) == 0;
		unsigned flags = draw_number(9) ? COLUMN_SCREEN : COLUMN_REPORT;

		m.columns[i] = (struct column){
			.key = "k",
			.title = "T",
			.type = is_text ? COLUMN_TEXT : COLUMN_NS,
			.width = (uint8_t)(3 + draw_number(20)),
			.priority = (uint8_t)(draw_number(5) ? draw_number(9) : 0),
			.flags = (uint8_t)(flags | (is_text && draw_number(2) ? COLUMN_WIDE : 0)),
		};
		m.need[i].width = (uint16_t)(is_text ? draw_number(150) : 0);
		m.need[i].empty = (uint8_t)(draw_number(3) ? 0 : draw_number(3));
	}
	return m;
}

static int screen_w;

struct placed {
	int w[MADE]; /* 0: not shown */
	int end, blanks;
	size_t n;
};

static struct placed place(const struct made *m, int width)
{
	const struct layout_room room = {width, screen_w, m->need};
	struct layout_column c[MADE];
	struct placed p = {.n = layout_columns(m->columns, m->n, &room, c, MADE)};

	for (size_t i = 0; i < p.n; i++) {
		assert_true(c[i].w > 0);
		assert_true(i ? c[i].x > p.end && c[i].col > c[i - 1].col : c[i].x == 0);
		p.blanks += i ? c[i].x - p.end - 1 : 0;
		p.end = c[i].x + c[i].w;
		assert_true(p.end <= width);
		p.w[c[i].col] = c[i].w;
	}
	return p;
}

static bool is_wanted(const struct made *m, size_t i)
{
	const struct column *c = &m->columns[i];
	unsigned most = c->priority == 1 && screen_w < LAYOUT_SIDE_W;

	return c->flags & COLUMN_SCREEN && (m->need[i].empty <= most || !c->priority);
}

static int needed(const struct made *m, size_t i)
{
	int need = m->need[i].width < LAYOUT_NAME_MOST ? m->need[i].width : LAYOUT_NAME_MOST;

	return need > m->columns[i].width ? need : m->columns[i].width;
}

/* Of all columns of priority 0: they are there whether they fit or not. */
static int least_width(const struct made *m)
{
	int width = -1;

	for (size_t i = 0; i < m->n; i++)
		if (is_wanted(m, i) && !m->columns[i].priority)
			width += m->columns[i].width + 1;
	return width;
}

static bool is_cut(const struct made *m, const struct placed *p, size_t i)
{
	return p->w[i] && m->columns[i].type == COLUMN_TEXT && p->w[i] < m->need[i].width &&
	       p->w[i] < LAYOUT_NAME_MOST;
}

/* Of a column that is shown: cells that no text of it and no title needs. */
static int slack_of(const struct made *m, const struct placed *p, size_t i)
{
	int title = 2,
	    need = m->need[i].width < LAYOUT_NAME_MOST ? m->need[i].width : LAYOUT_NAME_MOST;

	if (!p->w[i] || m->columns[i].type != COLUMN_TEXT || !need)
		return 0;
	return p->w[i] - (need > title ? need : title);
}

static void check_choice(const struct made *m, const struct placed *p)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct column *a = &m->columns[i];

		assert_true(is_wanted(m, i) || !p->w[i]);
		/* None gets less than its usual width but what it does not need. */
		assert_true(!p->w[i] || p->w[i] >= a->width || slack_of(m, p, i) >= 0);
		assert_true(p->w[i] <= needed(m, i));
		for (size_t k = 0; k < m->n && is_wanted(m, i) && !p->w[i]; k++) {
			const struct column *b = &m->columns[k];
			bool is_less =
				b->priority > a->priority || (b->priority == a->priority && k > i);

			assert_false(is_less && p->w[k]);
		}
	}
}

/* A text that is cut has taken all that there is, blanks of others too; names come before other
 * texts. */
static void check_cuts(const struct made *m, const struct placed *p, int width)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!is_cut(m, p, i))
			continue;
		assert_int_equal(p->end, width);
		assert_int_equal(p->blanks, 0);
		for (size_t k = 0; k < m->n; k++)
			assert_true(slack_of(m, p, k) <= 0);
		for (size_t k = 0; k < m->n && !m->columns[i].priority; k++)
			assert_true(!p->w[k] || !m->columns[k].priority ||
				    p->w[k] <= m->columns[k].width);
	}
}

static void test_wide_tables(void **state)
{
	(void)state;
	for (int t = 0; t < TABLES; t++) {
		const struct made m = make_table();
		struct placed before = {0};

		screen_w = t % 2 ? LAYOUT_WIDE_W : LAYOUT_SIDE_W;
		for (int width = least_width(&m) > 20 ? least_width(&m) : 20; width <= WIDEST;
		     width++) {
			const struct placed p = place(&m, width);

			check_choice(&m, &p);
			check_cuts(&m, &p, width);
			/* Columns do not go where there is more room. */
			for (size_t i = 0; i < m.n; i++)
				assert_true(!before.w[i] || p.w[i]);
			before = p;
		}
	}
}

/* On a narrow screen no text is cut beside blanks of another, and columns are always the same. */
static void test_narrow_tables(void **state)
{
	(void)state;
	for (int t = 0; t < TABLES; t++) {
		const struct made m = make_table();

		screen_w = 60 + (int)draw_number(LAYOUT_WIDE_W - 60);
		for (int width = least_width(&m) > 20 ? least_width(&m) : 20; width <= screen_w;
		     width++) {
			struct made other = m;
			const struct placed p = place(&m, width);

			for (size_t i = 0; i < m.n; i++)
				other.need[i].width = 0;
			const struct placed usual = place(&other, width);
			assert_int_equal(p.n, usual.n);
			assert_int_equal(p.end, usual.end);
			for (size_t i = 0; i < m.n; i++) {
				assert_int_equal(p.w[i] > 0, usual.w[i] > 0);
				assert_true(m.columns[i].type == COLUMN_TEXT ||
					    p.w[i] == usual.w[i]);
				for (size_t k = 0; k < m.n && is_cut(&m, &p, i); k++)
					assert_true(slack_of(&m, &p, k) <= 0);
				/* None gets less than it had but what it does not need. */
				assert_true(p.w[i] >= usual.w[i] || slack_of(&m, &p, i) >= 0);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_app_at_every_size),
		cmocka_unit_test(test_parts_at_every_size),
		cmocka_unit_test(test_parts_in_order_of_need),
		cmocka_unit_test(test_more_parts_than_there_can_be),
		cmocka_unit_test(test_columns_at_every_width),
		cmocka_unit_test(test_columns_go_by_priority),
		cmocka_unit_test(test_columns_that_have_room),
		cmocka_unit_test(test_page_beside_the_list),
		cmocka_unit_test(test_wide_tables),
		cmocka_unit_test(test_narrow_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
