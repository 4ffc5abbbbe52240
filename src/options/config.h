/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTIONS_CONFIG_H
#define KONTEND_OPTIONS_CONFIG_H

#include "kontend/opts.h"
#include "kontend/pathgroup.h"
#include "kontend/query-columns.h"
#include "kontend/settings.h"
#include <limits.h>

/* What the configuration says. */
struct options_config {
	char path[PATH_MAX];
	struct pathgroups groups;
	bool no_symbol_cache;
	struct settings settings;
	struct query_columns columns;
	struct error refused; /* the user's configuration was left out; code 0: it was not */
	struct error warning; /* the first faulty line of [columns]; code 0: there is none */
	unsigned n_warnings;
};

/*
 * Reads it into @ret, which @o refers to from then on, and sets in @o what its settings say and the
 * command line does not. -EINVAL with @err for what is wrong in it;
 * negative errno where it cannot be read.
 */
int options_config_read(struct opts *o, struct options_config *ret, struct error *err);

/* What options take as any text is a value only if it has a meaning: else -EINVAL with @err. */
int options_check_value(const struct config_line *l, struct error *err);
/* settings_apply(), without an order of rows by a column that they do not have. */
void options_apply(const struct settings *s, struct opts *o);

#endif
