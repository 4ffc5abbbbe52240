/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SIGNALS_H
#define KONTEND_RECORD_SIGNALS_H

#include "kontend/error.h"

/* Blocks the signals that end a recording or begin another file; *ret_fd reports them (stall.h). */
int record_signals_open(int *ret_fd, struct error *err);
/* The same, with the signals of @more (ended by 0) instead of the one that begins another file. */
int record_signals_open_more(int *ret_fd, const int *more, struct error *err);

#endif
