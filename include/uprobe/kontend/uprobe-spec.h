/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_SPEC_H
#define KONTEND_UPROBE_SPEC_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The place of a probe as users give it: BINARY:FUNCTION, BINARY:FUNCTION+BYTES,
 * BINARY:FUNCTION%return, or BINARY:OFFSET into the file. Numbers are decimal or 0x.
 */
struct uprobe_spec {
	char binary[256];   /* a path, or a name without a slash */
	char function[160]; /* "": `offset` is into the file */
	uint64_t offset;    /* else from the start of the function */
	bool is_return;
};

/* 0, or -EINVAL with a message. */
int uprobe_spec_parse(const char *text, struct uprobe_spec *ret, struct error *err);

#endif
