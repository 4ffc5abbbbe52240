/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_CMD_CONFIG_H
#define KONTEND_SRC_CMD_CONFIG_H

#include "kontend/opts.h"
#include "kontend/pathgroup.h"
#include <limits.h>

/* What the configuration says. */
struct cmd_config {
	char path[PATH_MAX];
	struct pathgroups groups;
	bool no_symbol_cache;
};

/*
 * Reads it into @ret, which @o refers to from then on. -EINVAL with @err for what is wrong in it;
 * negative errno where it cannot be read.
 */
int cmd_config_read(struct opts *o, struct cmd_config *ret, struct error *err);

#endif
