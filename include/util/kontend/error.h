/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ERROR_H
#define KONTEND_ERROR_H

/*
 * The message for the user when an operation fails: one sentence with what was tried, on which
 * object, what the kernel or the file said, and what to do. It is set once, where the failure
 * occurs, and passed up unchanged; callers above only forward the code.
 */
struct error {
	int code;	/* negative errno, 0 = no error */
	char text[600]; /* NUL-terminated, no newline, no control characters */
};

/*
 * Fills @err (which may be NULL) unless it already has an error, and returns @code, so that `return
 * error_set(err, -EINVAL, ...)` is one line. @code is a negative errno.
 */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The kernel's own ENOTSUPP, which some of its calls return: the C library has no words for it. */
enum { KERNEL_ENOTSUPP = 524 };

/* As strerror(-code); KERNEL_ENOTSUPP has the words of ENOTSUP. */
const char *error_words(int code);

/* As error_set(), with ": error_words(code)" appended. */
int error_errno(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Out of memory: "No memory for WHAT: end other programs". @what is a noun, or a verb with "ing".
 * Returns -ENOMEM.
 */
int error_enomem(struct error *err, const char *what, ...) __attribute__((format(printf, 2, 3)));

#endif
