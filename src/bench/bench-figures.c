// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a benchmark, in order. */
#include "kontend/bench-figures.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

enum { FIRST = 32 };

static struct bench_figure *add_figure(struct bench_figures *f)
{
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : FIRST;
		struct bench_figure *v = mem_resize(f->v, cap, sizeof(*v));

		if (!v) {
			f->code = -ENOMEM;
			return NULL;
		}
		f->v = v;
		f->cap = cap;
	}
	return &f->v[f->n++];
}

void bench_figures_put(struct bench_figures *f, const struct bench_metric *metric, double value,
		       const char *of, ...)
{
	struct bench_figure *one = add_figure(f);
	va_list args;

	if (!one)
		return;
	*one = (struct bench_figure){.metric = metric->name,
				     .unit = metric->unit,
				     .better = metric->better,
				     .value = value};
	va_start(args, of);
	vsnprintf(one->of, sizeof(one->of), of, args);
	va_end(args);
}

void bench_figures_deinit(struct bench_figures *f)
{
	mem_free(f->v);
	*f = (struct bench_figures){0};
}

const char *bench_figures_better(enum bench_better b)
{
	static const char *const names[] = {"fact", "higher", "lower"};

	return names[b];
}
