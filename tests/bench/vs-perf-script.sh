#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU time (user and system) of `kontend script -i` and of `perf script -i` on the same perf-made
# file with call chains, in turns, with every event written as text by both; the last line is the
# ratio of the medians. Without a FILE one is made of a storm. A long one is made of a short one by
# lengthen; perf then takes half a minute and more for each turn.
#
#     vs-perf-script.sh KONTEND STORM [FILE [TURNS]]
set -eu

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
of_file 3 "$@"
need_perf

make_file -a -g -e "$events" -- "$work_load" 16 6000 go
for _ in $(seq "$turns"); do
	timed kontend 1 "$kontend" script -i "$file"
	timed json 1 "$kontend" script --format json -i "$file"
	for format in perfetto firefox; do
		timed $format 1 "$kontend" export --format $format -i "$file" -o "$dir/trace"
	done
	timed perf 1 perf script -i "$file"
done

say_file
awk "$medians"'
	END {
		line("perf script -i", "perf")
		line("kontend script -i", "kontend")
		line("kontend script --format json -i", "json")
		line("kontend export --format perfetto -i", "perfetto")
		line("kontend export --format firefox -i", "firefox")
		printf "perf / kontend: %.1f\n", ratio("perf", "kontend")
	}' "$dir/figures"
