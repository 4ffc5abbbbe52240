#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317 # functions are called by try()
# Recordings without an end of their own: of a recorder that is killed, through a pipe, and parts
# that others follow. Where the program, the kernel's symbols and any rights are missing, what was
# hot in the program has the names and the code that it has here.
# Called as: test-parts-elsewhere.sh KONTEND SPIN
set -eu
export LC_ALL=C
kontend=$(realpath "$1")
spin=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

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
cp "$spin" progs/spin
# Lines of source are out of files alone.
strip -g progs/spin || { echo "skipped: no strip"; exit 77; }
: >empty
# The report by which a moment of recording is judged, and what is compared.
cat >hot.sh <<'HOT'
./viewer/kontend report -q -i "$1" --view hot --format csv >&3
HOT
cat >look.sh <<'LOOK'
set -eu
sh hot.sh "$1"
./viewer/kontend report -q -i "$1" --annotate spin_inner >&4
LOOK

away() { # SCRIPT FILE: into away.csv and away.txt
	chmod 644 "$2"
	unshare -m sh -c 'mount --bind empty /proc/kallsyms && mount -t tmpfs none progs &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups sh "$@"' \
		away "$@" 3>away.csv 4>away.txt 2>err
}

# What took a twentieth of the samples or more in the program: share, samples, name.
hot() { # FILE
	awk -F, '$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 >= 5 && $at["object"] ~ /\/progs\// { print $1, $2, $at["symbol"] }' "$1"
}

# same WHAT FILE: here and elsewhere
same() {
	sh look.sh "$2" 3>here.csv 4>here.txt
	away look.sh "$2" || { echo "$1: no report elsewhere: $(cat err)"; return 1; }
	sed -i 's/^# code: .*, \([0-9]* bytes\)$/# code: \1/' here.txt away.txt
	hot here.csv >here.hot
	hot away.csv >away.hot
	if ! grep -q 'spin_inner$' here.hot || ! cmp here.hot away.hot || ! cmp here.txt away.txt; then
		echo "$1: another machine sees something else:"
		diff here.hot away.hot || true
		diff here.txt away.txt | head -12 || true
		return 1
	fi
	grep -q ',spin_inner,recording,' away.csv || { echo "$1: the name is not from the recording"; return 1; }
	echo "$1: $(head -1 away.hot)"
}

# Seconds of CPU time: it ends by itself in any case.
start_work() {
	progs/spin 15 &
	work=$!
}

end_work() {
	kill "$work" 2>/dev/null || true
	wait "$work" 2>/dev/null || true
	work=
}

# has_some FILE: enough samples for what is compared, as it is seen here
has_some() {
	sh hot.sh "$1" 3>now.csv 2>err &&
		awk -F, '/,spin_inner,/ { n = $2 } END { exit n < 20 }' now.csv
}

# until_some FILE COMMAND...: as long as the program runs
until_some() {
	while kill -0 "$work" 2>/dev/null; do
		sleep 0.3
		! "$@" || return 0
	done
	return 1
}

is_named_away() { # FILE
	[ -e "$1" ] && away hot.sh "$1" && grep -q ',spin_inner,recording,' away.csv
}

record() { # OPTION...
	"$kontend" record -q -F 997 -e cpu-clock -p "$work" "$@" &
	recorder=$!
}

killed() {
	record -o killed.data "$@"
	until_some is_named_away killed.data || return 1
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null || true
	recorder=
	same "killed $*" killed.data
}

# The file that the pipe goes to is not ours to finish.
piped() {
	mkfifo pipe
	cat pipe >piped.data &
	reader=$!
	record -o pipe
	until_some has_some piped.data || return 1
	kill -INT "$recorder"
	wait "$recorder" || return 1
	recorder=
	wait "$reader"
	rm pipe
	same pipe piped.data
}

parts() {
	find . -name 'rotated.data.2*' | wc -l
}

rotated() {
	record --rotate 9 -o rotated.data
	for part in first second; do
		until_some has_some rotated.data || return 1
		n=$(parts)
		kill -USR2 "$recorder"
		while [ "$(parts)" = "$n" ]; do
			kill -0 "$recorder" || return 1
			sleep 0.1
		done
	done
	kill -INT "$recorder"
	wait "$recorder" || return 1
	recorder=
	for part in rotated.data.2*; do
		same "a rotated part" "$part" || return 1
	done
}

# Others may need all CPUs for a while.
try() {
	for attempt in 1 2 3; do
		rm -rf -- *.data* pipe
		start_work
		rc=0
		"$@" || rc=$?
		[ -z "$recorder" ] || kill -KILL "$recorder" 2>/dev/null || true
		recorder=
		end_work
		[ "$rc" != 0 ] || return 0
		echo "$*: attempt $attempt failed"
	done
	return 1
}

"$kontend" record -q -F 997 -e cpu-clock --duration 50ms -o probe 2>err ||
	{ echo "skipped: $(cat err)"; exit 77; }
failed=0
try killed || failed=1
try killed -z || failed=1
try piped || failed=1
try rotated || failed=1
exit "$failed"
