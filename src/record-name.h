/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RECORD_NAME_H
#define KONTEND_SRC_RECORD_NAME_H

/* @path with @suffix behind it; NULL: no memory. The caller's to free. */
char *record_name_suffix(const char *path, const char *suffix);
/* PATH.20261120-143005, with a number behind it where that is taken; as above. */
char *record_name_part(const char *path);

#endif
