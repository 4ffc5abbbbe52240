// SPDX-License-Identifier: GPL-2.0-only
/* gzip by zlib, without a time in its header, so that equal profiles are equal bytes. */
#include "kontend/mem.h"
#include "pprof-int.h"

#include <errno.h>
#include <string.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>

enum { PACKED = 1 << 14, GZIP = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };

struct pprof_pack {
	z_stream z;
	FILE *out;
	bool failed;
	size_t n_in;
	uint8_t in[PACKED], buf[PACKED];
};

static void *take_memory(void *ctx, uInt n, uInt size)
{
	(void)ctx;
	return mem_calloc(n, size);
}

static void give_back(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

struct pprof_pack *pprof_pack_new(FILE *out)
{
	struct pprof_pack *k = mem_calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->out = out;
	k->z.zalloc = take_memory;
	k->z.zfree = give_back;
	if (deflateInit2(&k->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return k;
	mem_free(k);
	return NULL;
}

/* Compresses the pending bytes; @flush Z_FINISH also writes what zlib has buffered. */
static void pack(struct pprof_pack *k, int flush)
{
	k->z.next_in = k->in;
	k->z.avail_in = (uInt)k->n_in;
	k->n_in = 0;
	do {
		k->z.next_out = k->buf;
		k->z.avail_out = PACKED;
		k->failed |= deflate(&k->z, flush) == Z_STREAM_ERROR;
		size_t n = PACKED - k->z.avail_out;
		k->failed |= fwrite(k->buf, 1, n, k->out) != n;
	} while (!k->failed && k->z.avail_out == 0);
}

/* libprotobuf-c passes a few bytes at a time: collect them before calling zlib. */
void pprof_pack_put(struct pprof_pack *k, const void *data, size_t n)
{
	const uint8_t *at = data;

	while (n && !k->failed) {
		size_t now = n < PACKED - k->n_in ? n : PACKED - k->n_in;
		memcpy(k->in + k->n_in, at, now);
		k->n_in += now;
		at += now;
		n -= now;
		if (k->n_in == PACKED)
			pack(k, Z_NO_FLUSH);
	}
}

int pprof_pack_end(struct pprof_pack *k)
{
	if (!k->failed)
		pack(k, Z_FINISH);
	deflateEnd(&k->z);
	int r = k->failed ? -EIO : 0;
	mem_free(k);
	return r;
}
