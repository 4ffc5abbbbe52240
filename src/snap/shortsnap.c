// SPDX-License-Identifier: GPL-2.0-only
/* Sums of short waits may come from files. Later versions may have more data after the rows. */
#include "kontend/shortsnap.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>

bool shortsnap_decode(const void *data, size_t len, struct shortsnap *ret)
{
	if (len < sizeof(ret->head))
		return false;
	memcpy(&ret->head, data, sizeof(ret->head));
	const struct shortsnap_head *h = &ret->head;
	if (h->level >= SHORTSNAP_LEVELS || h->n_rows > SHORTSNAP_ROWS ||
	    (len - sizeof(*h)) / sizeof(struct shortsnap_row) < h->n_rows)
		return false;
	ret->rows = (const char *)data + sizeof(*h);
	for (uint32_t i = 0; i < h->n_rows; i++)
		if (shortsnap_row(ret, i).n_frames > SHORTSNAP_FRAMES)
			return false;
	return true;
}

struct shortsnap_row shortsnap_row(const struct shortsnap *s, uint32_t i)
{
	struct shortsnap_row row;

	memcpy(&row, (const char *)s->rows + i * sizeof(row), sizeof(row));
	return row;
}

const char *shortsnap_level_name(uint32_t level)
{
	static const char *const names[SHORTSNAP_LEVELS] = {"all", "threshold", "counts"};

	return level < SHORTSNAP_LEVELS ? names[level] : "?";
}

struct shortsnap_row shortsnap_since(const struct shortsnap *s, const struct shortsnap *before,
				     uint32_t i)
{
	struct shortsnap_row row = shortsnap_row(s, i);

	if (i >= before->head.n_rows)
		return row;
	const struct shortsnap_row old = shortsnap_row(before, i);
	if (old.flags != row.flags || old.n_frames != row.n_frames ||
	    memcmp(old.frames, row.frames, sizeof(row.frames)) != 0)
		return row;
	bool back = row.n < old.n || row.ns < old.ns;
	row.n = back ? 0 : row.n - old.n;
	row.ns = back ? 0 : row.ns - old.ns;
	return row;
}

/*
 * The part of @n, rounded by @phase: 0 never up, 1 always up. Rows of one wait would all be rounded
 * alike, so each row has a phase of its own.
 */
static uint64_t share(uint64_t n, double part, double phase)
{
	uint64_t given = (uint64_t)((double)n * part + phase);

	return given < n ? given : n;
}

/* Spread evenly over 0 to 1 for any number of rows. */
static double phase_of(uint32_t i)
{
	static const double golden = 0.6180339887498949;
	double x = 0.5 + i * golden;

	return x - (double)(uint64_t)x;
}

/* The averages of rows do not change. */
static struct shortsnap_row row_at(const struct shortsnap_pair *p, uint32_t i, double part)
{
	const struct shortsnap_row since = shortsnap_since(&p->now, &p->before, i);
	struct shortsnap_row row = shortsnap_row(&p->now, i);
	uint64_t n = share(since.n, part, phase_of(i)), ns = since.ns;

	if (n < since.n)
		ns = share(since.ns, (double)n / (double)since.n, 0);
	row.n -= since.n - n;
	row.ns -= since.ns - ns;
	return row;
}

static uint64_t sum_at(uint64_t before, uint64_t now, double part)
{
	return now > before ? before + share(now - before, part, 0.5) : now;
}

static struct shortsnap_head head_at(const struct shortsnap_pair *p, uint64_t at_ns, double part)
{
	const struct shortsnap_head *a = &p->before.head, *b = &p->now.head;
	struct shortsnap_head h = b->level_ns <= at_ns ? *b : *a;

	for (uint32_t f = 0; f < SHORTSNAP_TYPES; f++)
		h.counted[f] = sum_at(a->counted[f], b->counted[f], part);
	for (uint32_t l = 0; l < SHORTSNAP_LEVELS; l++)
		h.spent_ns[l] = sum_at(a->spent_ns[l], b->spent_ns[l], part);
	h.events = sum_at(a->events, b->events, part);
	h.n_rows = b->n_rows;
	h.flags |= SHORTSNAP_ESTIMATED;
	return h;
}

int shortsnap_at(const struct shortsnap_pair *p, uint64_t at_ns, void **ret, size_t *ret_len)
{
	double part = (double)(at_ns - p->before_ns) / (double)(p->now_ns - p->before_ns);
	struct shortsnap_head h = head_at(p, at_ns, part);
	size_t len = sizeof(h) + h.n_rows * sizeof(struct shortsnap_row);
	uint8_t *to = mem_calloc(1, len);

	if (!to)
		return -ENOMEM;
	memcpy(to, &h, sizeof(h));
	for (uint32_t i = 0; i < h.n_rows; i++) {
		const struct shortsnap_row row = row_at(p, i, part);
		memcpy(to + sizeof(h) + i * sizeof(row), &row, sizeof(row));
	}
	*ret = to;
	*ret_len = len;
	return 0;
}
