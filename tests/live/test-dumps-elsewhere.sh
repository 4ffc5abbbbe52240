#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Dumps of the stack of a program without frame pointers, where the program is not: the recording has
# the tables by which they are unwound, so the chains are those that they are here. A recording with
# an end has them for all of its samples, and a part that follows another one from its begin on.
# Called as: test-dumps-elsewhere.sh KONTEND DEEP
# shellcheck disable=SC2317 # functions are called by try()
set -eu
export LC_ALL=C
kontend=$(realpath "$1")
deep=$(realpath "$2")
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 77; }
for tool in unshare setpriv; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
unshare -m true 2>/dev/null || { echo "skipped: no mount namespace"; exit 77; }

dir=$(mktemp -d)
work=""
recorder=""
cleanup() {
	for pid in $work $recorder; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$dir"
cd "$dir"
mkdir progs viewer
cp "$kontend" viewer/kontend
cp "$deep" progs/deep
strip -g progs/deep || { echo "skipped: no strip"; exit 77; }
cat >look.sh <<'LOOK'
./viewer/kontend report -q -i "$1" --view hot --by stack --format csv >&3
LOOK

# Share and chain of what took a twentieth of the samples or more within the program.
hot() { # FILE
	awk -F, '$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 >= 5 && $at["stack"] ~ /;main;/ { print $1, $2, $at["stack"] }' "$1"
}

same() { # WHAT FILE
	chmod 644 "$2"
	sh look.sh "$2" 3>here.csv
	# shellcheck disable=SC2016 # for the other shell
	unshare -m sh -c 'mount -t tmpfs none progs &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups sh look.sh "$1"' \
		away "$2" 3>away.csv || return 1
	hot here.csv >here.hot
	hot away.csv >away.hot
	grep -q 'deep_work;deep_recur;.*main' here.hot || { echo "$1: too few samples"; return 1; }
	if ! cmp here.hot away.hot; then
		echo "$1: another machine sees something else:"
		diff here.hot away.hot || true
		return 1
	fi
	echo "$1: $(wc -l <away.hot) chains, $(head -1 away.hot)"
}

record() {
	"$kontend" record -q -F 997 -e cpu-clock --call-graph dwarf "$@"
}

ended() {
	record -o ended.data -- progs/deep 0.5
	same "a recording with an end" ended.data
}

# Others may need all CPUs for a while.
try() {
	for attempt in 1 2 3; do
		rm -f -- *.data*
		rc=0
		"$@" || rc=$?
		for pid in $recorder $work; do
			kill -KILL "$pid" 2>/dev/null || true
			wait "$pid" 2>/dev/null || true
		done
		recorder=""
		work=""
		[ "$rc" != 0 ] || return 0
		echo "$*: attempt $attempt failed"
	done
	return 1
}

record -o probe -- progs/deep 0.1 2>err || { echo "skipped: $(cat err)"; exit 77; }
if "$kontend" report -q -i probe --view hot --by stack --format csv | grep -q '\[no unwinder\]'; then
	echo "skipped: kontend was built without an unwinder"
	exit 77
fi
failed=0
try ended || failed=1
exit "$failed"
