/* SPDX-License-Identifier: GPL-2.0-only */
/* A path that BPF reads name by name, for user space to join: see read-path.h. */
#ifndef KONTEND_INSPECT_LOCKS_PATH_SHARED_H
#define KONTEND_INSPECT_LOCKS_PATH_SHARED_H

enum {
	RAW_PATH_NAMES = 320,
	RAW_NAME = 64, /* longer names are cut */
};

/* Names in a tree, the innermost first, each with its 0. */
struct raw_path {
	unsigned int bytes, whole; /* whole: up to the root */
	char names[RAW_PATH_NAMES];
};

#endif
