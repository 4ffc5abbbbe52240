#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The readers of the Firefox Profiler and of Perfetto open traces of the recording that comes with kontend: what they
# find is what the report says. The former's command line is a package of npm. Perfetto's definitions are a package for
# Python; its trace_processor_shell is in none: it is asked where it is installed. Ends with
# "N passed, N failed, N skipped". Called as: nightly.sh [BUILD-FOLDER]
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
sample=share/storm.data

# is WHAT HAVE WANTED [ROUND]: or as near to it.
is() {
	if awk "BEGIN { d = ($2) - ($3); exit d > ${4:-0} || d < -${4:-0} }"; then
		echo "$1: $2"
		passed=$((passed + 1))
	else
		echo "FAIL $1: $2, not $3"
		failed=$((failed + 1))
	fi
}

# said NAME: what the reader said of it; nothing, if it said nothing.
said() {
	sed -n "s/^$1 //p" "$work/said"
}

[ -e "$build/build.ninja" ] || meson setup "$build" >/dev/null || exit 1
ninja --quiet -C "$build" kontend || exit 1
kontend=$build/kontend
of() {
	"$kontend" report -q --no-config -j --view overview -i "$sample" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["views"]["overview"][sys.argv[1]])' "$1"
}
waits=$(of contended) ns=$(of total_ns) waiting=$(of inflight_ns)
for format in firefox perfetto; do
	"$kontend" export -q --no-config -i "$sample" --format $format -o "$work/$format" || exit 1
done

cp "$here/package.json" "$work"
if command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix "$work" >"$work/npm" 2>&1; then
	mv "$work/firefox" "$work/firefox.json"
	PATH=$work/node_modules/.bin:$PATH HOME=$work python3 "$here/read-firefox.py" "$work/firefox.json" >"$work/said"
	is 'Firefox Profiler: waits' "$(said waits)" "$waits"
	# It counts in milliseconds, as floating point.
	is 'Firefox Profiler: time of markers, ns' "$(said ns)" "$ns" 100
	is 'Firefox Profiler: time of those in flight, ns' "$(said waiting_ns)" "$waiting" 100
	is 'Firefox Profiler: weight of samples, ns' "$(said sampled_ns)" "$ns + $waiting" 100
	is 'Firefox Profiler: there are waits with who had the lock' "$(said held) > 0" 1
	is 'Firefox Profiler: waits with a call chain' "$(said stacks)" "$waits + 3"
else
	echo "skipped: the Firefox Profiler's command line cannot be had: $(tail -n 1 "$work/npm" 2>/dev/null)"
	skipped=$((skipped + 1))
fi

if python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q -r "$here/requirements.txt" >"$work/pip" 2>&1; then
	"$work/venv/bin/python" "$here/read-perfetto.py" "$work/perfetto" >"$work/said"
	is 'Perfetto: there are packets by its definitions' "$(said packets) > 0" 1
	is 'Perfetto: bytes that these do not know' "$(said unknown)" 0
else
	echo "skipped: Perfetto's definitions cannot be had: $(tail -n 1 "$work/pip")"
	skipped=$((skipped + 1))
fi
processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell)}
if [ -n "$processor" ]; then
	python3 "$here/read-perfetto.py" "$work/perfetto" "$processor" >"$work/said"
	is 'Perfetto: waits' "$(said waits)" "$waits"
	is 'Perfetto: time, ns' "$(said ns)" "$ns"
	is 'Perfetto: time of those in flight, ns' "$(said waiting_ns)" "$waiting"
	is 'Perfetto: there are flows from who had a lock to waits' "$(said flows) > 0" 1
	is 'Perfetto: kinds of faults that it finds' "$(grep -c '^wrong' "$work/said")" 0
else
	echo 'skipped: there is no trace_processor_shell: name one in TRACE_PROCESSOR'
	skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
