/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_REPORT_UPROBE_H
#define KONTEND_SRC_REPORT_UPROBE_H

#include <stdio.h>

struct jsonw;
struct report_data;

/* Uprobes and slots, in each format. */
void report_uprobe_text(const struct report_data *d, FILE *out);
void report_uprobe_text_sum(const struct report_data *d, FILE *out); /* of the overview */
void report_uprobe_json(const struct report_data *d, struct jsonw *j);
void report_uprobe_json_sum(const struct report_data *d, struct jsonw *j);
void report_uprobe_json_source(const struct report_data *d, struct jsonw *j);

#endif
