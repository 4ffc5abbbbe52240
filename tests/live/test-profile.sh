#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A profile of a program of ours: its hottest function is named, in a report of a recording and live,
# and where perf is installed, the shares of all functions, of the program, of the C library and of
# the kernel, are those of perf for the same file.
set -eu
kontend=$1
workload=$2
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"

share() { # of spin_inner, in a CSV of the view hot
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		 $at["symbol"] == "spin_inner" { print $at["pct"]; exit }' "$1"
}

"$kontend" record -q -F 997 -e cpu-clock -o "$dir/p.data" -- "$workload"
"$kontend" report -q -i "$dir/p.data" --view hot --format csv >"$dir/ours.csv"
ours=$(share "$dir/ours.csv")
if [ -z "$ours" ]; then
	echo "spin_inner is not in the profile:"
	head -5 "$dir/ours.csv"
	exit 1
fi
# The call chains have its callers.
if ! "$kontend" report -q -i "$dir/p.data" --view hot --by stack --format csv |
	grep -q 'spin_inner;.*main'; then
	echo "main is not in the call chains"
	exit 1
fi
"$kontend" report -q -F 997 -e cpu-clock --view hot --format csv -- "$workload" >"$dir/live.csv"
if [ -z "$(share "$dir/live.csv")" ]; then
	echo "spin_inner is not in the live profile"
	exit 1
fi
# Its instructions, or why there are none, with all of its samples.
"$kontend" report -q -i "$dir/p.data" --annotate spin_inner >"$dir/code.txt"
if ! grep -q '^# annotate spin_inner in .*: [0-9.k]* samples' "$dir/code.txt" ||
	! grep -q '  +0x.* >' "$dir/code.txt"; then
	echo "spin_inner is not annotated:"
	head -9 "$dir/code.txt"
	exit 1
fi
if ! command -v perf >/dev/null; then
	echo "spin_inner $ours %; perf is not installed, nothing to compare with"
	exit 0
fi
# Shares of functions, of the program, the C library and the kernel: SHARE NAME, where perf has a name.
perf report -i "$dir/p.data" --stdio --no-children -g none --sort dso,sym 2>/dev/null |
	awk '/^# Samples:/ { wanted = /cpu-clock/ }
	     wanted && /^ / && $3 ~ /^\[[.k]\]$/ && NF == 4 && $4 !~ /^0x/ {
		sub("%", "", $1); print $1, $3, $4 }' >"$dir/perf.txt"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ o = $at["object"]
	  print $1, (o ~ /^\[(kernel|[a-z0-9_]+)\]$/ && o != "[vdso]" ? "[k]" : "[.]"), $at["symbol"] }' \
	"$dir/ours.csv" >"$dir/ours.txt"
if ! grep -q ' \[\.\] spin_inner$' "$dir/perf.txt"; then
	echo "perf does not name spin_inner:"
	head -5 "$dir/perf.txt"
	exit 1
fi
# Adds up functions of the same name: perf, or our report, may list them separately. Of the thousand
# samples, one or two may be in code without a symbol, which perf gives to the symbol before it.
awk 'FNR == 1 { file++ }
	{ share[file, $2 " " $3] += $1 }
	file == 1 { names[$2 " " $3] }
	END {
		for (name in names) {
			d = share[1, name] - share[2, name]
			if (d > 0.25 || d < -0.25) {
				printf "%s: perf %.2f %%, kontend %.2f %%\n", name, share[1, name], share[2, name]
				bad = 1
			}
			n++
		}
		printf "%d functions have the same share; spin_inner %.2f %%, in libc %.2f %%\n",
			n, share[2, "[.] spin_inner"], share[2, "[.] swab"]
		exit bad
	}' "$dir/perf.txt" "$dir/ours.txt"
