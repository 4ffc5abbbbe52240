/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BENCH_H
#define KONTEND_BENCH_H

#include "kontend/opts.h"

/* `kontend bench`: answers the exit status. @report is the verb `report`, which --measure runs. */
int bench_main(const struct opts *o, int (*report)(const struct opts *o));

#endif
