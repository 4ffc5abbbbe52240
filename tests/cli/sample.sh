#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recording that comes with kontend has something to show in every view of reports, but rotation,
# which takes hardware counters, and blocked, which is newer than the recording: a user who cannot measure sees
# it first. And it contains nothing private of the machine where it was made.
# Called as: sample.sh KONTEND RECORDING
sample=$(realpath "$2") here=$(dirname "$(realpath "$0")")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# All views that there are, as the program names them.
run "$kontend" report -i "$sample" --view nosuch
views=$(sed -n 's/.*give one or more of \(.*\), all,.*/\1/p' "$work/err" | tr -d ,)
[ "$(echo "$views" | wc -w)" -gt 20 ] || complain "views: $views"
for view in $views; do
	expect 0 '' "$kontend" report -q -i "$sample" --view "$view" --format csv --trigger 'wait>300ms'
	case $view in
	rotation) [ "$(wc -l <"$work/out")" -le 1 ] || complain "there are hardware counters: look at $view" ;;
	blocked) [ "$(wc -l <"$work/out")" -le 1 ] || complain "there are blocked tasks: look at $view" ;;
	holds) [ "$(wc -l <"$work/out")" -le 1 ] || complain "there are holds of a lock: look at $view" ;;
	why) [ "$(wc -l <"$work/out")" -le 1 ] || complain "there are chosen tasks: look at $view" ;;
	*) [ "$(wc -l <"$work/out")" -gt 1 ] || complain "the recording has nothing for the view $view" ;;
	esac
done
expect 0 '' "$kontend" report -q -i "$sample" --view all
prints '^# rotation: no rotating PMU'
prints 'i_rwsem /'
prints '^# quality: lost 0, '
prints '^# measured 18\.8s: .* waited; 3 still wait, 6\.32s so far$'
prints '^# chains at the end: 1 root, 3 tasks behind'
if grep -qE 'no snapshots of' "$work/out"; then
	complain "the recording is older than the views: $(grep -E 'no snapshots of' "$work/out")"
fi
expect 0 '' "$kontend" report -q -i "$sample" --annotate rep_movs_alternative
prints '^# code: recording, '

# No bigger than it was meant to be, and nothing private in it.
[ "$(stat -c %s "$sample")" -le $((600 * 1024)) ] || complain "$(stat -c %s "$sample") bytes"
expect 0 '' python3 "$here/sample-private.py" "$sample"
[ ! -s "$work/out" ] || complain "the recording tells of its machine: $(cat "$work/out")"
expect 0 '' "$kontend" report -q -i "$sample" --view all --rows 0
if grep -q 'other-' "$work/out"; then
	complain "names that were taken away are seen: $(grep -o 'other-[^ ]*' "$work/out" | sort -u)"
fi
finish
