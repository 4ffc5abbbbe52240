// SPDX-License-Identifier: GPL-2.0-only
/* Lines of a function by what they have of the unit that was chosen. */
#include "annotate.h"
#include "kontend/bisect.h"

const char *annotate_unit_name(enum annotate_unit u)
{
	static const char *const names[ANNOTATE_UNITS] = {"percent", "samples", "period", "wait"};

	return u < ANNOTATE_UNITS ? names[u] : NULL;
}

uint64_t annotate_value(const struct query_code_line *l, enum annotate_unit u)
{
	if (u == ANNOTATE_SAMPLES)
		return l->samples;
	return u == ANNOTATE_WAIT ? l->wait_ns : l->weight;
}

/* Does @a come before @b? Of equal ones the first in the code does. */
static bool is_before(const struct query_annotate *q, enum annotate_unit u, size_t a, size_t b)
{
	uint64_t x = annotate_value(&q->lines[a], u), y = annotate_value(&q->lines[b], u);

	return x != y ? x > y : a < b;
}

size_t annotate_hottest(const struct query_annotate *a, enum annotate_unit u)
{
	return annotate_rank(a, u, SIZE_MAX).next;
}

struct annotate_rank annotate_rank(const struct query_annotate *a, enum annotate_unit u,
				   size_t line)
{
	struct annotate_rank r = {.next = SIZE_MAX, .prev = SIZE_MAX};
	bool is_hot = line < a->n && annotate_value(&a->lines[line], u);
	size_t first = SIZE_MAX, last = SIZE_MAX;

	r.rank = is_hot;
	for (size_t i = 0; i < a->n; i++) {
		if (!annotate_value(&a->lines[i], u))
			continue;
		r.n++;
		if (first == SIZE_MAX || is_before(a, u, i, first))
			first = i;
		if (last == SIZE_MAX || is_before(a, u, last, i))
			last = i;
		if (!is_hot || i == line)
			continue;
		if (is_before(a, u, i, line)) {
			r.rank++;
			if (r.prev == SIZE_MAX || is_before(a, u, r.prev, i))
				r.prev = i;
		} else if (r.next == SIZE_MAX || is_before(a, u, i, r.next)) {
			r.next = i;
		}
	}
	r.next = r.next == SIZE_MAX ? first : r.next;
	r.prev = r.prev == SIZE_MAX ? last : r.prev;
	return r;
}

size_t annotate_line_at(const struct query_annotate *a, uint64_t offset)
{
	size_t n = BISECT(a->lines, a->n, offset, offset);

	return n ? n - 1 : 0;
}
