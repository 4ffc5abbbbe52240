// SPDX-License-Identifier: GPL-2.0-only
/* Objects are packed to a fifth: unpacked they were a tenth of the program. */
#include "bpf-unpack.h"
#include "kontend/mem.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

struct bpf_object *bpf_open(const char *packed, size_t len, const struct bpf_object_open_opts *opts)
{
	uint64_t size;

	memcpy(&size, packed, sizeof(size));
	char *bytes = mem_calloc(1, (size_t)size);
	if (!bytes) {
		errno = ENOMEM;
		return NULL;
	}
	uLongf n = (uLongf)size;
	if (uncompress((Bytef *)bytes, &n, (const Bytef *)packed + sizeof(size),
		       (uLong)(len - sizeof(size))) != Z_OK) {
		mem_free(bytes);
		errno = EBADMSG;
		return NULL;
	}
	/* libbpf has copied what it needs when it has opened an object. */
	struct bpf_object *o = bpf_object__open_mem(bytes, n, opts);
	int code = errno;
	mem_free(bytes);
	errno = code;
	return o;
}
