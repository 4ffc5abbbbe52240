// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a configuration: a refusal names the position, groups stay within their bounds, and a
 * setting never precedes the command line, nor makes one that is refused.
 */
#include "fuzz.h"
#include "kontend/config.h"
#include "kontend/pathgroup.h"
#include "kontend/query-columns.h"
#include "kontend/settings.h"

#include <errno.h>
#include <string.h>

struct config {
	struct pathgroups groups;
	struct settings settings;
	struct query_columns columns;
	unsigned locks_set; /* to what check_edit() writes */
};

static int take_columns(struct config *c, const struct config_line *l, struct error *err)
{
	if (strcmp(l->key, "locks") == 0)
		c->locks_set += strcmp(l->value, "max_ns") == 0;
	if (query_columns_find(&c->columns, l->key))
		return error_set(err, -EINVAL, "set before");
	return query_columns_set(&c->columns, l->key, l->value, err);
}

static int take_line(void *ctx, const struct config_line *l, struct error *err)
{
	struct config *c = ctx;

	fuzz_require(*l->section && *l->key && *l->value);
	if (strcmp(l->section, "columns") == 0)
		return take_columns(c, l, err);
	return settings_section(l->section) >= 0 ? settings_add(&c->settings, l, err)
						 : pathgroup_add(&c->groups, l->key, l->value, err);
}

static void check_groups(const struct pathgroups *own)
{
	fuzz_require(own->n_names <= PATHGROUP_OWN && own->n_rules <= PATHGROUP_RULES);
	for (unsigned i = 0; i < own->n_rules; i++)
		fuzz_require(own->rules[i].length && own->rules[i].group < PATH_ALL);
	fuzz_require(pathgroup_find(own, "__nvme_queue_rq") < (enum path_group)PATH_ALL);
}

/* @line is taken apart in place. */
static void read_line(struct opts *ret, char *line)
{
	static char name[] = "kontend";
	char *argv[8] = {name};
	struct error err = {0};
	int argc = 1;

	for (char *w = strtok(line, " "); w && argc < 7; w = strtok(NULL, " "))
		argv[argc++] = w;
	fuzz_require(opts_parse(ret, argc, argv, &err) == 0);
}

static void check_settings(const struct settings *s)
{
	static const char *const lines[] = {
		"live -d 7s",		"live --no-stack -F 0", "replay --ascii=no",
		"report -i file",	"report --by cpu",	"record --no-switches",
		"export --owner",	"script --max-stack 3", "diff",
		"live --call-graph fp",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct opts bare, o;
		struct error err = {0};
		char line[64];

		memcpy(line, lines[i], strlen(lines[i]) + 1);
		read_line(&bare, line);
		o = bare;
		settings_apply(s, &o);
		fuzz_require(opts_check(&o, &err) == 0);
		fuzz_require(!bare.delay_ns || o.delay_ns == bare.delay_ns);
		fuzz_require(!bare.no_stack || (o.no_stack && !o.max_stack && !o.call_graph));
		fuzz_require(!bare.by || !strcmp(o.by, bare.by));
		fuzz_require(bare.verb != VERB_REPLAY || !o.ascii);
	}
}

/* A readable configuration is readable after one of our settings is added, and has it once. */
static void check_edit(const char *text, size_t size, const char *value)
{
	static char edited[CONFIG_BYTES];
	static struct config own;
	const struct config_reader r = {take_line, &own};
	const struct config_line l = {"columns", "locks", value};
	struct error err = {0};
	size_t n;

	if (config_edit(text, size, &l, edited, sizeof(edited), &n) < 0)
		return;
	own = (struct config){0};
	fuzz_require(config_parse(edited, n, "file", &r, &err) == 0);
	fuzz_require(own.locks_set == (value != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config own;
	const struct config_reader r = {take_line, &own};
	struct error err = {0};

	own = (struct config){0};
	if (config_parse((const char *)data, size, "file", &r, &err) < 0) {
		fuzz_require(strncmp(err.text, "file:", 5) == 0);
	} else {
		check_edit((const char *)data, size, "max_ns");
		check_edit((const char *)data, size, NULL);
	}
	check_groups(&own.groups);
	check_settings(&own.settings);
	return 0;
}
