/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_PATH_H
#define KONTEND_RECORD_PATH_H

/*
 * PATH.20261120-143005, and a number after it if that is taken; NULL: no memory. The caller frees
 * it.
 */
char *record_path_part(const char *path);

#endif
