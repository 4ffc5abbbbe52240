/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_CALLS_ON_H
#define KONTEND_INSPECT_LOCKS_CALLS_ON_H

/* enum waitrec_on_kind: what an argument of that system call names; *@ret_arg: which, from 0. */
unsigned calls_on_kind(long number, unsigned *ret_arg);

#endif
