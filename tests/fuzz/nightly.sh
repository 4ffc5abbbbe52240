#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Each fuzzer, and the mutator of recordings, for KONTEND_FUZZ_SECONDS (600) under the address and
# undefined-behaviour sanitizers, one a CPU; then damaged recordings on a terminal. An input that makes one
# fail is added to its corpus, which the ordinary tests replay from then on. Called as:
# tests/fuzz/nightly.sh [NAME...], with the names of fuzzers, "mutant" or "replays".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
seconds=${KONTEND_FUZZ_SECONDS:-600}
export seconds
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
files=(share/storm.data tests/golden/*.data)
[ ! -d tests/fuzz/corpus/mutant ] || files+=(tests/fuzz/corpus/mutant)

configure() {
	local dir=$1
	shift
	[ -f "$dir/build.ninja" ] || "$@" meson setup "$dir" "${options[@]}" >/dev/null
}

build() {
	options=(-Dfuzz=enabled) && configure build-fuzz env CC=clang || return 1
	options=("-Db_sanitize=address,undefined" -Db_lundef=false) && configure build-asan env || return 1
	mapfile -t programs < <(ninja -C build-fuzz -t targets all | sed -n 's/^\(tests\/fuzz\/libfuzzer-[a-z-]*\): .*/\1/p')
	ninja --quiet -C build-fuzz "${programs[@]}" &&
		ninja --quiet -C build-asan tests/fuzz/mutant tests/fuzz/mutant-pty kontend
}

# Keeps FILE in the corpus of NAME.
keep() {
	local name=$1 file=$2
	[ -s "$file" ] || return 0
	mkdir -p "tests/fuzz/corpus/$name"
	mv "$file" "tests/fuzz/corpus/$name/found-$(sha1sum "$file" | cut -c 1-12)"
}

# One line: NAME, executions, status.
fuzz_one() {
	local name=$1 work=build-fuzz/found/$1 status executed
	mkdir -p "$work/new" "$work/bad"
	build-fuzz/tests/fuzz/libfuzzer-"$name" -max_total_time="$seconds" -print_final_stats=1 -rss_limit_mb=4096 \
		-artifact_prefix="$work/bad/" "$work/new" "tests/fuzz/corpus/$name" >"$work/log" 2>&1
	status=$?
	executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log" | tail -n 1)
	for file in "$work"/bad/*; do keep "$name" "$file"; done
	echo "$name ${executed:-0} $status"
}

mutant_one() {
	local work=$PWD/build-asan/found top=$PWD status
	mkdir -p "$work"
	(cd "$work" && "$top/build-asan/tests/fuzz/mutant" --seconds "$seconds" --seed "$(date +%Y%j)" "${files[@]/#/$top/}" >log 2>&1)
	status=$?
	keep mutant "$work/failing.bin"
	echo "mutant $(sed -n 's/.* \([0-9]*\) damaged copies$/\1/p' "$work/log") $status"
}

# Some two a second.
replays_one() {
	local status
	tests/fuzz/replays.sh build-asan/tests/fuzz/mutant build-asan/tests/fuzz/mutant-pty build-asan/kontend \
		"$seconds" "$(date +%Y%j)" "${files[@]}" >build-asan/replays.log 2>&1
	status=$?
	keep mutant failing-replay.data
	echo "replays $(sed -n 's/ recordings replayed$//p' build-asan/replays.log) $status"
}

one() {
	case $1 in
	mutant) mutant_one ;;
	replays) replays_one ;;
	*) fuzz_one "$1" ;;
	esac
}

build || exit 1
names=("$@")
[ $# -gt 0 ] || names=("${programs[@]#tests/fuzz/libfuzzer-}" mutant replays)
passed=0 failed=0
declare -A running=()
wait_one() {
	local pid line
	wait -n -p pid
	line=$(cat "build-fuzz/found/${running[$pid]}.line")
	unset "running[$pid]"
	echo "$line" | awk '{ printf "%-16s %12s executions%s\n", $1, $2, $3 ? ", FAILED: status " $3 : "" }'
	if [ "${line##* }" = 0 ] && [[ $line != *" 0 0" ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
mkdir -p build-fuzz/found
for name in "${names[@]}"; do
	[ ${#running[@]} -lt "$(nproc)" ] || wait_one
	one "$name" >"build-fuzz/found/$name.line" &
	running[$!]=$name
done
while [ ${#running[@]} -gt 0 ]; do wait_one; done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
