/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTIONS_CONFIG_H
#define KONTEND_OPTIONS_CONFIG_H

#include "kontend/opts.h"
#include "kontend/pathgroup.h"
#include "kontend/query-columns.h"
#include "kontend/settings.h"
#include <limits.h>

/* Contents of the configuration. */
struct options_config {
	char path[PATH_MAX];
	struct pathgroups groups;
	bool no_symbol_cache;
	struct settings settings;
	struct query_columns columns;
	struct error
		refused; /* reason why the user's configuration was ignored; code 0: it was not */
	struct error warning; /* the first invalid line of [columns]; code 0: none */
	unsigned n_warnings;
};

/*
 * Reads it into @ret, which @o then refers to, and sets options in @o that the command line leaves
 * open. -EINVAL with @err if it is invalid; another negative errno if it cannot be read.
 */
int options_config_read(struct opts *o, struct options_config *ret, struct error *err);

/* Checks values of options that accept any text: -EINVAL with @err for an invalid one. */
int options_check_value(const struct config_line *l, struct error *err);
/* Calls settings_apply(), and drops a sort column that the rows do not have. */
void options_apply(const struct settings *s, struct opts *o);

#endif
