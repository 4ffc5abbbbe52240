// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells of the last seconds, summed up from the log of what came lately. They have the keys of the
 * cells that they are of, so whatever sums up cells can sum up these.
 */
#include "kontend/cell-recent.h"
#include "cell-int.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

static int add_recent(struct cell_parts *s, struct cell *c, enum recent_kind kind, uint64_t value)
{
	switch (kind) {
	case RECENT_WAIT:
		c->cur_wait_ns += value;
		return cell_add(s->to, c, value, value, c->last_ns);
	case RECENT_PART:
		c->cur_wait_ns += value;
		return 0;
	case RECENT_SPIN:
		return cell_spin(s->to, c, value);
	case RECENT_LOST:
		return cell_lose(s->to, c, value);
	case RECENT_PAR:
		return cell_par(s->to, c, value, 0);
	case RECENT_PAR_OF:
		return cell_par(s->to, c, 0, value);
	case RECENT_FAILED:
		return cell_fail(s->to, c, 0);
	case RECENT_DOUBT:
		c->doubt = c->doubt_open = 1;
		return 0;
	default:
		return 0;
	}
}

static int add_block(struct cell_parts *s, struct cell *c, const uint64_t *words, size_t n)
{
	struct recent_block b;
	const size_t head = sizeof(b) / sizeof(*words);

	memcpy(&b, words, sizeof(b));
	c->cur_wait_ns += b.total_ns;
	return cell_add_block(s->to, c, &b, words + head, n - head);
}

static int add_all(struct cell_parts *s, size_t first, size_t end)
{
	const uint64_t *words = s->from->recent.words;
	uint64_t high = 0;

	for (size_t i = first; i < end; i++) {
		if (recent_kind(words[i]) == RECENT_HIGH) {
			high = recent_value(words[i]) << RECENT_VALUE_BITS;
			continue;
		}
		uint64_t value = high | recent_value(words[i]);
		high = 0;
		const size_t head = i;
		if (recent_kind(words[i]) == RECENT_BLOCK)
			i += recent_value(words[i]);
		if (s->keep && !s->keep[recent_index(words[head])])
			continue;
		struct cell *c = cell_parts_find(s, recent_index(words[head]));
		if (!c || (head < i ? add_block(s, c, words + head + 1, value)
				    : add_recent(s, c, recent_kind(words[head]), value)))
			return -ENOMEM;
	}
	return 0;
}

int cell_recent(const struct cell_table *t, const struct recent_window *w, const uint8_t *keep,
		struct cell_table *ret)
{
	struct cell_parts s = {t, ret, keep, mem_calloc(t->n + 1, sizeof(*s.at))};

	if (!s.at)
		return -ENOMEM;
	cell_table_clear(ret);
	int r = add_all(&s, w->first, t->recent.open);
	for (size_t i = 0; i < ret->n; i++)
		cell_close(ret, &ret->cells[i]);
	mem_free(s.at);
	return r;
}
