/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of object-names: see object-names.c. */
#ifndef KONTEND_OBJECT_NAMES_H
#define KONTEND_OBJECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { SKIP = 77 };

struct object_names_kind {
	const char *name;
	int (*begin)(void); /* prints the name of the lock; 0, SKIP, or 1 */
	void (*once)(int worker);
	bool by_processes; /* workers are processes */
};

/* Prints the reason, and returns SKIP. */
int object_names_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The folder for files, and a text as a regular expression. */
const char *object_names_folder(void);
const char *object_names_quoted(const char *text);
/* object-names-kernel.c: positions of files, uprobes, disks. */
const struct object_names_kind *object_names_kernel(size_t *ret_n);
/* object-names-system.c: networks, cgroups, virtual machines. */
const struct object_names_kind *object_names_more(size_t *ret_n);

#endif
