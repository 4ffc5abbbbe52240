#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recording that comes with kontend has something to show in every view, but rotation, which
# takes hardware counters; whoever cannot measure sees it first.
# Called as: sample.sh KONTEND RECORDING
sample=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

for view in locks mmap slots holders contexts events uprobes xol hot flame; do
	expect 0 '' "$kontend" report -q -i "$sample" --view "$view" --format csv
	[ "$(wc -l <"$work/out")" -gt 1 ] || complain "the recording has nothing for the view $view"
done
expect 0 '' "$kontend" report -q -i "$sample" --view all
prints '^# rotation: no rotating PMU'
prints 'i_rwsem /'
prints '^# quality: lost 0, '
if grep -qE 'no snapshots of' "$work/out"; then
	complain "the recording is older than the views: $(grep -E 'no snapshots of' "$work/out")"
fi
finish
