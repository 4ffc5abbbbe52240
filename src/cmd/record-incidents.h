/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_RECORD_INCIDENTS_H
#define KONTEND_CMD_RECORD_INCIDENTS_H

#include "kontend/opts.h"

/* `kontend record --trigger`: measures until it is stopped, and writes a file an incident. The exit
 * status. */
int cmd_record_incidents(const struct opts *o);

#endif
