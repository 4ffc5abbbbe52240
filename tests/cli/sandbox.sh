#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The sandbox around a reader changes nothing for its user but the line about it; where the kernel
# lacks a part of it, a message names that, and the rest works. Blocked system calls: see tests/unit/test-sandbox.c.
# Called as: sandbox.sh KONTEND MAKE-RECORDING WITHOUT
# shellcheck disable=SC2016 # expanded by the shells that are started
make=$(realpath "$2")
without=$(realpath "$3")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$make" "$work"
canned=$work/canned.data
chmod 644 "$work"/*.data
export HOME="$work/home" XDG_CACHE_HOME='' XDG_STATE_HOME=''
mkdir -p "$HOME/.cache"

# Its state on this machine: "on", unless kernel or container lack something.
expect 0 '' "$kontend" report -q -i "$canned" -j
here=$(sed -n 's/.*"sandbox": "\([a-z]*\)".*/\1/p' "$work/out")
case $here in
on | partial) ;;
*) complain "JSON says of the sandbox: '$here'" ;;
esac

# Off: a message reports that, and the rest is the same.
expect 0 '' "$kontend" report -q -i "$canned" --no-sandbox
prints '^# sandbox off \(--no-sandbox\)$'
grep -v '^# sandbox' "$work/out" >"$work/off"
expect 0 '' "$kontend" report -q -i "$canned"
grep -v '^# sandbox' "$work/out" | cmp - "$work/off" || complain "report: another one in the sandbox"
[ "$here" != on ] || ! grep sandbox "$work/out" || complain "report: what is as it should be is said"
expect 0 '' "$kontend" report -q -i "$canned" --no-sandbox -j
prints '"sandbox": "off"'
expect 0 '' "$kontend" script -q -i "$canned" --no-sandbox --format json
prints '"sandbox":"off"|"sandbox": "off"'
expect 0 '' "$kontend" diff -q --no-sandbox "$canned" "$canned"
prints '^# sandbox off'
expect 129 '--no-sandbox is for reading a recording' "$kontend" report --no-sandbox

# A kernel without one or the other, and a container that allows none.
for lacks in landlock seccomp both; do
	expect 0 'sandbox in part: .*no (Landlock|seccomp)' \
		sh -c '"$1" $2 "$3" report -i "$4" >/dev/null' sh "$without" $lacks "$kontend" "$canned"
	expect 0 '' "$without" $lacks "$kontend" report -q -i "$canned"
	prints '^# sandbox in part: no (Landlock|seccomp)'
	grep -v '^# sandbox' "$work/out" | cmp - "$work/off" || complain "$lacks: another report"
	expect 0 '' "$without" $lacks "$kontend" report -q -i "$canned" -j
	prints '"sandbox": "partial"'
	prints '"sandbox_lacks": "no (Landlock|seccomp)'
	expect 0 '' "$without" $lacks "$kontend" report -q -i "$canned" -o "$work/report.$lacks"
	grep -v '^# sandbox' "$work/report.$lacks" | cmp - "$work/off" || complain "$lacks: another file"
	expect 0 '' "$without" $lacks "$kontend" cut -q "$canned" -o "$work/cut.$lacks"
	expect 0 '' "$kontend" report -q -i "$work/cut.$lacks"
done
"$without" landlock "$kontend" doctor >"$work/said"
grep -qE '^  landlock +limited' "$work/said" || complain "doctor does not miss Landlock"
grep -A1 '^  landlock' "$work/said" | grep -q 'why: not available (Function not implemented)' ||
	complain "doctor does not say why: $(grep -A1 '^  landlock' "$work/said")"

# Outputs come to their places, and failures leave what was there.
expect 0 '' "$kontend" export -q -i "$canned" -o "$work/folded"
[ -s "$work/folded" ] || complain "export: no output"
cp "$canned" "$work/more.data"
expect 1 '' sh -c '"$1" export -q --format ndjson -o "$2/rows" "$3" "$2/more.data" "$2/none.data" 2>/dev/null' \
	sh "$kontend" "$work" "$canned"
[ "$(grep -c '"table":"parts"' "$work/rows")" -eq 2 ] || complain "export of two recordings: not the rows of both"
expect 1 '' sh -c '"$1" merge -j --tables types "$3" "$2/more.data" "$2/none.data" >"$2/merged" 2>/dev/null' \
	sh "$kontend" "$work" "$canned"
grep -q '"sandbox": "\(on\|partial\)"' "$work/merged" || complain "merge says nothing of the sandbox"
grep -q '"added": 2,' "$work/merged" ||
	complain "merge of two recordings: $(head -8 "$work/merged")"
echo old >"$work/kept"
expect 1 '' sh -c '"$1" report -q -i /etc/passwd -o "$2" 2>/dev/null' sh "$kontend" "$work/kept"
[ "$(cat "$work/kept")" = old ] || complain "a failure wrote over what was there"
[ -z "$(find "$work" -name 'kept.*' -o -name 'folded.*')" ] || complain "a temporary file is left"
head -c $(($(wc -c <"$canned") * 9 / 10)) "$canned" >"$work/torn"
expect 0 '' "$kontend" recover -q "$work/torn" -o "$work/whole"
expect 0 '' "$kontend" report -q -i "$work/whole"
expect 0 '' "$kontend" recover -q "$work/torn"
cmp -s "$work/torn" "$work/whole" || complain "recover: two results"
[ -e "$work/torn.old" ] || complain "recover: the damaged file is gone"

# A screen is saved here, however the folder is called, and nowhere else.
for name in x.txt ./x.txt "$work/cwd/x.txt"; do
	run "$kontend" screenshot --keys ":save Space $name Enter" "$canned"
	[ "$rc" -eq 0 ] || complain "screenshot: exit $rc: $(cat "$work/err")"
	[ -s x.txt ] || complain "'$name' was not saved: $(tail -n 3 "$work/out")"
	rm -f x.txt
done
mkdir sub
for name in ../y.txt "$work/y.txt" sub/y.txt .y.txt "$work/cwd/../y.txt"; do
	run "$kontend" screenshot --keys ":save Space $name Enter" "$canned"
	[ "$here" != on ] || prints 'sandboxed: only to the folder'
	for file in y.txt .y.txt sub/y.txt "$work/y.txt"; do
		[ ! -e "$file" ] || complain "'$name' was saved"
	done
done
rmdir sub

# A reader of world-readable files writes no files.
[ -z "$(find "$HOME" -type f)" ] || complain "files at home: $(find "$HOME" -type f)"

# Root reads another user's file, though without a capability it could not open it.
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 "$canned"
	chmod 600 "$canned"
	expect 0 '' "$kontend" report -q -i "$canned"
	expect 0 '' "$kontend" script -q -i "$canned"
	expect 0 '' "$kontend" diff -q "$canned" "$work/whole"
fi
finish
