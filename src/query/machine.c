// SPDX-License-Identifier: GPL-2.0-only
/* The measured machine and boot: a fixed struct of texts, which a file may leave unterminated. */
#include "internal.h"
#include "kontend/query-machine.h"

#include <string.h>

struct record_machine query_machine(const struct query *q)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_MACHINE);
	struct record_machine m = {0};

	if (!s || s->len < RECORD_MACHINE_LEAST)
		return m;
	memcpy(&m, s->bytes, s->len < sizeof(m) ? s->len : sizeof(m));
	m.host[sizeof(m.host) - 1] = '\0';
	m.id[sizeof(m.id) - 1] = '\0';
	m.boot[sizeof(m.boot) - 1] = '\0';
	m.kontend[sizeof(m.kontend) - 1] = '\0';
	m.refused[sizeof(m.refused) - 1] = '\0';
	return m;
}
