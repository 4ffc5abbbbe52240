/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_MACHINE_H
#define KONTEND_QUERY_MACHINE_H

#include "kontend/record.h"

struct query;

/* The machine of the recording: texts are "" where the recording lacks them. */
struct record_machine query_machine(const struct query *q);

#endif
