/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_MACHINE_H
#define KONTEND_QUERY_MACHINE_H

#include "kontend/record.h"

struct query;

/* What the recording says of its machine: texts are "" where it does not. */
struct record_machine query_machine(const struct query *q);

#endif
