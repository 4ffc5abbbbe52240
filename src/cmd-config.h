/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_CMD_CONFIG_H
#define KONTEND_SRC_CMD_CONFIG_H

#include "kontend/opts.h"
#include "kontend/pathgroup.h"
#include "kontend/settings.h"
#include <limits.h>

/* What the configuration says. */
struct cmd_config {
	char path[PATH_MAX];
	struct pathgroups groups;
	bool no_symbol_cache;
	struct settings settings;
};

/*
 * Reads it into @ret, which @o refers to from then on, and sets in @o what its settings say and the
 * command line does not. -EINVAL with @err for what is wrong in it;
 * negative errno where it cannot be read.
 */
int cmd_config_read(struct opts *o, struct cmd_config *ret, struct error *err);

/* What options take as any text is a value only if it has a meaning: else -EINVAL with @err. */
int cmd_settings_check(const struct config_line *l, struct error *err);
/* settings_apply(), without an order of rows by a column that they do not have. */
void cmd_settings_apply(const struct settings *s, struct opts *o);

#endif
