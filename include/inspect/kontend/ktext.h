/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KTEXT_H
#define KONTEND_KTEXT_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The running kernel's code as it is now, patched (alternatives, static calls, tracing), from
 * /proc/kcore or, without it, by a BPF program. Open it before rights are dropped; reading needs
 * none.
 */
struct ktext;

enum ktext_way { KTEXT_KCORE, KTEXT_BPF };

/* @kcore: NULL: "/proc/kcore". 0, or a negative errno with the errors of both ways. */
int ktext_open(struct ktext **ret, const char *kcore, struct error *err);
enum ktext_way ktext_way(const struct ktext *k);
const char *ktext_way_name(enum ktext_way w); /* "/proc/kcore", "BPF" */
/*
 * Reads up to @n bytes from @addr on; *ret_n: number of bytes read. 0; -EFAULT: none; or the errno
 * of running the program.
 */
int ktext_read(struct ktext *k, uint64_t addr, void *ret, size_t n, size_t *ret_n);
void ktext_close(struct ktext *k); /* NULL is fine */

#endif
