// SPDX-License-Identifier: GPL-2.0-only
/* Charges of the last seconds, summed up from their log (blame-cell.c writes it). */
#include "kontend/blame-recent.h"

static void add_recent(struct blame_cell *c, enum recent_kind kind, uint64_t value)
{
	if (kind == RECENT_WAIT)
		c->ns += value;
	if (kind == RECENT_SAMPLE)
		c->time_ns += value;
	if (kind == RECENT_LOST)
		c->cost.lost_ns += value;
	if (kind == RECENT_PAR)
		c->cost.par_ns += value;
	if (kind == RECENT_PAR_OF)
		c->cost.par_of_ns += value;
}

static void add_all(const struct blame *b, size_t first, const uint8_t *keep,
		    struct blame_cell *cells)
{
	uint64_t high = 0;

	for (size_t i = first; i < b->recent.open; i++) {
		uint64_t word = b->recent.words[i];
		if (recent_kind(word) == RECENT_HIGH) {
			high = recent_value(word) << RECENT_VALUE_BITS;
			continue;
		}
		size_t at = recent_index(word);
		if (at < b->n && (!keep || keep[at]))
			add_recent(&cells[at], recent_kind(word), high | recent_value(word));
		high = 0;
	}
}

size_t blame_recent(const struct blame *b, const struct recent_window *w, const uint8_t *keep,
		    struct blame_cell *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		ret[i] = (struct blame_cell){.key = b->cells[i].key,
					     .last_ns = b->cells[i].last_ns,
					     .cost = {.is_lost = b->cells[i].cost.is_lost,
						      .unlost = b->cells[i].cost.unlost}};
	add_all(b, w->first, keep, ret);
	for (size_t i = 0; i < b->n; i++)
		if (ret[i].ns || ret[i].time_ns)
			ret[n++] = ret[i];
	return n;
}
