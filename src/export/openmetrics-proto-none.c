// SPDX-License-Identifier: GPL-2.0-only
/* Built without libprotobuf-c: metrics are available as text only. */
#include "kontend/openmetrics.h"

#include <errno.h>

bool openmetrics_proto_is_built(void)
{
	return false;
}

int openmetrics_proto_new(struct openmetrics_proto **ret, FILE *out)
{
	(void)ret;
	(void)out;
	return -ENOTSUP;
}

void openmetrics_proto_family(struct openmetrics_proto *p, const struct openmetrics_family *f)
{
	(void)p;
	(void)f;
}

void openmetrics_proto_value(struct openmetrics_proto *p, const char *const *labels, double value)
{
	(void)p;
	(void)labels;
	(void)value;
}

void openmetrics_proto_histogram(struct openmetrics_proto *p, const char *const *labels,
				 const struct openmetrics_hist *h,
				 const struct openmetrics_exemplar *e)
{
	(void)p;
	(void)labels;
	(void)h;
	(void)e;
}

int openmetrics_proto_end(struct openmetrics_proto *p)
{
	(void)p;
	return 0;
}
