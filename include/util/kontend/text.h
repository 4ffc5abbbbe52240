/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEXT_H
#define KONTEND_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text from outside (comm, path, symbol, file) for a terminal or a report. UTF-8 in and out;
 * invalid UTF-8, control characters (C0, C1, DEL) and bidirectional overrides become '?'.
 */

/* Copies at most size-1 bytes of @src (whole characters only), cleaned; returns dst. */
char *text_clean(char *dst, size_t size, const char *src);

/* Decodes one character: *ret_ch (U+FFFD on a bad byte), returns the bytes used (0 at the NUL). */
size_t text_decode(const char *s, uint32_t *ret_ch);
size_t text_encode(char out[4], uint32_t ch); /* UTF-8 bytes written, 1..4 */
int text_char_width(uint32_t ch);	      /* 0 (combining), 1 or 2 columns; own tables */
int text_width(const char *s);		      /* columns */

/* True if a word begins like a number ("14.2ms" "~3" "<0.1" "+0:21", but not "0xffff"). */
bool text_is_figure(const char *word);

/*
 * Shortens text like "name/812 W", "/folder/file" or "function …356c" to @width so that its end
 * stays: into @dst. False: it fits, it has no such end, or there is no room for both.
 */
bool text_keep_id(char *dst, size_t size, const char *s, int width);

/* Case-insensitive (ASCII) substring test; an empty needle is contained in everything. */
bool text_contains(const char *haystack, const char *needle);
/* The same for the same bytes in every run; NULL counts as "". */
uint64_t text_hash(const char *s);

/* Two digits per byte: 2 * @n characters and a NUL. */
void text_hex(char *ret, const void *bytes, size_t n);

#endif
