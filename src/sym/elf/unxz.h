/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_UNXZ_H
#define KONTEND_SYM_UNXZ_H

#include <stddef.h>

/*
 * Unpacks an xz file into at most @most bytes, mem_free() them. 0, -ENOMEM, -EBADMSG (damaged, or
 * larger than @most), -ENOTSUP (built without liblzma).
 */
int unxz(const void *from, size_t len, size_t most, void **ret, size_t *ret_len);

#endif
