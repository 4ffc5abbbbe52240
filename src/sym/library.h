/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LIBRARY_H
#define KONTEND_SYM_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/*
 * The address of @name in what dlopen() answered, to the pointer at @ret: ISO C has no conversion
 * of what dlsym() returns to what it stands for.
 */
static inline bool library_find(void *lib, const char *name, void *ret)
{
	void *p = dlsym(lib, name);

	memcpy(ret, &p, sizeof(p));
	return p != NULL;
}

#endif
