// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of rotating PMUs as bytes: the struct itself without unused items, in native byte order
 * like the whole recording. The reader trusts no count and no text.
 */
#include "kontend/pmus.h"
#include <string.h>

const struct pmus_item *pmus_find(const struct pmus *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	}
	return NULL;
}

size_t pmus_size(const struct pmus *p)
{
	return offsetof(struct pmus, items) + p->n * sizeof(p->items[0]);
}

bool pmus_decode(const void *data, size_t len, struct pmus *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (len < offsetof(struct pmus, items) || len > sizeof(*ret))
		return false;
	memcpy(ret, data, len);
	if (ret->n > PMUS_MOST || pmus_size(ret) != len) {
		memset(ret, 0, sizeof(*ret));
		return false;
	}
	ret->reason[PMUS_REASON - 1] = 0;
	for (uint32_t i = 0; i < ret->n; i++)
		ret->items[i].name[PMUS_NAME - 1] = 0;
	return true;
}
