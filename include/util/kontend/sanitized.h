/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANITIZED_H
#define KONTEND_SANITIZED_H

/*
 * Whether a sanitizer that keeps a shadow of memory is built in: it takes more room than any
 * program, and makes calls of its own. 0 or 1, also for #if. gcc says so by a macro for each of
 * them, clang by a feature.
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
