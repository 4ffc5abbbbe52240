/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SEND_H
#define KONTEND_SEND_H

#include "kontend/error.h"
#include <stdbool.h>

/* Is it an address of HTTP, and no file's name? */
bool send_is_address(const char *to);
/* 0, or -ENOTSUP with @err: it was not built in, or the library is not there. */
int send_check(struct error *err);
/*
 * Sends what is in the file @fd, a request of OTLP that is packed by gzip, to a collector, and
 * waits for its answer, half a minute at most. 0, or negative with @err: it was not taken, or not
 * all of it; 1 with @err: it was, and the collector has something to say.
 */
int send_profile(int fd, const char *to, struct error *err);

#endif
