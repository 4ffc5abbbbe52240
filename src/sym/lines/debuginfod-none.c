// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libdebuginfod: no downloads. */
#include "optional.h"

#include <errno.h>
#include <stdio.h>

const char *debuginfod_missing(void)
{
	return "debuginfod is not built in";
}

int debuginfod_find(const char *build_id, unsigned most_s, char *ret_why, size_t size)
{
	(void)build_id;
	(void)most_s;
	snprintf(ret_why, size, "%s", debuginfod_missing());
	return -ENOSYS;
}
