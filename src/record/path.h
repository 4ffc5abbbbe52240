/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_PATH_H
#define KONTEND_RECORD_PATH_H

/* @path with @suffix behind it; NULL: no memory. The caller's to free. */
char *record_path_suffix(const char *path, const char *suffix);
/* PATH.20261120-143005, with a number behind it where that is taken; as above. */
char *record_path_part(const char *path);

#endif
