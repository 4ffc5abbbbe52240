// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of a wait with its calls. Waits last for milliseconds, frames for a second: a wait on the
 * screen is over when the user opens it, and is what he wants to read.
 */
#include "wait-kept.h"

#include <string.h>

static bool keep_text(struct arena *a, const char **text)
{
	if (!*text)
		return true;
	*text = arena_strndup(a, *text, strlen(*text));
	return *text != NULL;
}

static bool keep_calls(struct arena *a, struct table *t)
{
	size_t n = t->n_rows * t->n_columns;
	struct value *values = arena_alloc(a, (n + 1) * sizeof(*values));
	uint64_t *ids = arena_alloc(a, (t->n_rows + 1) * sizeof(*ids));

	if (!values || !ids)
		return false;
	for (size_t i = 0; i < n; i++) {
		values[i] = t->values[i];
		if (values[i].known && !keep_text(a, &values[i].s))
			return false;
	}
	if (t->n_rows)
		memcpy(ids, t->ids, t->n_rows * sizeof(*ids));
	t->values = values;
	t->ids = ids;
	t->held = (struct held){0}; /* the copy outlives the frame */
	return true;
}

void wait_kept_take(struct wait_kept *k, uint64_t row, const struct query_wait *w)
{
	struct arena *a = &k->arena;
	struct query_wait *to = &k->wait;
	const char **texts[] = {&to->task,   &to->kind,	     &to->name, &to->phase,
				&to->holder, &to->certainty, &to->is};

	arena_reset(a);
	*to = *w;
	k->row = row;
	k->known = keep_calls(a, &to->calls);
	for (size_t i = 0; k->known && i < sizeof(texts) / sizeof(*texts); i++)
		k->known = keep_text(a, texts[i]);
}

void wait_kept_move(struct wait_kept *k, struct wait_kept *from)
{
	wait_kept_deinit(k);
	*k = *from;
	*from = (struct wait_kept){0};
}

const struct query_wait *wait_kept_of(const struct wait_kept *k, uint64_t row)
{
	return k->known && k->row == row ? &k->wait : NULL;
}

void wait_kept_deinit(struct wait_kept *k)
{
	arena_deinit(&k->arena);
	*k = (struct wait_kept){0};
}
