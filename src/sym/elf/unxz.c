// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpacks xz with liblzma into a buffer that doubles. The decoder's own memory is limited as well,
 * since the file sets the size of its dictionary.
 */
#include "kontend/mem.h"
#include "optional.h"

#include <errno.h>
#include <lzma.h>

enum { FIRST_ROOM = 64 << 10, DECODER_MOST = 80 << 20 };

/* Enlarges the decoder's output buffer. */
static int enlarge(lzma_stream *s, uint8_t **p, size_t *cap, size_t most)
{
	size_t more = *cap ? *cap * 2 : FIRST_ROOM;
	uint8_t *q = more <= most ? mem_resize(*p, more, 1) : NULL;

	if (!q)
		return more <= most ? -ENOMEM : -EBADMSG;
	s->next_out = q + *cap;
	s->avail_out = more - *cap;
	*p = q;
	*cap = more;
	return 0;
}

int unxz(const void *from, size_t len, size_t most, void **ret, size_t *ret_len)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&s, DECODER_MOST, 0);
	uint8_t *p = NULL;
	size_t cap = 0;
	int code = status == LZMA_OK ? 0 : -ENOMEM;

	s.next_in = from;
	s.avail_in = len;
	while (!code && status == LZMA_OK) {
		code = s.avail_out ? 0 : enlarge(&s, &p, &cap, most);
		status = code ? status : lzma_code(&s, LZMA_FINISH);
	}
	if (!code && status != LZMA_STREAM_END)
		code = status == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	size_t n = (size_t)s.total_out;
	lzma_end(&s);
	if (code || !n) {
		mem_free(p);
		return code ? code : -EBADMSG;
	}
	*ret = p;
	*ret_len = n;
	return 0;
}
