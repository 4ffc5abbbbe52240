// SPDX-License-Identifier: GPL-2.0-only
/* For builds without liblzma: packed symbols are not read. */
#include "optional.h"

#include <errno.h>

int unxz(const void *from, size_t len, size_t most, void **ret, size_t *ret_len)
{
	(void)from;
	(void)len;
	(void)most;
	(void)ret;
	(void)ret_len;
	return -ENOTSUP;
}
