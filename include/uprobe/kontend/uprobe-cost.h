/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UPROBE_COST_H
#define KONTEND_UPROBE_COST_H

#include "kontend/error.h"
#include "kontend/upsnap-items.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Cost of a hit on this machine: measured by `kontend bench uprobe` and kept until the next boot in
 * a small file. ns of one hit on one CPU, with a probe that counts; 0: not measured.
 */
struct uprobe_costs {
	uint64_t ns[UPSNAP_OUT_OF_LINE + 1][2]; /* by enum upsnap_class; [1]: return probes */
};

/* 0; -ENOENT: not measured since boot; or another negative errno. */
int uprobe_cost_load(struct uprobe_costs *ret);
int uprobe_cost_store(const struct uprobe_costs *c, struct error *err);

#endif
