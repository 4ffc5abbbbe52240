/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTS_FILTER_H
#define KONTEND_OPTS_FILTER_H

#include "kontend/error.h"
#include <stddef.h>

/*
 * Copies a filter into @ret and replaces alternative names of lock types (rtmutex, percpu-rwsem) by
 * those in tables. -EINVAL with @err if it does not fit.
 */
int opts_filter(const char *filter, char *ret, size_t size, struct error *err);
enum { OPTS_FILTER = 1024 };

#endif
