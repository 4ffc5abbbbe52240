// SPDX-License-Identifier: GPL-2.0-only
/* For a libzstd that takes no repetitions from the caller: it finds them itself. */
#include "pack.h"

long records_pack(struct pack *p, const void *data, size_t len, void *buf, size_t room)
{
	(void)p;
	(void)data;
	(void)len;
	(void)buf;
	(void)room;
	return 0;
}
