// SPDX-License-Identifier: GPL-2.0-only
/* Built without libjansson: suites can be written but not read. */
#include "kontend/bench-suite.h"

#include <errno.h>

int bench_suite_read(struct bench_suite *ret, const char *text, size_t len, const char *name,
		     struct error *err)
{
	(void)text;
	(void)len;
	*ret = (struct bench_suite){0};
	return error_set(err, -ENOTSUP, "kontend was built without libjansson, which reads %s",
			 name);
}
