/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_XML_H
#define KONTEND_XML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Text as the content of an XML element, in UTF-8: '&', '<' and '>' become references. It is not
 * for attribute values, which need quotes escaped, too. Characters that XML cannot have, among them
 * control characters other than a line feed, become '?', as in text.h.
 */
void xml_put_char(FILE *out, uint32_t ch);
/* At most @most characters of @text (SIZE_MAX: all); invalid UTF-8 becomes U+FFFD. */
void xml_put(FILE *out, const char *text, size_t most);

#endif
