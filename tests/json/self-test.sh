#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The checks of JSON fail where they have to: each case is a document of the bench with one thing wrong.
# Called as: self-test.sh SOURCE-FOLDER SCHEMA PAGE
set -eu
src=$1
tests_json=$src/tests/json
# shellcheck source=tests/json/lib.sh
. "$tests_json/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
schema=$2
page=$3

complain() {
	echo "$1"
	status=1
}

# refuses WHY DOCUMENT
refuses() {
	echo "$2" >"$work/doc"
	if validate "$schema" "$work/doc" >"$work/out"; then
		complain "passes: $2"
	elif ! grep -q -e "$1" "$work/out"; then
		complain "$2 is refused, but not for '$1': $(cat "$work/out")"
	fi
}

figure='{"case": "a", "metric": "op", "unit": "ns", "better": "lower", "value": 1.0}'
good='{"schema": "kontend.bench/1", "bench": "uprobe", "figures": ['$figure']}'
echo "$good" >"$work/doc"
validate "$schema" "$work/doc" >"$work/out" || complain "refused: $(cat "$work/out")"
refuses 'Additional properties' "$(echo "$good" | sed 's/"bench"/"more": 1, "bench"/')"
refuses 'Additional properties' "$(echo "$good" | sed 's/"case"/"more": 1, "case"/')"
refuses 'required property' "$(echo "$good" | sed 's/"bench": "uprobe", //')"
refuses 'is not of type' "$(echo "$good" | sed 's/1.0}/"1"}/')"
refuses 'is not one of' "$(echo "$good" | sed 's/lower/less/')"
refuses 'members twice' "$(echo "$good" | sed 's/"case"/"unit": "s", "case"/')"
refuses 'no such document' "$(echo "$good" | sed 's,bench/1,bench/2,')"
refuses 'no document' ''
refuses 'Expecting' "$(echo "$good" | sed 's/}]}//')"

echo "$good" >"$work/doc"

# Members that nothing prints have to be listed, and those that are printed may not be.
validate "$schema" --unseen /dev/null "$work/doc" >"$work/out" && complain "members that are in no list pass"
echo 'bench_figure.value live' >"$work/list"
echo '{"schema": "kontend.bench/1", "bench": "uprobe", "figures": []}' >"$work/empty"
validate "$schema" --live "$work/list" "$work/doc" >"$work/out" || complain "--live: $(cat "$work/out")"
validate "$schema" --live "$work/list" "$work/empty" >"$work/out" && complain "--live misses nothing"
sed 's/"value"/"worth"/' "$schema" >"$work/other.json"
if "$tests_json/page.py" "$work/other.json" "$page" >"$work/out" ||
	! grep -q 'does not have worth' "$work/out" || ! grep -q 'does not have value' "$work/out"; then
	complain "the page has what a schema does not have: $(cat "$work/out")"
fi
exit $status
