/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LIBRARY_H
#define KONTEND_LIBRARY_H

#include "kontend/error.h"
#include <stddef.h>

/*
 * A library that the program loads when it first needs it. A struct of the caller has a pointer for
 * each function; a table says which function belongs to which member:
 *
 *     struct curl { __typeof__(curl_easy_init) *init; ... };
 *     static const struct library_function functions[] = {
 *             LIBRARY_FUNCTION(struct curl, init, curl_easy_init), ... };
 *     static const struct library_spec spec = {"libcurl.so.4", functions, 8, "send", "libcurl4"};
 *
 * In a portable build (meson_options.txt) the functions are linked into the program, because a
 * static program cannot load libraries that were built for another libc.
 */
struct library_function {
	const char *name;
	size_t at; /* offset of the pointer in the caller's struct */
#ifdef KONTEND_PORTABLE
	void (*linked)(void);
#endif
};

#ifdef KONTEND_PORTABLE
#define LIBRARY_FUNCTION(type, member, function)                                                   \
	{                                                                                          \
#function, offsetof(type, member), (void (*)(void))(function)                      \
	}
#else
#define LIBRARY_FUNCTION(type, member, function)                                                   \
	{                                                                                          \
#function, offsetof(type, member)                                                  \
	}
#endif

struct library_spec {
	const char *soname;
	const struct library_function *functions;
	size_t n;
	const char *purpose; /* for the error: "Cannot PURPOSE: ..." */
	const char *package; /* "...; install PACKAGE" */
};

/*
 * Loads the library and stores the addresses of all functions in the caller's struct at @ret. The
 * library stays in memory until the process ends, so later calls are cheap; nothing is to be freed.
 * 0, or -ENOTSUP with @err if there is no such library or it lacks one of the functions; some
 * pointers may be set then.
 */
int library_load(const struct library_spec *spec, void *ret, struct error *err);

#endif
