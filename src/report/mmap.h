/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_REPORT_MMAP_H
#define KONTEND_SRC_REPORT_MMAP_H

#include "format.h"
#include "kontend/query-mmap.h"

struct report_data;

/* Times of the mmap_locks of a memory cgroup in one mode: waiting, acquiring, holding. */
struct report_mmap_hist {
	const char *memcg, *mode;
	struct query_hist waited, acquired, held;
};

/* mmap.c: mmap_locks by process, memory cgroup or call path. */
int report_mmap_ask(struct report_data *d, const struct query_spec *s, struct error *err);
void report_mmap_text(const struct report_data *d, FILE *out);
void report_mmap_text_worst(const struct report_data *d, FILE *out);
void report_mmap_json_worst(const struct report_data *d, struct jsonw *j);
void report_mmap_json(const struct report_data *d, struct jsonw *j);

#endif
