#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A public function of include/MODULE/kontend/NAME.h is called NAME_verb() (locks.h: lock_verb()), or
# OBJECT_verb() after a struct that the same header defines. A declaration begins in the first
# column, as .clang-format leaves it. Some words that words.py finds in comments are not for names either.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# HEADER:OTHER-PREFIX. view.h declares what the app offers to views, so that they need no app.h;
# trigger.h what a set of triggers does; query-diff.h compares recordings and moments of one;
# query-incidents.h has that of a recording and the list.
also='view:app_ trigger:triggers_ query_diff:query_compare query_incidents:query_incident'

c_files include | code_of | awk -v also="$also" '
function begins(name, prefix) {
	return index(name, prefix) == 1
}
function is_allowed(name, module,    i) {
	if (name == module || begins(name, module "_"))
		return 1
	if (module ~ /s$/ && begins(name, substr(module, 1, length(module) - 1) "_"))
		return 1
	for (i = 1; i <= n_objects; i++)
		if (begins(name, object[i] "_"))
			return 1
	for (i = 1; i <= n_pairs; i++)
		if (begins(pairs[i], module ":") && begins(name, substr(pairs[i], length(module) + 2)))
			return 1
	return 0
}
BEGIN {
	n_pairs = split(also, pairs, " ")
}
{
	split($0, part, ":")
	code = substr($0, length(part[1]) + length(part[2]) + 3)
	if (part[1] != file) {
		file = part[1]
		module = file
		sub(/.*\//, "", module)
		sub(/\.h$/, "", module)
		gsub(/-/, "_", module)
		n_objects = 0
	}
}
code ~ /^struct [a-z0-9_]+ *\{/ {
	split(code, word, /[ {]+/)
	object[++n_objects] = word[2]
}
code ~ /^[a-z][A-Za-z0-9_ *]*[ *][a-z][a-z0-9_]*\(/ && code !~ /^(typedef|return|else)/ {
	name = code
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (!is_allowed(name, module))
		print file ":" part[2] ": " name "() does not begin with " module "_"
}' >>"$findings"
c_files src ui include | code_of |
	grep -E '(^|[^a-zA-Z0-9])((un)?told|tells?|telling|anew|nobody|whoever|(UN)?TOLD|TELLS?)([^a-zA-Z0-9]|$)' |
	sed -E 's/^([^:]*:[0-9]+):.*/\1: a name with told, tell, anew, nobody or whoever: write reported, again, or the task, user or CPU/' >>"$findings" || :
verdict
