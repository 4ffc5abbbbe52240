// SPDX-License-Identifier: GPL-2.0-only
/*
 * libzstd for data that is kept in memory: whole frames, through contexts that are set up once, as
 * that costs as much as packing a small piece. Level 1: the user waits for none of it, but all of
 * it is paid for in the thread that also draws.
 */
#include "engine-pack.h"
#include <errno.h>
#include <zstd.h>

enum { LEVEL = 1 };

int engine_pack_init(struct engine_pack *p)
{
	*p = (struct engine_pack){ZSTD_createCCtx(), ZSTD_createDCtx()};
	if (p->pack && p->unpack)
		return 0;
	engine_pack_deinit(p);
	return -ENOMEM;
}

void engine_pack_deinit(struct engine_pack *p)
{
	ZSTD_freeCCtx(p->pack);
	ZSTD_freeDCtx(p->unpack);
	*p = (struct engine_pack){0};
}

size_t engine_pack_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

size_t engine_pack(struct engine_pack *p, const void *data, size_t len, void *buf, size_t room)
{
	size_t n = ZSTD_compressCCtx(p->pack, buf, room, data, len, LEVEL);

	return ZSTD_isError(n) ? 0 : n;
}

int engine_unpack(struct engine_pack *p, const void *data, size_t stored, void *buf, size_t len)
{
	return ZSTD_decompressDCtx(p->unpack, buf, len, data, stored) == len ? 0 : -EBADMSG;
}
