/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NUMBER_H
#define KONTEND_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers in text from users, files and the kernel: ASCII digits only. strtoul() and strtod() also
 * accept blanks, signs, "0x", "inf" and exponents, turn -1 into a huge number, follow the locale,
 * and report an overflow only in errno. Numbers with a unit are read by units.h.
 *
 * All return 0, -EINVAL if there is no number, or -ERANGE if it is outside of the range; *ret is
 * set only on success.
 */

/* The number at *@at, at most @most; *@at moves after its last digit, and stays on an error. */
int number_take(const char **at, uint64_t most, uint64_t *ret);
/* As number_take(), in hexadecimal digits, with or without "0x" before them. */
int number_take_hex(const char **at, uint64_t *ret);
/* As number_take_hex() after "0x", else as number_take(): "8192", "0x2000". */
int number_take_any(const char **at, uint64_t *ret);
/* As number_take(), with a decimal point at most: "12", "0.5", ".5", "5.". */
int number_take_decimal(const char **at, double *ret);

/* The first @n characters of @text, which are all digits, as a number from @least to @most. */
int number_parse_n(const char *text, size_t n, uint64_t least, uint64_t most, uint64_t *ret);
/* The whole text. */
int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret);

#endif
