/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LIBRARY_H
#define KONTEND_SYM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Libraries that are loaded at first use: library_open(), LIBRARY_FIND() for each function, and
 * library_close(), which leaves the library in memory. In a portable build (meson_options.txt) the
 * functions are linked into the program: a static program cannot load libraries made for another
 * libc.
 */
#ifdef KONTEND_PORTABLE

static inline bool library_open(const char *soname, void **ret)
{
	(void)soname;
	*ret = NULL;
	return true;
}

static inline void library_close(void *lib)
{
	(void)lib;
}

#define LIBRARY_FIND(lib, function, ret) ((void)(lib), *(ret) = (function), true)

#else
#include <dlfcn.h>

static inline bool library_open(const char *soname, void **ret)
{
	*ret = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return *ret != NULL;
}

static inline void library_close(void *lib)
{
	if (lib)
		dlclose(lib);
}

/*
 * Stores the address of @name in the library @lib to the pointer at @ret: ISO C has no conversion
 * from dlsym()'s void pointer to a function pointer.
 */
static inline bool library_find(void *lib, const char *name, void *ret)
{
	void *p = dlsym(lib, name);

	memcpy(ret, &p, sizeof(p));
	return p != NULL;
}

#define LIBRARY_FIND(lib, function, ret) library_find(lib, #function, ret)

#endif

#endif
