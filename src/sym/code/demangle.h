/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_DEMANGLE_H
#define KONTEND_SYM_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name that a C++ or Rust function has in its source, without its parameters. False: @name is
 * not one of these, or too deep, or this build knows none; then nothing is said about @ret.
 */
bool demangle(const char *name, char *ret, size_t size);

#endif
