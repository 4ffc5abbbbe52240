// SPDX-License-Identifier: GPL-2.0-only
/* The sums of short waits at the beginning and at the end of a cut. */
#include "cut-shorts.h"
#include "kontend/mem.h"
#include "kontend/shortsnap.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <string.h>

bool cut_shorts_is(const struct record *r, uint64_t *ret_ns)
{
	struct record_snapshot head;

	if (r->kind != RECORD_SNAPSHOT || !snapshot_parse(r->data, r->len, &head) ||
	    head.kind != SNAPSHOT_SHORT || head.flags & RECORD_SNAPSHOT_LOST)
		return false;
	*ret_ns = head.time_ns;
	return true;
}

static bool decode(const void *body, size_t len, struct shortsnap *ret)
{
	return shortsnap_decode((const char *)body + sizeof(struct record_snapshot),
				len - sizeof(struct record_snapshot), ret);
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

int cut_shorts_at(const struct cut_shorts *s, const struct record *r, uint64_t at_ns,
		  struct record *ret)
{
	struct shortsnap_pair p = {.before_ns = s->last_ns};
	void *payload;
	size_t len;

	if (!s->last || !cut_shorts_is(r, &p.now_ns) || at_ns <= p.before_ns || at_ns >= p.now_ns ||
	    !decode(s->last, s->len, &p.before) || !decode(r->data, r->len, &p.now))
		return 0;
	int e = shortsnap_at(&p, at_ns, &payload, &len);
	if (e)
		return e;
	e = put_together(r, at_ns, payload, len, ret);
	mem_free(payload);
	return e;
}

int cut_shorts_took(struct cut_shorts *s, const struct record *r)
{
	void *copy = mem_dup(r->data, r->len, 1);

	if (!copy)
		return -ENOMEM;
	mem_free(s->last);
	s->last = copy;
	s->len = r->len;
	(void)cut_shorts_is(r, &s->last_ns);
	return 0;
}

bool cut_shorts_lacks(const struct cut_shorts *s, uint64_t until_ns)
{
	return s->last && s->last_ns < until_ns;
}

void cut_shorts_deinit(struct cut_shorts *s)
{
	mem_free(s->last);
	*s = (struct cut_shorts){0};
}
