// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot of sums of short waits of a moment between two that were read. */
#include "kontend/shorts-between.h"
#include "kontend/mem.h"
#include "kontend/shortsnap.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <string.h>

bool shorts_between_is(const struct record *r, uint64_t *ret_ns)
{
	struct record_snapshot head;

	if (r->kind != RECORD_SNAPSHOT || !snapshot_parse(r->data, r->len, &head) ||
	    head.kind != SNAPSHOT_SHORT || head.flags & RECORD_SNAPSHOT_LOST)
		return false;
	*ret_ns = head.time_ns;
	return true;
}

/* Joins @r's head and the payload into a record of its own. 1 or -ENOMEM. */
static int put_together(const struct record *r, uint64_t at_ns, const void *payload, size_t len,
			struct record *ret)
{
	struct record_snapshot head;
	uint8_t *body = mem_calloc(1, sizeof(head) + len);

	if (!body)
		return -ENOMEM;
	memcpy(&head, r->data, sizeof(head));
	head.time_ns = at_ns;
	memcpy(body, &head, sizeof(head));
	memcpy(body + sizeof(head), payload, len);
	*ret = (struct record){.kind = RECORD_SNAPSHOT, .data = body, .len = sizeof(head) + len};
	return 1;
}

int shorts_between(const void *payload, size_t len, uint64_t before_ns, const struct record *now,
		   uint64_t at_ns, struct record *ret)
{
	const size_t head = sizeof(struct record_snapshot);
	struct shortsnap_pair p = {.before_ns = before_ns};
	void *estimated;
	size_t n;

	if (!shorts_between_is(now, &p.now_ns) || at_ns <= p.before_ns || at_ns >= p.now_ns ||
	    !shortsnap_decode(payload, len, &p.before) ||
	    !shortsnap_decode((const char *)now->data + head, now->len - head, &p.now))
		return 0;
	int e = shortsnap_at(&p, at_ns, &estimated, &n);
	if (e)
		return e;
	e = put_together(now, at_ns, estimated, n, ret);
	mem_free(estimated);
	return e;
}
