/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STORY_FIGURES_H
#define KONTEND_STORY_FIGURES_H

#include "kontend/story.h"

#include <stdio.h>

/*
 * Figures of workloads as text: a line each, with tabs between the story, the case, the metric, its
 * unit and the value. So they come from the process of a workload, and with recordings.
 */
struct story_figure {
	char of[64], metric[32], unit[8];
	double value;
};

struct story_figures {
	struct story_figure *v;
	size_t n, cap;
};

void story_figures_write(FILE *out, const struct story *s, const struct bench_figures *f);
/* Those of @s alone. 0, -EINVAL for a line that is none, -ENOMEM. */
int story_figures_parse(struct story_figures *ret, const struct story *s, const char *text,
			size_t len);
/* Those of the workload that was recorded. 0, or negative with @err. */
int story_figures_recorded(const struct story *s, struct story_figures *ret, struct error *err);
void story_figures_deinit(struct story_figures *f);
/* In the unit of the figure, which goes to *ret_unit; NaN: there is none. */
double story_figures_value(const struct story_figures *f, const struct story_row *row,
			   const char **ret_unit);

/* The figures beside the published ones. @machine: where they are from. */
void story_figures_text(FILE *out, const struct story *s, const struct story_figures *f,
			const char *machine, bool is_recorded);
void story_figures_json(FILE *out, const struct story *s, const struct story_figures *f,
			const char *machine, bool is_recorded);

#endif
