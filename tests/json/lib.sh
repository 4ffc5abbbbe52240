# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $tests_json is this folder, theirs that source this
# validate ARGUMENTS: validate.py by a python that has jsonschema, which need not be the first one.
for python in python3 /usr/bin/python3; do
	"$python" -c 'from jsonschema import Draft202012Validator' 2>/dev/null && break
	python=
done
[ -n "$python" ] || {
	echo "skipped: no python3 with jsonschema (Debian: python3-jsonschema)"
	exit 77
}

validate() {
	"$python" -W ignore::DeprecationWarning "$tests_json/validate.py" "$@"
}
