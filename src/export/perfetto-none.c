// SPDX-License-Identifier: GPL-2.0-only
/* Built without libprotobuf-c: traces for Perfetto are not available. */
#include "trace-int.h"

#include <errno.h>

int trace_perfetto_check(struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "kontend was built without libprotobuf-c, which --format perfetto needs");
}

struct trace_sink *trace_perfetto(struct tracefile *t)
{
	(void)t;
	return NULL;
}
