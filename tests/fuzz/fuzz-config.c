// SPDX-License-Identifier: GPL-2.0-only
/* Any text as a configuration: what is refused says where, and groups stay within their bounds. */
#include "fuzz.h"
#include "kontend/config.h"
#include "kontend/pathgroup.h"

#include <string.h>

static int take(void *ctx, const struct config_line *l, struct error *err)
{
	fuzz_require(*l->section && *l->key && *l->value);
	return pathgroup_add(ctx, l->key, l->value, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pathgroups own;
	const struct config_reader r = {take, &own};
	struct error err = {0};

	own = (struct pathgroups){0};
	if (config_parse((const char *)data, size, "file", &r, &err) < 0)
		fuzz_require(strncmp(err.text, "file:", 5) == 0);
	fuzz_require(own.n_names <= PATHGROUP_OWN && own.n_rules <= PATHGROUP_RULES);
	for (unsigned i = 0; i < own.n_rules; i++)
		fuzz_require(own.rules[i].length && own.rules[i].group < PATH_ALL);
	fuzz_require(pathgroup_find(&own, "__nvme_queue_rq") < (enum path_group)PATH_ALL);
	return 0;
}
