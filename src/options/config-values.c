// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings whose values only their own modules can check. On a command line the verb reports
 * invalid values; in a configuration the message needs the line, for all verbs.
 */
#include "config.h"
#include "kontend/callgraph.h"
#include "kontend/mmlevel.h"
#include "kontend/query-verdict.h"

#include <errno.h>
#include <string.h>

static int check_sort(const char *value, struct error *err)
{
	if (table_find(&query_locks_kind, value) != SIZE_MAX)
		return 0;
	return error_set(err, -EINVAL,
			 "sort '%s': the table 'locks' has no such column; kontend-views(7) lists "
			 "them",
			 value);
}

static int check_by(const char *value, struct error *err)
{
	enum query_by by;

	if (query_by_parse(value, &by) == 0)
		return 0;
	return error_set(err, -EINVAL,
			 "by '%s': give a key of locks: lock, caller, task, process, "
			 "type, cpu, cgroup, stack, owner, syscall or at",
			 value);
}

static int check_mmap(const char *value, struct error *err)
{
	struct mmlevel_how how;

	if (mmlevel_parse(value, &how) == 0)
		return 0;
	return error_set(
		err, -EINVAL,
		"mmap '%s': give contended, sampled, sampled=N with N from "
		"2 to %d, or all; append ,paths to one of the last two to record call paths",
		value, MMLEVEL_MOST);
}

static int check_call_graph(const char *value, struct error *err)
{
	struct callgraph how;

	return callgraph_parse(value, &how, err);
}

static int check_verdict(const char *value, struct error *err)
{
	struct verdict_limits l;

	return query_verdict_parse(value, &l, err);
}

int options_check_value(const struct config_line *l, struct error *err)
{
	static const struct {
		const char *name;
		int (*check)(const char *value, struct error *err);
	} checks[] = {{"sort", check_sort},
		      {"by", check_by},
		      {"mmap", check_mmap},
		      {"call-graph", check_call_graph},
		      {"verdict", check_verdict}};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (strcmp(checks[i].name, l->key) == 0)
			return checks[i].check(l->value, err);
	return 0;
}

/* True if the locks table has a column with this key. */
static bool fits(const char *sort, const char *key)
{
	enum query_by by = BY_LOCK;

	if (key && query_by_parse(key, &by) < 0)
		return false;
	return query_locks_has(by, table_find(&query_locks_kind, sort));
}

void options_apply(const struct settings *s, struct opts *o)
{
	const bool is_set = !o->sort;

	settings_apply(s, o);
	if (is_set && o->sort && !fits(o->sort, o->by))
		o->sort = NULL;
	if (o->locks_sort && !fits(o->locks_sort, o->locks_by))
		o->locks_sort = NULL;
}
