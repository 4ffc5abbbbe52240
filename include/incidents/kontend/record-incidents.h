/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_INCIDENTS_H
#define KONTEND_RECORD_INCIDENTS_H

#include "kontend/opts.h"

/* `kontend record --trigger`: measures until it is stopped, and writes a file an incident. The exit
 * status. */
int record_incidents(const struct opts *o);

#endif
