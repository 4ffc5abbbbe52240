#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The dashboard, by Grafana's own types in Go (their module is fetched by the go command). Ends with
# "N passed, N failed, N skipped".
cd "$(dirname "$0")/dashboard" || exit 1
PATH=$PATH:/usr/local/go/bin
if ! command -v go >/dev/null; then
	echo "skipped: there is no go"
	echo "0 passed, 0 failed, 1 skipped"
	exit
fi
if ! said=$(go mod download 2>&1); then
	echo "skipped: Grafana's types cannot be had: $said"
	echo "0 passed, 0 failed, 1 skipped"
	exit
fi
# One of which a type is wrong must not pass, or the program proves nothing.
wrong=$(mktemp) program=$(mktemp)
trap 'rm -f "$wrong" "$program"' EXIT
sed 's/"editable": [a-z]*/"editable": "perhaps"/' ../../../share/grafana/kontend.json >"$wrong"
go build -o "$program" . || exit 1
failed=0
"$program" ../../../share/grafana/kontend.json || failed=$((failed + 1))
if "$program" "$wrong"; then
	echo "FAIL a wrong type is not seen"
	failed=$((failed + 1))
fi
echo "$((2 - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
