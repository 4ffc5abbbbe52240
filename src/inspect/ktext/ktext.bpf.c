// SPDX-License-Identifier: GPL-2.0-only
/* Copies pages of the kernel's memory until one is not there. */
#include "kernel/base.h"

#include "shared.h"

char license_text[] SEC("license") = "GPL";

struct ktext_state state = {0};

ARRAY(pages, struct ktext_page, KTEXT_PAGES);

SEC("raw_tp")
int read_text(void *ctx)
{
	state.got = 0;
	for (__u32 i = 0; i < KTEXT_PAGES; i++) {
		__u32 key = i;
		struct ktext_page *p = bpf_map_lookup_elem(&pages, &key);
		if (!p || i >= state.wanted ||
		    bpf_probe_read_kernel(p->bytes, sizeof(p->bytes),
					  (void *)(state.addr + (__u64)i * KTEXT_PAGE)))
			break;
		state.got = i + 1;
	}
	return 0;
}
