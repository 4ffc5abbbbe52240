/* SPDX-License-Identifier: GPL-2.0-only */
/* Request and result of ktext.bpf.c. Included by both sides: plain C types only. */
#ifndef KONTEND_INSPECT_KTEXT_SHARED_H
#define KONTEND_INSPECT_KTEXT_SHARED_H

enum { KTEXT_PAGE = 4096, KTEXT_PAGES = 16 };

struct ktext_page {
	unsigned char bytes[KTEXT_PAGE];
};

struct ktext_state {
	unsigned long long addr; /* of the first page */
	unsigned int wanted, got;
};

#endif
