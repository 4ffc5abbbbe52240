/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_USERCODE_H
#define KONTEND_USERCODE_H

#include <stdbool.h>

/*
 * Which code of a program is its own, and which is of libraries between it and the kernel: the C
 * library, the C++ one, and the runtimes of languages. By names alone, so it is the same in
 * recordings.
 */

/* All of that file is a runtime: "/usr/lib/libc.so.6", "/usr/bin/python3.11", "[vdso]". */
bool usercode_is_runtime_object(const char *path);
/* That function is of a runtime, in whatever file it is: "runtime.futex", "std::fs::write". */
bool usercode_is_runtime_function(const char *name);

#endif
