/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANITIZED_H
#define KONTEND_SANITIZED_H

/*
 * 1 if built with a sanitizer that has shadow memory, which is larger than any program and makes
 * system calls of its own; else 0. Usable in #if. gcc has a macro for each sanitizer, clang a
 * feature.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED_SHADOW 1
#endif
#endif
#ifndef SANITIZED_SHADOW
#define SANITIZED_SHADOW 0
#endif

#endif
