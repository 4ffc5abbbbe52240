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
	const size_t rows = h->n_rows * sizeof(struct shortsnap_row),
		     part = h->n_rows * sizeof(uint64_t), rest = len - sizeof(*h) - rows;
	for (size_t i = 0; i < SHORTSNAP_PARTS; i++)
		ret->parts[i] =
			rest < (i + 1) * part ? NULL : (const char *)ret->rows + rows + i * part;
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

/* Row @i of @s was in @before, too, as *@ret. */
static bool was_there(const struct shortsnap_row *row, const struct shortsnap *before, uint32_t i,
		      struct shortsnap_row *ret)
{
	if (i >= before->head.n_rows)
		return false;
	*ret = shortsnap_row(before, i);
	return ret->flags == row->flags && ret->n_frames == row->n_frames &&
	       memcmp(ret->frames, row->frames, sizeof(row->frames)) == 0;
}

struct shortsnap_row shortsnap_since(const struct shortsnap *s, const struct shortsnap *before,
				     uint32_t i)
{
	struct shortsnap_row row = shortsnap_row(s, i), old;

	if (!was_there(&row, before, i, &old))
		return row;
	bool back = row.n < old.n || row.ns < old.ns;
	row.n = back ? 0 : row.n - old.n;
	row.ns = back ? 0 : row.ns - old.ns;
	return row;
}

static uint64_t part_of(const struct shortsnap *s, uint32_t i, enum shortsnap_part part)
{
	uint64_t ns;

	memcpy(&ns, (const char *)s->parts[part] + i * sizeof(ns), sizeof(ns));
	return ns;
}

bool shortsnap_part_since(const struct shortsnap *s, const struct shortsnap *before, uint32_t i,
			  enum shortsnap_part part, uint64_t *ret)
{
	const struct shortsnap_row row = shortsnap_row(s, i), since = shortsnap_since(s, before, i);
	struct shortsnap_row old;

	if (!s->parts[part])
		return false;
	uint64_t now = part_of(s, i, part), was = 0;
	if (was_there(&row, before, i, &old) && !before->parts[part])
		return false;
	if (was_there(&row, before, i, &old))
		was = part_of(before, i, part);
	*ret = now > was ? now - was : 0;
	/* Both are read while they grow. */
	if (part != SHORTSNAP_PAR && *ret > since.ns)
		*ret = since.ns;
	return true;
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

/* That part of the rows at that time: in proportion to their time. */
static void put_part(const struct shortsnap_pair *p, double part, enum shortsnap_part which,
		     uint8_t *to)
{
	for (uint32_t i = 0; i < p->now.head.n_rows; i++) {
		const struct shortsnap_row since = shortsnap_since(&p->now, &p->before, i),
					   at = row_at(p, i, part), now = shortsnap_row(&p->now, i);
		uint64_t left = now.ns - at.ns, grown = 0, ns = part_of(&p->now, i, which);
		double after = since.ns ? (double)left / (double)since.ns : 0;

		if (shortsnap_part_since(&p->now, &p->before, i, which, &grown))
			ns -= share(grown < ns ? grown : ns, after, 0);
		memcpy(to + i * sizeof(ns), &ns, sizeof(ns));
	}
}

static size_t count_parts(const struct shortsnap *s)
{
	size_t n = 0;

	while (n < SHORTSNAP_PARTS && s->parts[n])
		n++;
	return n;
}

int shortsnap_at(const struct shortsnap_pair *p, uint64_t at_ns, void **ret, size_t *ret_len)
{
	double part = (double)(at_ns - p->before_ns) / (double)(p->now_ns - p->before_ns);
	struct shortsnap_head h = head_at(p, at_ns, part);
	size_t rows = sizeof(h) + h.n_rows * sizeof(struct shortsnap_row);
	size_t n_parts = count_parts(&p->now), of_part = h.n_rows * sizeof(uint64_t);
	size_t len = rows + n_parts * of_part;
	uint8_t *to = mem_calloc(1, len);

	if (!to)
		return -ENOMEM;
	memcpy(to, &h, sizeof(h));
	for (uint32_t i = 0; i < h.n_rows; i++) {
		const struct shortsnap_row row = row_at(p, i, part);
		memcpy(to + sizeof(h) + i * sizeof(row), &row, sizeof(row));
	}
	for (size_t i = 0; i < n_parts; i++)
		put_part(p, part, (enum shortsnap_part)i, to + rows + i * of_part);
	*ret = to;
	*ret_len = len;
	return 0;
}
