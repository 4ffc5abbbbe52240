// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/gzip.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

enum { PACKED = 1 << 14, GZIP = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };

struct gzip {
	z_stream z;
	FILE *out;
	bool failed;
	size_t n_in;
	uint8_t in[PACKED], buf[PACKED];
};

static void *gzip_alloc(void *ctx, uInt n, uInt size)
{
	(void)ctx;
	return mem_calloc(n, size);
}

static void gzip_free(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

struct gzip *gzip_new(FILE *out)
{
	struct gzip *g = mem_calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->out = out;
	g->z.zalloc = gzip_alloc;
	g->z.zfree = gzip_free;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return g;
	mem_free(g);
	return NULL;
}

/* Compresses the pending bytes; @flush Z_FINISH also writes what zlib has buffered. */
static void gzip_deflate(struct gzip *g, int flush)
{
	g->z.next_in = g->in;
	g->z.avail_in = (uInt)g->n_in;
	g->n_in = 0;
	do {
		g->z.next_out = g->buf;
		g->z.avail_out = PACKED;
		g->failed |= deflate(&g->z, flush) == Z_STREAM_ERROR;
		size_t n = PACKED - g->z.avail_out;
		g->failed |= fwrite(g->buf, 1, n, g->out) != n;
	} while (!g->failed && g->z.avail_out == 0);
}

/* Callers pass a few bytes at a time, which are collected before zlib is called. */
void gzip_put(struct gzip *g, const void *data, size_t n)
{
	const uint8_t *at = data;

	while (n && !g->failed) {
		size_t now = n < PACKED - g->n_in ? n : PACKED - g->n_in;
		memcpy(g->in + g->n_in, at, now);
		g->n_in += now;
		at += now;
		n -= now;
		if (g->n_in == PACKED)
			gzip_deflate(g, Z_NO_FLUSH);
	}
}

int gzip_end(struct gzip *g)
{
	if (!g->failed)
		gzip_deflate(g, Z_FINISH);
	deflateEnd(&g->z);
	int r = g->failed ? -EIO : 0;
	mem_free(g);
	return r;
}
