/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_DEMANGLE_H
#define KONTEND_SYM_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The source name of a C++ or Rust function, without its parameters. False: @name is not mangled,
 * is nested too deep, or this build has no demangler; then @ret is undefined.
 */
bool demangle(const char *name, char *ret, size_t size);

#endif
