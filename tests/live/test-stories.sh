#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every command of kontend-stories(7) runs as printed there, and prints something; or it fails with
# one of the sentences that the page has for that.
# Called as: test-stories.sh KONTEND kontend-stories.7
set -eu
kontend=$1
page=$2
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 100ms

# The program that is tested is the one that the commands find.
mkdir "$dir/bin"
ln -s "$(realpath "$kontend")" "$dir/bin/kontend"
PATH=$dir/bin:$PATH

sed -n 's/^# \(kontend [a-z].*\)/\1/p' "$page" >"$dir/commands"
sed -n '/^\.Sh WHAT IS NOT EVERYWHERE/,/^\.El/p' "$page" | grep -v '^\.' | tail -n +2 >"$dir/sentences"
[ "$(grep -c . "$dir/commands")" -ge 12 ] || fail "the page has hardly any commands: $(cat "$dir/commands")"
[ "$(grep -c . "$dir/sentences")" -ge 2 ] || fail "the page has no sentences for what is not there"

# Each story has its own.
awk '/^\.Sh / { name = substr($0, 5); order[++n] = name }
	/^# kontend [a-z]/ { commands[name]++ }
	/^Published/ { published[name]++ }
	END {
		for (i = 1; i <= n; i++)
			if (published[order[i]] && commands[order[i]] > 1)
				stories++
		exit stories != 5
	}' "$page" || fail "the page has not five stories with commands and published figures"

mkdir "$dir/cwd"
cd "$dir/cwd"
while IFS= read -r command; do
	rc=0
	sh -c "exec $command" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
	echo "$rc: $command"
	if [ "$rc" -eq 1 ] && grep -qFf "$dir/sentences" "$dir/err"; then
		echo "   $(cat "$dir/err")"
		continue
	fi
	[ "$rc" -eq 0 ] || complain "$command: exit $rc: $(cat "$dir/err")"
	[ -s "$dir/out" ] || complain "$command: it printed nothing"
done <"$dir/commands"
cd /
exit $status
