/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PROTOBUF_H
#define KONTEND_PROTOBUF_H

#include "kontend/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Messages of libprotobuf-c in one arena: arena_deinit(&p->arena) frees them all, arena_reset()
 * makes it empty. If memory is short a message is NULL and `failed` stays set, so a caller that
 * makes many messages checks it once, at the end. `= {0}` is empty. There is no such code in builds
 * without libprotobuf-c (option pprof of the build).
 */
struct protobuf {
	struct arena arena;
	bool failed;
};

/* Zeroed memory for @n elements of @size bytes. */
void *protobuf_room(struct protobuf *p, size_t n, size_t size);
/* A copy of the first @len bytes of @s, with a NUL. */
char *protobuf_str(struct protobuf *p, const char *s, size_t len);
/* A copy of the message @init, and @n of them; *ret is an array of pointers to these. */
void *protobuf_one(struct protobuf *p, size_t size, const void *init);
void *protobuf_make(struct protobuf *p, size_t n, size_t size, const void *init, void ***ret);
#define PROTOBUF_MESSAGE(p, type, init) ((type *)protobuf_one((p), sizeof(type), &(const type)init))
#define PROTOBUF_MESSAGES(p, n, type, init, list)                                                  \
	protobuf_make((p), (n), sizeof(type), &(const type)init, (void ***)(list))

/*
 * Writes the message @base (a ProtobufCMessage), compressed by gzip if @packed. 0, -ENOMEM, or the
 * error of the write.
 */
int protobuf_write(const void *base, bool packed, FILE *out);

#endif
