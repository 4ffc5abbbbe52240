// SPDX-License-Identifier: GPL-2.0-only
/*
 * The board of breakpoint slots as a table that the table widget can draw: columns for CPU and
 * pool, one for each slot, and three for the sums. How many slots there are is known only at run
 * time, so the columns are made for each frame; their names are constant, since widgets keep them.
 * The first letter of a cell says whose it is, so that it can be read without colours: C of the
 * CPU, T of the task that has most there, then a filled square if it is in a debug register now.
 * Of very many CPUs neighbours that are alike share a row.
 */
#include "kontend/mem.h"
#include "note.h"

#include <errno.h>
#include <string.h>

enum { CELL_MIN = 2, CELL_MAX = 20, NUMBER_W = 4, RANGE_W = 9, WIDE = 120 };
enum { FOLD_ABOVE = 128 }; /* rows */

static const char *const cell_keys[BOARD_CELLS] = {
	"0",  "1",  "2",  "3",	"4",  "5",  "6",  "7",	"8",  "9",  "10", "11",
	"12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23",
};

/* Places of the columns of "slots" that the board is made of. */
struct places {
	size_t cpu, type, slots, cpu_pinned, task_max, free_cpu, free_task, most;
};

static struct places find_places(const struct table *t)
{
	return (struct places){
		.cpu = table_column(t, "cpu"),
		.type = table_column(t, "type"),
		.slots = table_column(t, "slots"),
		.cpu_pinned = table_column(t, "cpu_pinned"),
		.task_max = table_column(t, "task_pinned_max"),
		.free_cpu = table_column(t, "free_cpu"),
		.free_task = table_column(t, "free_task"),
		.most = table_column(t, "most_used"),
	};
}

static const char *cell_text(struct query *q, const struct query_cell *c)
{
	switch (c->kind) {
	case CELL_FREE:
		return "□";
	case CELL_UNKNOWN:
		return "?";
	default:
		return arena_printf(&q->arena, "%c%s%s", c->kind == CELL_CPU ? 'C' : 'T',
				    c->in_register ? "■" : " ", c->who);
	}
}

static const char *number(struct query *q, const struct value *v)
{
	return v->known ? arena_printf(&q->arena, "%d", (int)v->i) : "-";
}

static const char *pair(struct query *q, const struct value *a, const char *between,
			const struct value *b)
{
	const char *x = number(q, a), *y = number(q, b);

	return x && y ? arena_printf(&q->arena, "%s %s %s", x, between, y) : NULL;
}

static const char *most_text(struct query *q, const struct value *v)
{
	return v->known ? arena_printf(&q->arena, "%s%d", v->at_least ? "≥" : "", (int)v->i) : "-";
}

static void put_text(struct value *v, const char *text)
{
	*v = (struct value){.s = text, .known = text && *text};
}

static void fill_row(struct query *q, const struct table *slots, const struct places *at,
		     size_t row, struct value *v, size_t n_cells)
{
	size_t n;
	const struct query_cell *cells = query_perf_board(q, slots->ids[row], &n);

	v[0] = *table_value(slots, row, at->cpu);
	v[1] = *table_value(slots, row, at->type);
	for (size_t i = 0; i < n_cells; i++)
		put_text(&v[board_column(i)], i < n ? cell_text(q, &cells[i]) : " ");
	put_text(&v[board_column(n_cells)], pair(q, table_value(slots, row, at->cpu_pinned), "+",
						 table_value(slots, row, at->task_max)));
	put_text(&v[board_column(n_cells) + 1], pair(q, table_value(slots, row, at->free_cpu), "/",
						     table_value(slots, row, at->free_task)));
	put_text(&v[board_column(n_cells) + 2], most_text(q, table_value(slots, row, at->most)));
}

/* Width of the columns that are no cells, each with the blank after it, and of the mark. */
static int fixed_width(const struct column *c, size_t end, bool pools)
{
	return 1 + c[0].width + 1 + (pools ? NUMBER_W + 1 : 0) + c[end].width + 1 +
	       c[end + 1].width + 1 + c[end + 2].width + 1;
}

static void make_columns(struct column *c, const struct board *b, int width)
{
	size_t end = board_column(b->n_cells);
	bool wide = width >= WIDE;

	c[0] = b->folded
		       ? (struct column){"cpu", "CPUS", "", COLUMN_TEXT, RANGE_W, 0, COLUMN_SCREEN}
		       : (struct column){"cpu", "CPU", "", COLUMN_INT, NUMBER_W, 0, COLUMN_SCREEN};
	c[1] = (struct column){
		"type", "TYPE", "", COLUMN_TEXT, NUMBER_W, 0, b->pools ? COLUMN_SCREEN : 0};
	c[end] = (struct column){"pinned",
				 wide ? "PINNED cpu+task" : "CPU+TASK",
				 "",
				 COLUMN_TEXT,
				 wide ? 15 : 8,
				 2,
				 COLUMN_SCREEN};
	c[end + 1] = (struct column){"free",
				     wide ? "FREE for a cpu / a task" : "FREE C/T",
				     "",
				     COLUMN_TEXT,
				     wide ? 23 : 8,
				     1,
				     COLUMN_SCREEN};
	c[end + 2] =
		(struct column){"most_used", "MOST", "", COLUMN_TEXT, NUMBER_W, 3, COLUMN_SCREEN};
	int room = width - fixed_width(c, end, b->pools);
	int w = b->n_cells ? room / (int)b->n_cells - 1 : 0;
	w = w < CELL_MIN ? CELL_MIN : w > CELL_MAX ? CELL_MAX : w;
	for (size_t i = 0; i < b->n_cells; i++)
		c[board_column(i)] = (struct column){
			cell_keys[i], cell_keys[i], "", COLUMN_TEXT, (uint8_t)w, 0, COLUMN_SCREEN};
}

static void measure(const struct table *slots, const struct places *at, struct board *b)
{
	for (size_t row = 0; row < slots->n_rows; row++) {
		const struct value *n = table_value(slots, row, at->slots);
		size_t cells = n->known && n->i > 0 ? (size_t)n->i : 0;
		b->n_cells = cells > b->n_cells ? cells : b->n_cells;
		b->pools |= strcmp(table_value(slots, row, at->type)->s, "any") != 0;
	}
	if (b->n_cells > BOARD_CELLS)
		b->n_cells = BOARD_CELLS;
}

static bool is_alike(const struct table *t, size_t a, size_t b)
{
	for (size_t c = 1; c < t->n_columns; c++) {
		const struct value *x = table_value(t, a, c), *y = table_value(t, b, c);
		if (x->known != y->known || (x->known && strcmp(x->s, y->s) != 0))
			return false;
	}
	return true;
}

static int put_range(struct query *q, struct value *v, int64_t first, int64_t last)
{
	const char *text = first == last ? arena_printf(&q->arena, "%d", (int)first)
					 : arena_printf(&q->arena, "%d-%d", (int)first, (int)last);

	put_text(v, text);
	return text ? 0 : -ENOMEM;
}

/* The rows of one CPU: pools are one below the other. */
static size_t rows_of_cpu(const struct table *t, size_t from)
{
	size_t n = 1;

	while (from + n < t->n_rows && table_value(t, from + n, 0)->i == table_value(t, from, 0)->i)
		n++;
	return n;
}

/* Is the CPU whose rows are at @to the next one after @last, and like that at @from? */
static bool goes_on(const struct table *t, size_t from, size_t to, int64_t last)
{
	size_t n = rows_of_cpu(t, from);

	if (to >= t->n_rows || table_value(t, to, 0)->i != last + 1 || rows_of_cpu(t, to) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alike(t, from + i, to + i))
			return false;
	return true;
}

static int fold(struct query *q, struct table *t)
{
	uint64_t *ids = arena_alloc(&q->arena, (t->n_rows + 1) * sizeof(*ids));
	size_t n = 0, to;

	if (!ids)
		return -ENOMEM;
	for (size_t from = 0; from < t->n_rows; from = to) {
		int64_t first = table_value(t, from, 0)->i, last = first;
		size_t rows = rows_of_cpu(t, from);
		for (to = from + rows; goes_on(t, from, to, last); to += rows)
			last++;
		for (size_t i = 0; i < rows; i++, n++) {
			struct value *v = &t->values[n * t->n_columns];
			ids[n] = t->ids[from + i];
			memmove(v, table_value(t, from + i, 0), t->n_columns * sizeof(*v));
			if (put_range(q, v, first, last) < 0)
				return -ENOMEM;
		}
	}
	t->ids = ids;
	t->n_rows = n;
	return 0;
}

int board_make(struct query *q, const struct table *slots, int width, struct board *ret)
{
	struct places at = find_places(slots);
	struct board b = {.table = *slots};

	measure(slots, &at, &b);
	b.folded = slots->n_rows > FOLD_ABOVE;
	struct table *t = &b.table;
	t->name = "board";
	t->n_columns = b.n_cells + BOARD_FIXED;
	struct column *columns = arena_alloc(&q->arena, t->n_columns * sizeof(*columns));
	t->values = arena_alloc(&q->arena, (t->n_rows + 1) * t->n_columns * sizeof(*t->values));
	if (!columns || !t->values)
		return -ENOMEM;
	make_columns(columns, &b, width);
	t->columns = columns;
	t->sort_col = SIZE_MAX;
	for (size_t row = 0; row < t->n_rows; row++)
		fill_row(q, slots, &at, row, &t->values[row * t->n_columns], b.n_cells);
	int code = b.folded ? fold(q, t) : 0;
	*ret = b;
	return code;
}

enum role board_role(const struct table *t, size_t row, size_t col)
{
	const struct value *v = table_value(t, row, col);

	if (col < board_column(0) || col + 3 >= t->n_columns || !v->known)
		return ROLE_NORMAL;
	if (*v->s != 'C' && *v->s != 'T')
		return *v->s == '?' ? ROLE_WARN : ROLE_DIM;
	if (v->s[1] != ' ')
		return ROLE_HEAT_HIGH;
	return *v->s == 'C' ? ROLE_HEAT_MID : ROLE_HEAT_LOW;
}
