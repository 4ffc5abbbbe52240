#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes the recording that comes with kontend again: share/storm.data, of storm.sh. Takes root, ext4
# below /srv, and two CPUs that nothing else keeps busy.
# Called as: make-sample.sh BUILD RECORDING
set -eu
[ $# = 2 ] || { echo "usage: $0 BUILD RECORDING" >&2; exit 2; }
# Names of the programs that run now, but for those that the sample has as well.
others() {
	cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | sort -u | grep -vE '^(kontend|kworker|ksoftirqd|rcu_|demo|watcher|traced|opener|readers|logger|storm|sleep|bench-)' |
		tr '\n' '\0'
}

# Nothing private of this machine: another host name, and only the sample's own processes and cgroups.
case ${SAMPLE_STEP-} in
'')
	memory=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
	[ "$memory" ] || { echo "no memory cgroups (version 1) are mounted here" >&2; exit 1; }
	home=$memory$(sed -n 's/^[0-9]*:\([^:]*,\)*memory\(,[^:]*\)*://p' /proc/self/cgroup)
	mkdir "$memory/sample"
	echo $$ >"$memory/sample/cgroup.procs"
	names=$(mktemp)
	others >"$names"
	export SAMPLE_NAMES=$names
	SAMPLE_STEP=$memory unshare --mount --uts --cgroup --pid --fork --mount-proc "$0" "$@" && r=0 || r=$?
	echo $$ >"$home/cgroup.procs"
	rmdir "$memory/sample"
	rm "$names"
	exit $r
	;;
esac
umount -l "$SAMPLE_STEP"
mount -t cgroup -o memory cgroup "$SAMPLE_STEP"
hostname example
share=$(dirname "$(realpath "$0")")
build=$(realpath "$1") to=$(realpath "$2")
app=/srv/app group=$SAMPLE_STEP/app.slice
tracing=/sys/kernel/tracing
[ ! -e $app ] || { echo "$app is there: something else is using it" >&2; exit 1; }

take_away() {
	[ ! -e $tracing/events/storm ] || echo 0 >$tracing/events/storm/enable
	for name in load push nop5 ret; do
		[ ! -e $tracing/events/storm/$name ] || echo "-:storm/$name" >>$tracing/uprobe_events
	done
}

clean_up() {
	cd /
	take_away
	echo $$ >"$SAMPLE_STEP/cgroup.procs"
	rmdir "$group" || :
	rm -rf $app
}

# The programs run in a memory cgroup of their own, where the names of other cgroups are not visible.
mkdir -p $app "$group"
trap clean_up EXIT
trap "exit 143" HUP INT TERM
echo $$ >"$group/cgroup.procs"

cp "$build/kontend" "$share/storm.sh" $app
while read -r name from; do
	cp "$build/tests/live/$from" $app/"$name"
done <<END
watcher bp-holder
traced up-work
opener bp-create
readers passed
logger story-chain
END
ln $app/kontend $app/demo
for name in load push nop5 ret; do
	nm $app/traced | awk -v name=$name -v at=$app/traced \
		'$3 == "up_" name { print "p:storm/" name " " at ":0x" $1 }'
done >$app/probes
strip --strip-debug $app/kontend $app/watcher $app/traced $app/opener $app/readers $app/logger
cd $app
record() {
	env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=$app LC_ALL=C.UTF-8 ./kontend record --no-config -q \
		--compress=19 -F 149 --max-stack 24 --mmap sampled=16,paths --creations --owner \
		-o sample.data -- ./storm.sh || [ $? = 130 ]
}

# Tasks outside of the PID namespace are NAME/PID@host. The best is a sample without any, while no other
# program measures or interferes; after some tries it is the one with the fewest.
least=1000
for _ in $(seq "${SAMPLE_TRIES:-8}"); do
	rm -f log sample.data sample.data.old
	record
	./kontend report -q -i sample.data --view all --rows 0 -o report.txt
	take_away
	others=$(grep -o '[^ ]*@host' report.txt | sort -u | wc -l)
	if [ "$others" -lt "$least" ]; then
		mv sample.data best.data
		grep -o '[^ ]*@host' report.txt | sort -u >others.txt || :
		least=$others
	fi
	[ "$least" -gt 0 ] || break
done
[ "$least" = 0 ] || echo "$least tasks outside of the sample are in it: $(tr '\n' ' ' <others.txt)" >&2
# Names of tasks outside of the sample are in the snapshots, though they had nothing to do with it: a
# full report does not have them, and neither has the sample.
./kontend report -q -i best.data --view all --rows 0 -o report.txt
tr '\0' '\n' <"$SAMPLE_NAMES" | while read -r name; do
	grep -qF -- "$name" report.txt || printf '%s\0' "$name"
done >unseen
"$share/unname.py" best.data unseen plain.data
rm -f "$to"
./kontend cut -q --compress=19 plain.data -o "$to"
chmod 644 "$to"
ls -l "$to"
