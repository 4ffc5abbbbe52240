// SPDX-License-Identifier: GPL-2.0-only
/* A source that writes what it hands through. */
#include "tee.h"
#include "kontend/mem.h"

#include <errno.h>

struct tee {
	struct source source;
	struct source *inner;
	struct writer *writer;
};

static struct tee *tee_of(struct source *s)
{
	return (struct tee *)s;
}

static int tee_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct tee *t = tee_of(s);
	struct record rec;
	int e = source_next(t->inner, timeout_ms, &rec, err);

	if (e)
		return e;
	e = writer_put(t->writer, &rec, err);
	if (e) {
		source_release(t->inner, &rec);
		return e;
	}
	*ret = rec;
	return 0;
}

static void tee_release(struct source *s, struct record *r)
{
	source_release(tee_of(s)->inner, r);
}

static int tee_fd(struct source *s)
{
	return source_fd(tee_of(s)->inner);
}

static void tee_set_tick(struct source *s, uint64_t tick_ns)
{
	source_set_tick(tee_of(s)->inner, tick_ns);
}

static void tee_free(struct source *s)
{
	source_free(tee_of(s)->inner);
	mem_free(s);
}

static const struct source_ops tee_ops = {
	.next = tee_next,
	.release = tee_release,
	.fd = tee_fd,
	.set_tick = tee_set_tick,
	.free = tee_free,
};

int tee_new(struct source **ret, struct source *inner, struct writer *w, struct error *err)
{
	struct tee *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return error_set(err, -ENOMEM,
				 "cannot set up writing while reading: out of memory");
	*t = (struct tee){.source = {.ops = &tee_ops}, .inner = inner, .writer = w};
	*ret = &t->source;
	return 0;
}
