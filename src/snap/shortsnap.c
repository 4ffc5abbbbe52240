// SPDX-License-Identifier: GPL-2.0-only
/* Sums of short waits come from files, too. Later versions may have more behind the rows. */
#include "kontend/shortsnap.h"

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
