/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_KTEXT_BPF_H
#define KONTEND_INSPECT_KTEXT_BPF_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

struct ktext_bpf;

/* 0; -ENOTSUP: built without BPF; or the errno of the kernel. */
int ktext_bpf_open(struct ktext_bpf **ret, struct error *err);
/*
 * The pages from @addr on, at most @n of them; *ret: their bytes, valid until the next call,
 * *ret_n: their number. 0 or a negative errno.
 */
int ktext_bpf_read(struct ktext_bpf *b, uint64_t addr, uint32_t n, const uint8_t **ret,
		   uint32_t *ret_n);
void ktext_bpf_close(struct ktext_bpf *b); /* NULL is fine */

#endif
