// SPDX-License-Identifier: GPL-2.0-only
/* libprotobuf-c is given a message as a whole and passes its bytes on in pieces. */
#include "messages.h"
#include "pprof-int.h"

#include <errno.h>
#include <protobuf-c/protobuf-c.h>
#include <string.h>

void *messages_room(struct messages *m, size_t n, size_t size)
{
	void *ret = arena_alloc(&m->arena, n * size + 1);

	m->failed |= !ret;
	return ret;
}

void *messages_make(struct messages *m, size_t n, size_t size, const void *init, void ***ret)
{
	uint8_t *items = messages_room(m, n, size);
	void **list = messages_room(m, n, sizeof(*list));

	if (!items || !list)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		memcpy(items + i * size, init, size);
		list[i] = items + i * size;
	}
	*ret = list;
	return items;
}

struct into {
	ProtobufCBuffer base;
	struct pprof_pack *pack; /* NULL: not compressed */
	FILE *out;
	bool failed;
};

static void append(ProtobufCBuffer *base, size_t n, const uint8_t *data)
{
	struct into *into = (struct into *)base;

	if (into->pack)
		pprof_pack_put(into->pack, data, n);
	else
		into->failed |= fwrite(data, 1, n, into->out) != n;
}

int messages_write(const void *base, bool packed, FILE *out)
{
	struct into into = {.base = {.append = append},
			    .pack = packed ? pprof_pack_new(out) : NULL,
			    .out = out};
	int r;

	if (packed && !into.pack)
		return -ENOMEM;
	errno = 0;
	protobuf_c_message_pack_to_buffer(base, &into.base);
	r = into.pack ? pprof_pack_end(into.pack) : 0;
	if (r == 0 && (into.failed || fflush(out) != 0))
		r = -EIO;
	return r < 0 && errno ? -errno : r;
}
