// SPDX-License-Identifier: GPL-2.0-only
/* Built without libprotobuf-c: profiles are not available. */
#include "kontend/pprof.h"

#include <errno.h>

int pprof_new(struct pprof **ret, const struct pprof_spec *s, struct error *err)
{
	(void)ret;
	(void)s;
	return error_set(err, -ENOTSUP,
			 "kontend was built without libprotobuf-c, which profiles need");
}

int pprof_add(struct pprof *p, struct query *q, struct error *err)
{
	(void)p;
	(void)q;
	(void)err;
	return 0;
}

int pprof_write(struct pprof *p, FILE *out, struct error *err)
{
	(void)p;
	(void)out;
	(void)err;
	return 0;
}

int pprof_write_otlp(struct pprof *p, FILE *out, bool packed, struct error *err)
{
	(void)packed;
	return pprof_write(p, out, err);
}

int pprof_otlp_left_out(const void *answer, size_t n, int64_t *ret, char *why, size_t size)
{
	(void)answer;
	(void)n;
	(void)ret;
	(void)why;
	(void)size;
	return -EBADMSG;
}

void pprof_free(struct pprof *p)
{
	(void)p;
}
