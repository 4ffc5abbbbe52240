#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Refusals of the kernel or the system: each has its own sentence, exit 1, and leaves nothing.
# shellcheck disable=SC2317 # functions are called through expect
own_mounts=$(realpath "$(dirname "$0")/../lib/own-mounts.sh")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_root

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# without CAPABILITY COMMAND...: as root, but for that.
without() {
	cap=$1
	shift
	setpriv --bounding-set="-$cap" --inh-caps="-$cap" "$@"
}

# In a mount namespace without tracefs.
no_tracefs() {
	# shellcheck disable=SC2016 # expanded inside
	"$own_mounts" sh -c '
		for type in tracefs debugfs; do
			awk -v type=$type "\$3 == type { print \$2 }" /proc/self/mounts |
				while read -r dir; do umount -l "$dir"; done
		done
		exec "$@"' sh "$@"
}

# In a chroot whose root is no mount point mounts cannot be made private.
has_mounts=yes
if ! lack=$(unshare -m true 2>&1); then
	has_mounts=no
	echo "not tried without a mount namespace ($lack): no tracefs, a full file system"
fi

quick="report --duration 100ms"
# shellcheck disable=SC2086 # words
{
	expect 1 "Only root may read .*(mount|setcap cap_perfmon.*$kontend)" \
		as_nobody "$kontend" $quick
	expect 1 'last branch records of the CPU.*a clock has none' \
		"$kontend" $quick -F 99 -e cpu-clock --call-graph lbr
	if ! ls -d /sys/bus/event_source/devices/cpu* >/dev/null 2>&1; then
		expect 1 'last branch records of the CPU.*shows no PMU.*--call-graph fp or dwarf' \
			"$kontend" $quick -F 99 --call-graph lbr
	fi
	if [ $has_mounts = yes ]; then
		expect 1 "tracefs is not mounted, and only root may mount it.*sudo mount -t tracefs" \
			no_tracefs setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" $quick
		expect 1 "tracefs is not mounted.*sudo mount -t tracefs" \
			no_tracefs setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$kontend" $quick
		expect 0 '' no_tracefs "$kontend" $quick
		prints '^# kontend report'
	fi
	expect 1 "than the limit of 9 open files.*ulimit -n" \
		without sys_resource sh -c 'ulimit -n 9; exec "$@"' sh "$kontend" $quick
	# Between too few and enough there is one limit, which the message names.
	for files in 26 48 112 142; do
		expect 1 "than the limit of $files open files.*ulimit -n [0-9]+'\$" \
			without sys_resource sh -c "ulimit -n $files; exec \"\$@\"" sh "$kontend" $quick
	done
	files=$(sed -n "s/.*ulimit -n \([0-9]*\)'$/\1/p" "$work/err")
	expect 0 '' without sys_resource sh -c "ulimit -n $files; exec \"\$@\"" sh "$kontend" $quick
	for verb in report script export 'record -o /dev/null'; do
		expect 1 'refuses --realtime.*CAP_SYS_NICE.*ulimit -r 1' \
			prlimit --rtprio=0 setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice \
			"$kontend" $verb --duration 100ms --realtime
	done
	if grep -q ' cgroup2 ' /proc/self/mounts; then
		expect 1 "No such cgroup: /nosuch.*see" "$kontend" $quick -G /nosuch
	else
		expect 1 "No cgroup2 file system is mounted.*mount -t cgroup2" "$kontend" $quick -G /nosuch
	fi
	expect 1 "There is no PMU nosuch; those that rotate here" \
		"$kontend" $quick --set-mux-interval nosuch=8
	expect 1 "The PMU software never rotates" "$kontend" $quick --set-mux-interval software=8
	expect 129 "give PMU=MS, like cpu=8" "$kontend" $quick --set-mux-interval software
	# As a shell says it.
	for verb in report script export 'record -o /dev/null'; do
		expect 127 "Cannot run 'nosuchcommand': there is no such command" \
			"$kontend" $verb -- nosuchcommand
		expect 126 "Cannot run '/': it is not executable" "$kontend" $verb -- /
	done
	expect 1 "Cannot write to the file '/nosuch/x'.*No such file" "$kontend" $quick -o /nosuch/x
	expect 1 "Cannot write all of the output to the file '/dev/full': No space left" \
		"$kontend" $quick -o /dev/full
	expect 1 "Cannot write all of the output to standard output: No space left" \
		sh -c '"$@" >/dev/full' sh "$kontend" $quick
	expect 1 "Cannot write all of the output to standard output: Bad file descriptor" \
		sh -c '"$@" >&-' sh "$kontend" $quick
	expect 1 "Cannot write all of the output to standard output: No space left" \
		sh -c '"$@" >/dev/full' sh "$kontend" --help
	expect 1 "Cannot write all of the output" sh -c '"$@" >/dev/full' sh "$kontend" doctor
}

# On a full file system: what was there stays, and nothing is left beside it.
mkdir "$work/full"
on_full() {
	# shellcheck disable=SC2016 # expanded inside
	"$own_mounts" sh -c '
		mount -t tmpfs -o size=4k none "$0" || exit 99
		echo old >"$0/kept"
		rc=0
		"$@" || rc=$?
		[ "$(cat "$0"/*)" = old ] || exit 98
		exit $rc' "$work/full" "$@"
}
[ $has_mounts = no ] ||
	expect 1 "Cannot write all of the output to the file '$work/full/kept': No space left" \
		on_full "$kontend" report --duration 100ms -o "$work/full/kept"

# The reader goes away: quietly, 128 + SIGPIPE.
# shellcheck disable=SC2016 # expanded inside
run sh -c '{
	while [ ! -e "$0.gone" ]; do sleep 0.01; done
	"$@"
	echo $? >&3
} 3>"$0" | { exec <&-; : >"$0.gone"; }' "$work/rc" "$kontend" report --duration 100ms
[ "$(cat "$work/rc")" -eq 141 ] || complain "closed pipe: exit $(cat "$work/rc"), not 141"
[ ! -s "$work/err" ] || complain "closed pipe: said $(cat "$work/err")"
nothing_left 'closed pipe'

# The terminal.
if command -v script >/dev/null; then
	for term in dumb nosuchterminal ''; do
		run env TERM="$term" script -qec "$kontend --demo" /dev/null
		[ "$rc" -eq 1 ] || complain "TERM='$term': exit $rc, not 1"
		grep -q "kontend: .*TERM" "$work/out" || complain "TERM='$term': $(cat "$work/out")"
		[ "$(wc -l <"$work/out")" -eq 1 ] || complain "TERM='$term': more than a line"
		nothing_left "TERM='$term'"
	done
else
	echo "script is not installed: no terminals are tried"
fi
finish
