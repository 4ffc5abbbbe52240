#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds kontend without each optional feature of meson_options.txt alone, in one folder, where only what
# depends on the feature is compiled again. kontend must link, say that it lacks the feature, and read a
# recording. "all" is a build without any of them, whose tests of the suites unit, property, golden and screen
# pass, too. Called as: tests/features/nightly.sh [FEATURE... | all]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# These programs are not measured. Without an optimizer the compiler takes more text for truncated than there is.
common=(-Doptimization=0 -Ddebug=false -Dwerror=true -Dc_args=-Wno-format-truncation)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t known < <(sed -n "s/^option('\([a-z_]*\)', type: 'feature', value: 'auto',$/\1/p" meson_options.txt)
passed=0
failed=0

# without BUILD FEATURE...: configures BUILD with these off and all others as they are found.
without() {
	local build=$1 name
	shift
	local options=("${common[@]}")
	for name in "${known[@]}"; do
		[[ " $* " == *" $name "* ]] && options+=("-D$name=disabled") || options+=("-D$name=auto")
	done
	[ "$build" = build-nothing ] || options+=(-Dtests=false)
	if [ -f "$build/build.ninja" ] && meson setup --reconfigure "${options[@]}" "$build" >"$work/setup"; then
		return 0
	fi
	rm -rf "$build"
	meson setup "${options[@]}" "$build" >"$work/setup" 2>&1
}

# lacks BUILD FEATURE: does the program say so?
lacks() {
	"$1/kontend" version --features | grep -qE "^ *$2 +\[ off\]"
}

reads() {
	"$1/kontend" report -i share/storm.data --view locks -n 99 >"$work/report" && grep -q 'i_rwsem /srv/app/log' "$work/report"
}

try() {
	local build=build-features name=$1
	without "$build" "$name" || { tail -n 25 "$work/setup" && return 1; }
	ninja --quiet -C "$build" kontend >"$work/ninja" 2>&1 || { tail -n 40 "$work/ninja" && return 1; }
	lacks "$build" "$name" || { echo "'version --features' does not say that $name is off" && return 1; }
	reads "$build" || { echo "it does not read share/storm.data" && return 1; }
}

try_nothing() {
	local build=build-nothing suites=(unit property golden screen) name output status
	without "$build" "${known[@]}" || { tail -n 25 "$work/setup" && return 1; }
	tests/lib/targets.py "$build" "${suites[@]}" | xargs ninja --quiet -C "$build" kontend >"$work/ninja" 2>&1 ||
		{ tail -n 40 "$work/ninja" && return 1; }
	for name in "${known[@]}"; do
		lacks "$build" "$name" || { echo "'version --features' does not say that $name is off" && return 1; }
	done
	reads "$build" || { echo "it does not read share/storm.data" && return 1; }
	output=$(tests/lib/run.sh "$build" "${suites[@]/#/--suite=}" --no-suite many 2>&1)
	status=$?
	# Its last line counts, too: the closing line of this script is to be the only one of its form.
	if [ "$status" -eq 0 ]; then
		tail -n 1 <<<"$output" | sed 's/^/its tests: /'
	else
		tail -n 60 <<<"$output" | sed 's/^/  /'
	fi
	return $status
}

names=("$@")
[ $# -gt 0 ] || names=("${known[@]}" all)
for name in "${names[@]}"; do
	[[ " ${known[*]} all " == *" $name "* ]] || { echo "there is no feature $name: ${known[*]} all" && exit 129; }
	echo "without $name"
	if { [ "$name" = all ] && try_nothing; } || { [ "$name" != all ] && try "$name"; }; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "failed: without $name"
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
