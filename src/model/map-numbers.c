// SPDX-License-Identifier: GPL-2.0-only
/* Numbers that readers of the model give to its objects, for as long as these keep their index. */
#include "kontend/map-numbers.h"
#include "kontend/maps.h"
#include "kontend/mem.h"

#include <string.h>

bool map_numbers_renew(struct map_numbers *m, const struct map_objects *all)
{
	if (m->objects == all && m->epoch == all->epoch && m->again == all->again)
		return false;
	map_numbers_forget(m);
	m->objects = all;
	m->epoch = all->epoch;
	m->again = all->again;
	return true;
}

uint32_t *map_numbers_at(struct map_numbers *m, const struct map_objects *all, uint32_t index)
{
	map_numbers_renew(m, all);
	if (index >= m->n) {
		size_t n = (size_t)index + 1 + index / 2;
		uint32_t *p = mem_resize(m->v, n, sizeof(*p));
		if (!p)
			return NULL;
		memset(p + m->n, 0, (n - m->n) * sizeof(*p));
		m->v = p;
		m->n = n;
	}
	return &m->v[index];
}

void map_numbers_forget(struct map_numbers *m)
{
	if (m->n)
		memset(m->v, 0, m->n * sizeof(*m->v));
}

void map_numbers_deinit(struct map_numbers *m)
{
	mem_free(m->v);
	*m = (struct map_numbers){0};
}
