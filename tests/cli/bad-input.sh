#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A file that is no recording, or one that never ends: each verb that reads recordings prints one
# sentence, with the name, exits 1, and is interrupted by SIGINT at any time. Needs no privilege.
# Called as: bad-input.sh KONTEND MAKE-RECORDING
# shellcheck disable=SC2086 # a verb and its words
# shellcheck disable=SC2016 # expanded by the shells that are started
# shellcheck disable=SC2317 # functions are called through expect
make=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$make" "$work"
chmod 644 "$work"/*.data
canned=$work/canned.data
readers="report:-i script:-i export:-i screenshot:-i diff:$canned"

# refused PATTERN FILE: by all verbs that read recordings; recover has its own words.
refused() {
	for pair in $readers; do
		expect 1 "^kontend: .*$2.*$1" timeout 20 "$kontend" "${pair%%:*}" "${pair#*:}" "$2"
	done
	expect 1 "^kontend: .*$2.*$1" timeout 20 "$kontend" screenshot "$canned" --against "$2"
	expect 1 "^kontend: .*$2" timeout 20 "$kontend" recover -o "$work/recovered" "$2"
	[ ! -e "$work/recovered" ] || complain "recover $2: left a file"
}

swap8() { # the magic of a machine with the other byte order
	printf '2ELIFREP'
	tail -c +9 "$1"
}

: >"$work/empty"
refused 'the file is empty' "$work/empty"
mkdir "$work/folder"
refused 'Is a directory' "$work/folder"
: >"$work/folder/data"
: >"$work/folder/data.0"
for pair in $readers; do
	expect 1 "$work/folder/data.*it has no header" "$kontend" ${pair%%:*} ${pair#*:} "$work/folder"
done
refused 'first bytes are not those' /dev/zero
refused 'it has only 0 bytes' /dev/null
refused 'No such file' "$work/absent"
head -c 200000 /dev/urandom >"$work/noise"
refused 'first bytes are not those' "$work/noise"
swap8 "$canned" >"$work/swapped"
refused 'other byte order' "$work/swapped"
for pair in $readers; do
	expect 1 "standard input.*other byte order" sh -c 'file=$1; shift; "$@" - <"$file"' sh \
		"$work/swapped" "$kontend" ${pair%%:*} ${pair#*:}
done
if command -v perl >/dev/null; then
	perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0]))' \
		"$work/socket"
	refused 'No such device or address' "$work/socket"
fi
if [ "$(id -u)" -eq 0 ]; then
	cp "$canned" "$work/private"
	chmod 600 "$work/private"
	for pair in $readers; do
		expect 1 "$work/private.*Permission denied" setpriv --reuid=65534 --regid=65534 \
			--clear-groups "$kontend" ${pair%%:*} ${pair#*:} "$work/private"
	done
fi

# 2 TB, of which there is nothing, or a recording and then nothing.
if truncate -s 2T "$work/zeros" 2>/dev/null; then
	refused 'first bytes are not those' "$work/zeros"
	cp "$work/perf.data" "$work/hole"
	truncate -s 2T "$work/hole"
	expect 0 '' timeout 20 "$kontend" report -q -i "$work/perf.data"
	grep '^ ' "$work/out" >"$work/whole.rows" || true
	run timeout 20 "$kontend" report -i "$work/hole"
	[ "$rc" -eq 0 ] || complain "2 TB: exit $rc: $(cat "$work/err")"
	grep '^ ' "$work/out" >"$work/hole.rows" || true
	cmp "$work/whole.rows" "$work/hole.rows" || complain "2 TB: other rows"
	run timeout 20 "$kontend" recover -o "$work/recovered" "$work/hole"
	rm -f "$work/recovered"
	rm "$work/zeros" "$work/hole"
else
	echo "no files of 2 TB here"
fi

# A finished recording that has lost its end: what is left, and what to do about it.
head -c "$(($(wc -c <"$canned") / 2))" "$canned" >"$work/torn"
run "$kontend" report -i "$work/torn"
[ "$rc" -eq 0 ] || complain "torn: exit $rc: $(cat "$work/err")"
grep -q "$work/torn: The recording is readable up to byte [0-9]*: .*kontend recover" "$work/err" ||
	complain "torn: said $(cat "$work/err")"
prints '^  (rwsem|mutex)'

# A FIFO without a writer, or one that stalls.
mkfifo "$work/fifo"
for pair in $readers; do
	for writer in 'sleep 9' 'head -c 9000 perf.data; sleep 9' ''; do
		pid=
		if [ -n "$writer" ]; then
			setsid sh -c "cd '$work'; exec >fifo; $writer" 2>/dev/null &
			pid=$!
		fi
		run timeout --preserve-status -s INT 0.5 "$kontend" ${pair%%:*} ${pair#*:} "$work/fifo"
		[ "$rc" -eq 130 ] || complain "${pair%%:*}, '$writer': exit $rc: $(cat "$work/err")"
		[ ! -s "$work/out" ] || complain "${pair%%:*}, '$writer': printed $(cat "$work/out")"
		# It may be so late that it has not even a session of its own: no reader is left for it.
		[ -z "$pid" ] || kill -- "$pid" "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true
		wait || true
		nothing_left "${pair%%:*} of a FIFO, '$writer'"
	done
done
# A signal while it has no writer: the message names the file that kontend waited for.
for verb in 'report -i' 'script -i' 'export -i' "diff $canned" "merge $canned"; do
	tests=$((tests + 1))
	# shellcheck disable=SC2086 # words
	"$kontend" $verb "$work/fifo" >"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	comes blocks_signals "$pid" || :
	sleep 0.3
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ] || complain "$verb of a FIFO: exit $rc, not 143: $(cat "$work/err")"
	! grep -qx 'kontend: ' "$work/err" || complain "$verb of a FIFO: says nothing, and says so"
	grep -q 'fifo: a signal came before its first byte: is it a pipe' "$work/err" ||
		complain "$verb of a FIFO: said $(cat "$work/err")"
	nothing_left "$verb of a FIFO"
done
expect 1 "$work/fifo.* is no regular file" timeout 20 "$kontend" recover "$work/fifo"

# With a terminal: how far it is while it waits; what has no end is not copied for replay.
if command -v script >/dev/null; then
	until_seen() {
		until [ -e "$work/seen" ]; do
			"$@"
			sleep 0.2
		done
	}
	(cat "$work/perf.data"; until_seen :) >"$work/fifo" &
	script -qec "$kontend report -i $work/fifo" /dev/null >"$work/out" </dev/null &
	comes grep -q 'reading .*fifo: [0-9.]*[KM]' "$work/out" || cat "$work/out"
	touch "$work/seen"
	wait
	rm "$work/seen"
	nothing_left 'report of a FIFO'
	(head -c 9000 "$work/perf.data"; until_seen echo) 2>/dev/null >"$work/fifo" &
	script -qec "$kontend replay $work/fifo" /dev/null >"$work/out" 2>&1 </dev/null &
	pid=$!
	comes grep -q 'fifo: [0-9.]*[KM]' "$work/out" || cat "$work/out"
	kill $pid
	touch "$work/seen"
	wait
	nothing_left 'replay of a FIFO'
	run timeout 20 script -qec "$kontend replay /dev/zero" /dev/null
	[ "$rc" -eq 1 ] || complain "replay /dev/zero: exit $rc"
	grep -q '/dev/zero.*first bytes are not those' "$work/out" ||
		complain "replay /dev/zero: said $(cat "$work/out")"
	run timeout 20 script -qec "$kontend replay /dev/null" /dev/null
	grep -q '/dev/null.*only 0 bytes' "$work/out" || complain "replay /dev/null: $(cat "$work/out")"
	nothing_left replay
fi
# The recording that another one is compared with is shown as far as it can be read.
head -c 20000 "$canned" >"$work/short.data"
expect 0 '' timeout 20 "$kontend" screenshot -q "$canned" --against "$work/short.data" -o "$work/short.txt"
grep -q '^short.data: ' "$work/short.txt" || complain "screenshot --against a cut recording: does not name the fault"
finish
