// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/protobuf.h"
#include "kontend/gzip.h"

#include <errno.h>
#include <protobuf-c/protobuf-c.h>
#include <string.h>

void *protobuf_room(struct protobuf *p, size_t n, size_t size)
{
	void *ret = arena_alloc(&p->arena, n * size + 1);

	p->failed |= !ret;
	return ret;
}

void *protobuf_make(struct protobuf *p, size_t n, size_t size, const void *init, void ***ret)
{
	uint8_t *items = protobuf_room(p, n, size);
	void **list = protobuf_room(p, n, sizeof(*list));

	if (!items || !list)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		memcpy(items + i * size, init, size);
		list[i] = items + i * size;
	}
	*ret = list;
	return items;
}

void *protobuf_one(struct protobuf *p, size_t size, const void *init)
{
	void *ret = protobuf_room(p, 1, size);

	if (ret)
		memcpy(ret, init, size);
	return ret;
}

char *protobuf_str(struct protobuf *p, const char *s, size_t len)
{
	char *ret = arena_strndup(&p->arena, s, len);

	p->failed |= !ret;
	return ret;
}

struct protobuf_output {
	ProtobufCBuffer base;
	struct gzip *gzip; /* NULL: not compressed */
	FILE *out;
	bool failed;
};

static void protobuf_append(ProtobufCBuffer *base, size_t n, const uint8_t *data)
{
	struct protobuf_output *into = (struct protobuf_output *)base;

	if (into->gzip)
		gzip_put(into->gzip, data, n);
	else
		into->failed |= fwrite(data, 1, n, into->out) != n;
}

int protobuf_write(const void *base, bool packed, FILE *out)
{
	struct protobuf_output into = {.base = {.append = protobuf_append},
				       .gzip = packed ? gzip_new(out) : NULL,
				       .out = out};
	int r;

	if (packed && !into.gzip)
		return -ENOMEM;
	errno = 0;
	protobuf_c_message_pack_to_buffer(base, &into.base);
	r = into.gzip ? gzip_end(into.gzip) : 0;
	if (r == 0 && (into.failed || fflush(out) != 0))
		r = -EIO;
	return r < 0 && errno ? -errno : r;
}
