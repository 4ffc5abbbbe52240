#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes the recordings of stories again, and the figures of their workloads: NAME.data and the lines of NAME in `figures`.
# Takes root, and two CPUs that nothing else keeps busy; java for the story of it. Without hardware counters here the one
# of rotation is the arm64 machine's of tests/golden (arm64.md says how that is made), and its figures stay as they are.
# Called as: make.sh BUILD NAME...
set -eu
[ $# -gt 1 ] || { echo "usage: $0 BUILD NAME..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# Nothing private of this machine: another host name here, and below no names of other tasks. A PID namespace would hide
# them, but also what kontend reads in the memory of programs.
[ "${STORY_STEP-}" ] || exec env STORY_STEP=1 unshare --uts "$0" "$@"
hostname example
build=$(realpath "$1")
shift
app=/srv/app
[ ! -e $app ] || { echo "$app is there: something else is using it" >&2; exit 1; }
mkdir -p $app
trap 'rm -rf $app' EXIT
trap 'exit 143' HUP INT TERM
cp "$build/kontend" $app
strip --strip-debug $app/kontend
cd $app

# Names of the programs that run and of cgroups, but for those of the stories, with a NUL after each; added to those
# before.
note_others() {
	find /sys/fs/cgroup /sys/fs/cgroup/* -mindepth 1 -type d -printf '/%P\0' 2>/dev/null |
		grep -zv kontend-story >>names || :
	cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | sort -u |
		grep -vE '^(kontend|kworker|ksoftirqd|rcu_|story|bench-|java|cron-job|forker|runtime|container|handler|cache-|sleep)' |
		grep -vE '^(C1 |C2 |VM |GC |G1 |Signal |Service |Reference|Finalizer|Monitor |Common-|Notification|Attach)' |
		tr '\n' '\0' >>names
}

# kontend OPTION...: with nothing of the user's.
kontend() {
	env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=$app LC_ALL=C.UTF-8 ./kontend "$@"
}

# of NAME MEMBER: what the program says of the story.
of() {
	kontend story --format json | sed -n "s/.*\"story\": \"$1\".*\"$2\": \"\([^\"]*\)\".*/\1/p"
}

record() {
	note_others
	measure=$(of "$1" measure) command=$(of "$1" command)
	case $command in
	story*) command="$command --output figures" ;;
	esac
	# shellcheck disable=SC2086 # options, and words
	kontend record -q --no-config $measure -z -o raw.data -- ./kontend $command >/dev/null
	note_others
	case $command in
	story*) ;;
	*) kontend story "$1" --work --output figures ;;
	esac
}

# A part that shows the story, so that the file stays small.
part_of() {
	case $1 in
	slots) echo --time=0:00,+2000ms ;;
	mmap) echo --time=60%,+360ms ;;
	java) echo --time=35%,+5s ;;
	fork) echo --time=10%,+3500ms ;;
	esac
}

# pack NAME: names of tasks outside of it are in snapshots, though they had nothing to do with it.
pack() {
	rm -f part.data fewer.data packed.data
	# A cut has names of the program's functions at its begin, where unname.py moves nothing that refers to them.
	# shellcheck disable=SC2046 # an option, or none
	kontend cut -q --compress=19 $(part_of "$1") raw.data -o part.data
	"$here/../unname.py" part.data names plain.data --no-code
	kontend cut -q --compress=19 plain.data -o fewer.data
	# Private names that are left are of files that other tasks had locked.
	"$here/../../tests/cli/sample-private.py" fewer.data | tr '\n' '\0' >private
	"$here/../unname.py" fewer.data private plain.data
	kontend cut -q --compress=19 plain.data -o packed.data
}

for name; do
	rm -f raw.data figures
	: >names
	if [ "$name" = rotation ] && ! kontend story rotation --work --output figures 2>/dev/null; then
		cp "$here/../../tests/golden/phases-arm64.data" raw.data
		grep '^rotation	' "$here/figures" >figures
	else
		record "$name"
	fi
	pack "$name"
	chmod 644 packed.data
	cp packed.data "$here/$name.data"
	grep -v "^$name	" "$here/figures" >kept || :
	sort -s -k1,1 -t "	" kept figures >"$here/figures"
	ls -l "$here/$name.data"
done
