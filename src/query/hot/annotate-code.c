// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of a function: of the kernel that runs here as it is now, of another one as it is in the
 * recording or in the copy of its memory beside it, of a program out of its file.
 */
#include "annotate.h"
#include "kontend/maps.h"
#include "kontend/snapshot.h"
#include "kontend/textsnap.h"
#include "kontend/thisboot.h"
#include "names/names.h"

#include <errno.h>
#include <string.h>

/* Longer ones are shown up to here. */
enum { MOST_BYTES = 256 << 10 };

/* Up to the next symbol. */
static size_t kernel_size(const struct query *q, uint64_t start)
{
	const struct sym *s = sym_whole(q->sym);
	const struct sym_entry *e = s ? sym_find(s, start) : NULL;

	if (!e || e->addr != start)
		return 0;
	const struct sym_entry *end = s->entries + s->n;
	while (e < end && e->addr == start)
		e++;
	uint64_t size = e < end ? e->addr - start : MOST_BYTES;
	return size < MOST_BYTES ? (size_t)size : MOST_BYTES;
}

static bool is_running(const struct query *q)
{
	const struct record_host *h = q->model->host;

	return thisboot_saw(h->release, h->wall_ns, h->clock_ns);
}

static bool recorded_code(const struct query *q, uint64_t start, struct annotate_code *ret)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_TEXT);

	if (!s || !textsnap_find(s->bytes, s->len, start, &ret->bytes, &ret->n))
		return false;
	ret->source = "recording";
	return true;
}

/*
 * A function may be followed by code without a symbol, up to the next function: it begins with
 * padding that no function has within.
 */
static size_t code_end(const uint8_t *bytes, size_t n)
{
	enum { FILLING = 16, INT3 = 0xcc };
	size_t run = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_filling = bytes[i] == 0 || bytes[i] == INT3;

		run = !is_filling ? 0 : run && bytes[i] == bytes[i - 1] ? run + 1 : 1;
		if (run == FILLING)
			return i + 1 - FILLING;
	}
	return n;
}

/* The code in memory: of the kernel that runs here, or of the recorded one. */
static int code_from(struct query *q, const struct codesource *c, uint64_t start,
		     struct annotate_code *ret)
{
	size_t size = kernel_size(q, start), n = 0;
	uint8_t *bytes;

	if (!c->name) {
		ret->why = c->why;
		return 0;
	}
	if (!size) {
		ret->why = "where it ends is not known";
		return 0;
	}
	bytes = arena_alloc(&q->arena, size);
	if (!bytes)
		return -ENOMEM;
	int r = c->read(c->ctx, start, bytes, size, &n);
	if (r < 0 || !n) {
		ret->why =
			arena_printf(&q->arena, "%s: %s", c->name, strerror(r < 0 ? -r : EFAULT));
		return ret->why ? 0 : -ENOMEM;
	}
	n = code_end(bytes, n);
	if (!n)
		ret->why = "there is no code in it";
	else
		*ret = (struct annotate_code){
			.bytes = bytes, .n = n, .source = c->name, .live = c == q->engine->code};
	return 0;
}

static bool is_recorded(struct query *q, uint64_t start, struct annotate_code *ret)
{
	if (!recorded_bytes(q, start, &ret->bytes, &ret->n))
		return false;
	ret->source = "recording";
	return true;
}

static int kernel_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	if (map_frame_is_ksym(start)) {
		ret->why = "code that the kernel made while it ran is not recorded";
		return 0;
	}
	if (recorded_code(q, start, ret) || is_recorded(q, start, ret))
		return 0;
	if (q->engine->recorded_code)
		return code_from(q, q->engine->recorded_code, start, ret);
	if (q->engine->code && is_running(q))
		return code_from(q, q->engine->code, start, ret);
	ret->why = "the code of this function is not in the recording";
	return 0;
}

static int user_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	uint8_t *bytes = arena_alloc(&q->arena, MOST_BYTES);
	enum usersym_answer a;

	if (!bytes)
		return -ENOMEM;
	a = query_user_bytes(q, start, bytes, MOST_BYTES, &ret->n, &ret->source);
	if (a == USERSYM_NO_MEMORY)
		return -ENOMEM;
	if (a == USERSYM_OK && ret->n)
		ret->bytes = bytes;
	else if (a == USERSYM_PENDING || !is_recorded(q, start, ret))
		ret->why = a == USERSYM_PENDING ? "loading" : usersym_reason(a);
	ret->loading = a == USERSYM_PENDING;
	return 0;
}

int annotate_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	*ret = (struct annotate_code){0};
	return map_frame_is_kernel(start) ? kernel_code(q, start, ret) : user_code(q, start, ret);
}
