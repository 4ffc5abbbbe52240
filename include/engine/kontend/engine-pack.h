/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENGINE_PACK_H
#define KONTEND_ENGINE_PACK_H

#include <stddef.h>

/* Contexts of libzstd, kept from one use to the next. */
struct engine_pack {
	void *pack, *unpack;
};

int engine_pack_init(struct engine_pack *p); /* 0 or -ENOMEM */
void engine_pack_deinit(struct engine_pack *p);
/* The most bytes that @len bytes take when they are packed. */
size_t engine_pack_bound(size_t len);
/* Bytes written to @buf; 0: no memory. */
size_t engine_pack(struct engine_pack *p, const void *data, size_t len, void *buf, size_t room);
/* 0 or -EBADMSG */
int engine_pack_restore(struct engine_pack *p, const void *data, size_t stored, void *buf,
			size_t len);

#endif
