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
/*
 * Functions inlined from that file are the C library's: "/usr/include/bits/unistd.h" has read(),
 * which checks the size of the buffer, in programs that are compiled with _FORTIFY_SOURCE.
 */
bool usercode_is_library_header(const char *path);
/* One of these that takes a lock of a database or of a library: "LWLockAcquire". */
bool usercode_is_lock(const char *name);
/*
 * The innermost function of a chain is the C library's for the system call, in a program with that
 * library in it: "__libc_flock". @call NULL: it is not known which call.
 */
bool usercode_is_wrapper(const char *name, const char *call);
/* It stands for any function of the program: "Interpreter" of Java, as perf maps name it. */
bool usercode_is_interpreter(const char *name);
/* It is the C library's around all that a thread does: "start_thread". */
bool usercode_begins_thread(const char *name);

#endif
