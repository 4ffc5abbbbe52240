#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Capabilities while kontend runs: all of its threads have given up those that are not needed any
# more, and cannot get them back; a command has what kontend was started with; what is opened later
# can still be: another file of a recording, in a folder of another user.
#
#     test-privs.sh KONTEND
set -u

kontend=$1
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
"$kontend" report --duration 0.01 >"$dir/out" 2>&1 || skip "$(tail -n 1 "$dir/out")"

# set FILE NAME: that line of a status file
set_of() {
	sed -n "s/^$2:[[:space:]]*//p" "$1"
}

# waits_for WHAT COMMAND...: until the command succeeds, for as long as kontend runs
waits_for() {
	what=$1
	shift
	n=0
	until "$@"; do
		n=$((n + 1))
		if [ $n -gt 600 ] || ! kill -0 "$recorder" 2>"$dir/kill"; then
			complain "$what: $(cat "$dir/err")"
			return 1
		fi
		sleep 0.1
	done
}

# Those that may be kept: dac_override, dac_read_search, fowner, kill, ipc_lock, sys_ptrace,
# sys_nice, perfmon, checkpoint_restore; sys_admin where the kernel requires it to open events.
most=$((1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 14 | 1 << 19 | 1 << 23 | 1 << 38 | 1 << 40))
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$paranoid" -lt 3 ] || most=$((most | 1 << 21))
had=$((0x$(set_of /proc/self/status CapEff)))
[ $((had & ~most)) -ne 0 ] || skip "there is nothing to give up"

mkdir "$dir/theirs" && chmod 755 "$dir/theirs" && chown 65534 "$dir/theirs"
# Everything is open when the command runs.
# shellcheck disable=SC2016 # for the other shell
"$kontend" record -q -o "$dir/theirs/data" -- sh -c '
	cat /proc/self/status >"$0/command.tmp" && mv "$0/command.tmp" "$0/command"
	while [ ! -e "$0/stop" ]; do sleep 0.05; done' "$dir" >"$dir/out" 2>"$dir/err" &
recorder=$!
if waits_for "the command does not run" [ -e "$dir/command" ]; then
	[ "$((0x$(set_of "$dir/command" CapEff)))" -eq "$had" ] ||
		complain "the command has $(set_of "$dir/command" CapEff), not what was there"
	[ "$(set_of "$dir/command" NoNewPrivs)" = "$(set_of /proc/self/status NoNewPrivs)" ] ||
		complain "the command may not get new privileges"
	for task in "/proc/$recorder/task"/*; do
		cat "$task/status" >"$dir/task" 2>"$dir/gone" || continue
		for name in CapEff CapPrm; do
			has=$((0x$(set_of "$dir/task" $name)))
			# The thread that only hears signals has none.
			[ "$has" -eq $((had & most)) ] || { [ "$has" -eq 0 ] && [ "${task##*/}" != "$recorder" ]; } ||
				complain "$task: $name is $(set_of "$dir/task" $name)"
		done
		[ "$(set_of "$dir/task" NoNewPrivs)" = 1 ] || complain "$task may get new privileges"
	done
	kill -USR2 "$recorder"
	# shellcheck disable=SC2016 # for the other shell
	waits_for "there is no second file" sh -c '[ "$(ls "$0" | wc -l)" -ge 2 ]' "$dir/theirs"
fi
: >"$dir/stop"
wait "$recorder" || complain "record: exit $?: $(cat "$dir/err")"
recorder=
for file in "$dir"/theirs/data*; do
	[ "$(stat -c %u "$file")" = 0 ] || complain "$file belongs to $(stat -c %u "$file")"
	"$kontend" report -i "$file" >"$dir/out" 2>&1 || complain "$file: $(tail -n 1 "$dir/out")"
done
exit $status
