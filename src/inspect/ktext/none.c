// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF (meson -Dbpf=disabled, or no libbpf or clang at build time). */
#include "bpf.h"

#include <errno.h>

int ktext_bpf_open(struct ktext_bpf **ret, struct error *err)
{
	(void)ret;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}

int ktext_bpf_read(struct ktext_bpf *b, uint64_t addr, uint32_t n, const uint8_t **ret,
		   uint32_t *ret_n)
{
	(void)b;
	(void)addr;
	(void)n;
	(void)ret;
	(void)ret_n;
	return -ENOTSUP;
}

void ktext_bpf_close(struct ktext_bpf *b)
{
	(void)b;
}
