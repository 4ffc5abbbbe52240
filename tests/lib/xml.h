/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_XML_H
#define KONTEND_TESTS_XML_H

#include <stddef.h>

/*
 * Is it well-formed XML 1.0, in the subset that we write? Elements nest and end, attributes are
 * quoted and occur once, text has no bare "<", "&" or control character; one root, CDATA and a
 * declaration may be there, comments and DTDs may not. 0, or -EINVAL with the offset of the first
 * byte that is wrong.
 */
int xml_check(const char *text, size_t *ret_at);

#endif
