/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers of the system calls in which threads sleep for a word, and wake others there. */
#ifndef KONTEND_INSPECT_KERNEL_FUTEX_NUMBERS_H
#define KONTEND_INSPECT_KERNEL_FUTEX_NUMBERS_H

enum {
	X86_FUTEX = 202,
	ARM64_FUTEX = 98,
	/* Of 32-bit programs, on both architectures. */
	I386_FUTEX = 240,
	I386_FUTEX_TIME64 = 422,
	/* The same for all programs. */
	FUTEX2_WAITV = 449,
	FUTEX2_WAKE = 454,
	FUTEX2_WAIT = 455,
	FUTEX2_REQUEUE = 456,
	X32_BIT = 0x40000000, /* of a program for x32 */
};

#endif
