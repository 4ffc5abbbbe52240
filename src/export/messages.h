/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_MESSAGES_H
#define KONTEND_EXPORT_MESSAGES_H

#include "kontend/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Messages of libprotobuf-c, allocated in one arena and freed with it. If memory is short the
 * messages are NULL and `failed` is set: a caller that makes many messages checks it once, at the
 * end. `= {0}` is empty.
 */
struct messages {
	struct arena arena;
	bool failed;
};

void *messages_room(struct messages *m, size_t n, size_t size);
/* @n messages initialized to @init; an array of pointers to them goes into *ret. */
void *messages_make(struct messages *m, size_t n, size_t size, const void *init, void ***ret);
#define MESSAGES(m, n, type, init, list)                                                           \
	messages_make((m), (n), sizeof(type), &(const type)init, (void ***)(list))

/* Writes the message @base (a ProtobufCMessage), compressed by gzip or as it is. 0, -ENOMEM, or the
 * error of the write. */
int messages_write(const void *base, bool packed, FILE *out);

#endif
