/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LIBRARY_H
#define KONTEND_SYM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Libraries that are loaded when they are used: library_open(), LIBRARY_FIND() of each function,
 * library_close(), which leaves it in memory. In a portable build (meson_options.txt) the functions
 * are part of the program, which cannot load libraries: code of another libc than its own.
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
 * The address of @name in what dlopen() answered, to the pointer at @ret: ISO C has no conversion
 * of what dlsym() returns to what it stands for.
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
