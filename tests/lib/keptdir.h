/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_KEPTDIR_H
#define KONTEND_TESTS_KEPTDIR_H

#include <sys/types.h>

/* A folder of the test's own, below which is what kontend keeps, and damage to a file in it. */
enum { KEPTDIR_PATH = 64 };

/* Makes one at @ret. @cache: where in it things are kept; "": all of it. */
void cachedir_make(char ret[KEPTDIR_PATH], const char *cache);
/* 0, or what rm answered. */
int cachedir_remove(const char *path);
/* One bit of a byte. */
void cachedir_damage(const char *file, off_t at);

#endif
