#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# .ci/nightly: its parts are there and can be read, no script for it is left out, and it adds up what
# they say, whatever that is; in a copy of it whose parts are a few words.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
	echo "$*"
	failures=$((failures + 1))
}

cd "$top"
.ci/nightly --list >"$work/parts"
[ "$(wc -l <"$work/parts")" -ge 8 ] || complain "it has hardly any parts: $(cat "$work/parts")"
for part in roots fuzz soak kernels threads kills portable coverage features; do
	grep -q "^$part " "$work/parts" || complain "there is no part $part"
done
while read -r name command; do
	[ -x "$command" ] || complain "$name: there is no $command"
	bash -n "$command" || complain "$name: $command cannot be read"
done <"$work/parts"
for script in tests/*/nightly.sh; do
	[ "$script" = tests/bootstrap/nightly.sh ] || grep -q " $script\$" "$work/parts" ||
		complain "no part calls $script"
done
status=0
.ci/nightly no-such-part >"$work/out" 2>&1 || status=$?
[ "$status" -eq 129 ] || complain "a part that is none: exit $status: $(cat "$work/out")"

# says PART STATUS TEXT: what a part of the copy says, and how it ends.
says() {
	file=$work/tree/$(sed -n "s/^$1 \([^ ]*\).*/\1/p" "$work/parts")
	mkdir -p "$(dirname "$file")"
	printf '#!/bin/sh\necho "%s"\nexit %s\n' "$3" "$2" >"$file"
	chmod +x "$file"
}

# adds STATUS LINE PART...: how the copy ends.
adds() {
	wanted=$1 line=$2
	shift 2
	status=0
	"$work/tree/.ci/nightly" "$@" >"$work/out" 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] || complain "$*: exit $status, not $wanted: $(cat "$work/out")"
	[ "$(tail -n 1 "$work/out")" = "$line" ] || complain "$*: not '$line': $(cat "$work/out")"
}

mkdir -p "$work/tree/.ci"
cp .ci/nightly "$work/tree/.ci/"
says fuzz 0 '5 passed, 0 failed, 2 skipped'
says soak 77 'there is no terminal'
says threads 0 '1 passed, 0 failed, 0 skipped'
adds 0 '6 passed, 0 failed, 3 skipped' fuzz soak threads
says threads 1 '4 passed, 0 failed, 0 skipped'
adds 1 '9 passed, 1 failed, 2 skipped' fuzz threads
says threads 1 '4 passed, 3 failed, 0 skipped'
adds 1 '9 passed, 3 failed, 2 skipped' fuzz threads
says threads 0 'nothing'
adds 1 '5 passed, 1 failed, 2 skipped' fuzz threads
[ "$failures" -eq 0 ]
