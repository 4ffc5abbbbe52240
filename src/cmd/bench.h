/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_BENCH_H
#define KONTEND_CMD_BENCH_H

#include "kontend/opts.h"

/* What `bench` measures, each in its own file; the answer is the exit status. */
int cmd_bench_uprobe(const struct opts *o);
int cmd_bench_rotation(const struct opts *o);
int cmd_bench_page_fault(const struct opts *o);
int cmd_bench_mmap(const struct opts *o);

#endif
