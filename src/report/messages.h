/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_MESSAGES_H
#define KONTEND_REPORT_MESSAGES_H

#include "kontend/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Messages of libprotobuf-c that are made in one arena, and go with it. Where memory is short they
 * are NULL and `failed` is set: who makes many asks once, at the end. `= {0}` is none.
 */
struct messages {
	struct arena arena;
	bool failed;
};

void *messages_room(struct messages *m, size_t n, size_t size);
/* @n messages that begin as @init, and an array of pointers to them into *ret. */
void *messages_make(struct messages *m, size_t n, size_t size, const void *init, void ***ret);
#define MESSAGES(m, n, type, init, list)                                                           \
	messages_make((m), (n), sizeof(type), &(const type)init, (void ***)(list))

/* The message @base (a ProtobufCMessage), packed by gzip or as it is. 0, -ENOMEM, or why not. */
int messages_write(const void *base, bool packed, FILE *out);

#endif
