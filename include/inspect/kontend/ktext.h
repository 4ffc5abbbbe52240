/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KTEXT_H
#define KONTEND_KTEXT_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The running kernel's code as it is now, patched (alternatives, static calls, tracing), out of
 * /proc/kcore or, where there is none, by a BPF program that is run for it. To be opened before
 * rights are given up; reading needs none then.
 */
struct ktext;

enum ktext_way { KTEXT_KCORE, KTEXT_BPF };

/* @kcore: NULL: "/proc/kcore". 0, or a negative errno with what both ways said. */
int ktext_open(struct ktext **ret, const char *kcore, struct error *err);
enum ktext_way ktext_way(const struct ktext *k);
const char *ktext_way_name(enum ktext_way w); /* "/proc/kcore", "BPF" */
/*
 * At most @n bytes from @addr on; *ret_n: as many were there. 0, -EFAULT: none are, or what running
 * the program said.
 */
int ktext_read(struct ktext *k, uint64_t addr, void *ret, size_t n, size_t *ret_n);
void ktext_close(struct ktext *k); /* NULL is fine */

#endif
