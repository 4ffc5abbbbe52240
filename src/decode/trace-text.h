/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_DECODE_TRACE_TEXT_H
#define KONTEND_SRC_DECODE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_text {
	const char *name; /* within the text, not NUL-terminated */
	size_t name_len;
	uint32_t id;
	size_t fields_end; /* offset after the last field line */
	bool is_plain;	   /* only fields of the form
			      "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;" */
};

/* False: @text does not begin like a tracefs format file, with name and ID. */
bool trace_text_scan(const char *text, size_t len, struct trace_text *ret);

#endif
