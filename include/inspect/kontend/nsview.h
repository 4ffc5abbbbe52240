/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NSVIEW_H
#define KONTEND_NSVIEW_H

#include "kontend/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * All tasks of the machine, read by BPF from within a PID namespace, where /proc shows only the
 * tasks inside.
 */
struct kerntypes;
struct nsview;
struct ns_task; /* ns-shared.h */
struct ns_config;
struct sideband_source;

int nsview_new(struct nsview **ret, struct kerntypes *types, struct error *err);
void nsview_free(struct nsview *v); /* NULL is fine */

const struct ns_config *nsview_config(const struct nsview *v);
/* Searches again. 0, -EAGAIN (tasks started and ended so fast that some may be missing), or the
 * kernel's negative errno. */
int nsview_look(struct nsview *v);
size_t nsview_tasks(const struct nsview *v, const struct ns_task **ret);
size_t nsview_count_outside(const struct nsview *v);
/* The number in the initial namespace of a thread that is @tid here; 0: there is none. */
int32_t nsview_host_id(const struct nsview *v, int32_t tid);
/* Searches again, and returns the names of the tasks outside. NULL for NULL. */
const struct sideband_source *nsview_names(struct nsview *v);

#endif
