/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_APP_SUMS_H
#define KONTEND_APP_SUMS_H

#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"

struct app;

/* Sums that each frame queries once, for the first lines and the overview. Texts: the query's. */
struct app_sums {
	struct query_overview now;
	struct query_perf_sum perf;
	struct query_rotation_sum rotation;
	struct query_uprobe_sum uprobe;
};

/* Where most of the waiting for a lock is, in which system call, and where its holder is. */
struct app_places {
	const char *at, *syscall, *owner_at;
};

/* Of this frame; NULL: there was no memory to ask. */
const struct app_sums *app_sums(const struct app *a);
/* The task that causes what the verdict reports; "" = no task, or unknown. */
const char *app_sums_because(const struct app *a);
/* Lines of programs that the lock of the verdict is about; NULL: not known. */
struct app_places app_sums_places(const struct app *a);
/* Where something is wrong with kernel locks: who waits besides, in a sentence; NULL: too few. */
const char *app_sums_also(const struct app *a);
/* "futex 31, I/O 2": tasks that wait for what is no kernel lock; NULL: none, or not known. */
const char *app_sums_elsewhere(const struct app *a);

#endif
