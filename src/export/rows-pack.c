// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream of the C library that compresses with libzstd, so that writers of rows need not know
 * whether rows are compressed. Compressed data is passed on in blocks; only one block is kept.
 */
#include "kontend/mem.h"
#include "kontend/rows.h"
#include <errno.h>
#include <zstd.h>

enum { BLOCK = 1 << 17 };

struct packed {
	FILE *to;
	ZSTD_CCtx *zstd;
	char block[BLOCK];
};

static int pass_on(struct packed *p, size_t len)
{
	return fwrite(p->block, 1, len, p->to) == len ? 0 : -1;
}

/* Runs until all of @data is taken; with @end, until the whole frame is passed on. */
static int pack(struct packed *p, const char *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left = 1;

	while (end == ZSTD_e_end ? left != 0 : in.pos < in.size) {
		ZSTD_outBuffer out = {p->block, sizeof(p->block), 0};

		left = ZSTD_compressStream2(p->zstd, &out, &in, end);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return -1;
		}
		if (pass_on(p, out.pos) < 0)
			return -1;
	}
	return 0;
}

static ssize_t packed_write(void *ctx, const char *data, size_t len)
{
	return pack(ctx, data, len, ZSTD_e_continue) < 0 ? 0 : (ssize_t)len;
}

static int packed_close(void *ctx)
{
	struct packed *p = ctx;
	int r = pack(p, NULL, 0, ZSTD_e_end);

	ZSTD_freeCCtx(p->zstd);
	mem_free(p);
	return r;
}

FILE *rows_pack_open(FILE *to, int level)
{
	static const cookie_io_functions_t functions = {.write = packed_write,
							.close = packed_close};
	struct packed *p = mem_calloc(1, sizeof(*p));
	FILE *f = NULL;

	if (!p)
		return NULL;
	*p = (struct packed){.to = to, .zstd = ZSTD_createCCtx()};
	if (p->zstd) {
		ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level);
		f = fopencookie(p, "w", functions);
	}
	if (!f) {
		ZSTD_freeCCtx(p->zstd);
		mem_free(p);
	}
	return f;
}
