/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CPU_WATCH_H
#define KONTEND_CPU_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which CPUs are online: one small file that stays open, whose text is compared with the last. */
struct cpu_watch {
	int fd; /* -1: cannot be read, and nothing is ever seen */
	size_t len;
	char text[4096];
};

void cpu_watch_open(struct cpu_watch *w, const char *path);
void cpu_watch_close(struct cpu_watch *w);
/* Is the text another one than at the last call, or when it was opened? */
bool cpu_watch_look(struct cpu_watch *w);
/* The CPUs of the text, as cpulist_parse() has them. */
int cpu_watch_list(const struct cpu_watch *w, uint32_t **ret, size_t *ret_n);

#endif
