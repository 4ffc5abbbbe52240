// SPDX-License-Identifier: GPL-2.0-only
/*
 * User-defined groups: rules that are checked before the built-in table, in the order given. A rule
 * is the name of a function, or the beginning of names and a '*'; leading underscores are ignored,
 * as in the table.
 */
#include "kontend/pathgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";

static bool fits(const struct pathgroup_rule *r, const char *function)
{
	return strncmp(function, r->name, r->length) == 0 && (r->prefix || !function[r->length]);
}

enum path_group pathgroup_find(const struct pathgroups *own, const char *function)
{
	const char *bare = function + strspn(function, "_");

	for (unsigned i = 0; own && i < own->n_rules; i++)
		if (fits(&own->rules[i], bare))
			return (enum path_group)own->rules[i].group;
	return pathgroup_of(function);
}

const char *pathgroup_title(const struct pathgroups *own, enum path_group g)
{
	unsigned i = (unsigned)g - PATH_GROUPS;

	if (g < PATH_GROUPS)
		return pathgroup_name(g);
	return own && i < own->n_names ? own->names[i] : "";
}

int pathgroup_lookup(const struct pathgroups *own, const char *name, enum path_group *ret)
{
	for (unsigned i = 0; own && i < own->n_names; i++) {
		if (strcmp(own->names[i], name) == 0) {
			*ret = (enum path_group)(PATH_GROUPS + i);
			return 0;
		}
	}
	return pathgroup_parse(name, ret);
}

static int name_group(struct pathgroups *own, const char *name, enum path_group *ret,
		      struct error *err)
{
	if (pathgroup_lookup(own, name, ret) == 0)
		return 0;
	if (strlen(name) >= PATHGROUP_NAME)
		return error_set(err, -EINVAL, "the name of a group has at most %d characters",
				 PATHGROUP_NAME - 1);
	if (strcmp(name, "other") == 0)
		return error_set(
			err, -EINVAL,
			"'other' is reserved for functions in no group: choose another name");
	if (own->n_names == PATHGROUP_OWN)
		return error_set(err, -EINVAL, "there are more than %d user-defined groups",
				 PATHGROUP_OWN);
	snprintf(own->names[own->n_names], PATHGROUP_NAME, "%s", name);
	*ret = (enum path_group)(PATH_GROUPS + own->n_names++);
	return 0;
}

static int add_rule(struct pathgroups *own, enum path_group g, const char *s, size_t n,
		    struct error *err)
{
	struct pathgroup_rule r = {.group = (uint8_t)g, .prefix = s[n - 1] == '*'};
	size_t skip = strspn(s, "_");

	r.length = (uint8_t)(n - r.prefix);
	if (n > PATHGROUP_PATTERN || skip >= r.length || strspn(s, letters) < r.length)
		return error_set(
			err, -EINVAL,
			"'%.*s' is not a function name: give a name, or the beginning of names and "
			"a '*'",
			n > PATHGROUP_PATTERN ? PATHGROUP_PATTERN : (int)n, s);
	if (own->n_rules == PATHGROUP_RULES)
		return error_set(err, -EINVAL,
				 "there are more than %d functions in user-defined groups",
				 PATHGROUP_RULES);
	r.length = (uint8_t)(r.length - skip);
	memcpy(r.name, s + skip, r.length);
	own->rules[own->n_rules++] = r;
	return 0;
}

int pathgroup_add(struct pathgroups *own, const char *name, const char *functions,
		  struct error *err)
{
	enum path_group g = PATH_NONE;
	int r = name_group(own, name, &g, err);

	for (const char *s = functions + strspn(functions, " \t"); r == 0 && *s;) {
		size_t n = strcspn(s, " \t");
		r = add_rule(own, g, s, n, err);
		s += n;
		s += strspn(s, " \t");
	}
	return r;
}
