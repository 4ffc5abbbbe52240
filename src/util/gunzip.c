// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/gunzip.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"

#include <errno.h>
#include <unistd.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

enum { PIECE = 1 << 16, GZIP = 16 + MAX_WBITS };

struct gunzip {
	z_stream z;
	int from, to;
	off_t at;	/* of the next byte to be read */
	uint64_t left;	/* that may be written */
	bool is_within; /* a member has begun and not ended */
	uint8_t in[PIECE], out[PIECE];
};

static void *gunzip_alloc(void *ctx, uInt n, uInt size)
{
	(void)ctx;
	return mem_calloc(n, size);
}

static void gunzip_free(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

/* Positive: bytes are there; 0: none are left. */
static int read_more(struct gunzip *g)
{
	ssize_t n;

	do
		n = pread(g->from, g->in, PIECE, g->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	g->at += n;
	g->z.next_in = g->in;
	g->z.avail_in = (uInt)n;
	return n > 0;
}

/* A piece of output. A file may have several members, one after the other. */
static int step(struct gunzip *g)
{
	if (!g->is_within && inflateReset(&g->z) != Z_OK)
		return -EBADMSG;
	g->is_within = true;
	g->z.next_out = g->out;
	g->z.avail_out = PIECE;
	int r = inflate(&g->z, Z_NO_FLUSH);
	if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
		return r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	g->is_within = r != Z_STREAM_END;
	size_t n = PIECE - g->z.avail_out;
	if (n > g->left)
		return -EFBIG;
	g->left -= n;
	return fdio_write_all(g->to, (const char *)g->out, n);
}

static int unpack(struct gunzip *g)
{
	int r = 0;

	while (!r) {
		r = g->z.avail_in || (g->is_within && !g->z.avail_out) ? 1 : read_more(g);
		if (!r)
			return g->is_within ? -ENODATA : 0;
		r = r < 0 ? r : step(g);
	}
	return r;
}

int gunzip_file(int from, int to, uint64_t most)
{
	struct gunzip *g = mem_calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->from = from;
	g->to = to;
	g->left = most;
	g->z.zalloc = gunzip_alloc;
	g->z.zfree = gunzip_free;
	int r = inflateInit2(&g->z, GZIP) == Z_OK ? unpack(g) : -ENOMEM;
	inflateEnd(&g->z);
	mem_free(g);
	return r;
}
