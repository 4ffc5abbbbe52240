// SPDX-License-Identifier: GPL-2.0-only
/* Built without BPF: tasks outside of our PID namespace have no names. */
#include "kontend/nsview.h"

#include <errno.h>

int nsview_new(struct nsview **ret, struct kerntypes *types, struct error *err)
{
	(void)types;
	*ret = NULL;
	return error_set(err, -ENOTSUP, "kontend was built without BPF");
}

void nsview_free(struct nsview *v)
{
	(void)v;
}

int nsview_look(struct nsview *v)
{
	(void)v;
	return -ENOTSUP;
}

size_t nsview_count_outside(const struct nsview *v)
{
	(void)v;
	return 0;
}

const struct sideband_source *nsview_names(struct nsview *v)
{
	(void)v;
	return NULL;
}
