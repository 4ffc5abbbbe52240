/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by user space and on.bpf.c: plain C types only. */
#ifndef KONTEND_INSPECT_WAITS_ON_SHARED_H
#define KONTEND_INSPECT_WAITS_ON_SHARED_H

/* By number of a system call: enum waitrec_on_kind << ON_ARG_BITS | number of the argument. */
enum { ON_CALLS = 512, ON_ARG_BITS = 2 };

#endif
