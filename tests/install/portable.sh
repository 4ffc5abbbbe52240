#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The one file of ./bootstrap portable, where nothing is installed for it: in a root file system with
# nothing but this file, and in those of distributions. In each: what it has, the doctor, a live
# report, a recording and its report, the tour of a user without rights, and the screen on
# terminals that the root file system has no entry for; that no files remain, that no path of
# the build is in it, and how large it is. Seconds are those from the file's copy to the first screen.
#
# That of arm64 is built, too, and runs by qemu-user, where there is one, with what needs no kernel.
#
# Called as: portable.sh [--file FILE] [NAME...]; names are empty, debian-12, debian-13, ubuntu-24.04, arm64.
set -euo pipefail

if [ "${KONTEND_ROOTS_INSIDE:-}" != yes ]; then
	[ "$(id -u)" -eq 0 ] || { echo "only root can make root file systems" && exit 77; }
	for program in tmux debootstrap readelf; do
		command -v "$program" >/dev/null || { echo "$program is not installed" && exit 77; }
	done
	KONTEND_ROOTS_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/install/base.sh
. "$(dirname "$0")/base.sh"
most=10000000
file=
names=()
passed=0
failed=0
skipped=0

while [ $# -gt 0 ]; do
	case $1 in
	--file) file=$2 && shift ;;
	empty | arm64) names+=("$1") ;;
	*) suite_of "$1" >/dev/null && names+=("$1") ;;
	esac
	shift
done
[ ${#names[@]} -gt 0 ] || names=(empty debian-12 debian-13 ubuntu-24.04 arm64)
[ -n "$file" ] || file=$("$top/bootstrap" portable)

work=$(mktemp -d /var/tmp/kontend-portable.XXXXXX)
finish() {
	tmux -S "$work/tmux" kill-server 2>/dev/null || true # our own, by its socket
	umount -R -l "$work"/*/{proc,sys,dev} 2>/dev/null || true # of the runs that came so far
	rm -rf --one-file-system "$work"
}
trap finish EXIT

# check TITLE COMMAND...: counted, and its output shown if it fails.
check() {
	local title=$1
	shift
	if "$@" >"$work/said" 2>&1 </dev/null; then
		passed=$((passed + 1))
		return 0
	fi
	failed=$((failed + 1))
	echo "failed: $title"
	tail -n 30 "$work/said" | sed 's/^/    /'
}

kontend() {
	env -i PATH="$PATH" HOME=/nonexistent LANG=C.UTF-8 timeout -k 5 120 chroot "$root" /bin/kontend "$@"
}

# says PATTERN COMMAND...
says() {
	local pattern=$1
	shift
	"$@" >"$work/text" 2>&1 || { cat "$work/text" && return 1; }
	grep -q -e "$pattern" "$work/text" || { cat "$work/text" && return 1; }
}

# The first q may end the tour.
leave() {
	local try
	for ((try = 0; try < 50; try++)); do
		tmux -S "$work/tmux" send-keys q 2>/dev/null || return 0
		sleep 0.2
	done
	tmux -S "$work/tmux" kill-server
	echo "q does not end it" && return 1
}

# screen TERM PATTERN ARGUMENT...: what the terminal shows within 30 seconds. It is one of tmux's, which
# understands what the others have in common.
screen() {
	local term=$1 pattern=$2 try
	shift 2
	tmux -u -S "$work/tmux" -f /dev/null new-session -d -x 120 -y 30 \
		"env -i PATH=$PATH TERM=$term LANG=C.UTF-8 chroot $* 2>$work/why"
	for ((try = 0; try < 300; try++)); do
		tmux -S "$work/tmux" capture-pane -p >"$work/shown" 2>/dev/null || break
		if grep -q -e "$pattern" "$work/shown"; then
			leave
			return
		fi
		sleep 0.1
	done
	cat "$work/shown" "$work/why"
	tmux -S "$work/tmux" kill-server 2>/dev/null
	return 1
}

has_no_interpreter() {
	! readelf -lW "$file" | grep -E 'INTERP|DYNAMIC'
}

has_no_path() {
	! grep -a -o -F -e "$top" "$file"
}

is_small() {
	[ "$(wc -c <"$file")" -lt "$most" ] || { echo "$(wc -c <"$file") bytes" && return 1; }
}

# But for the recording that was asked for.
left_nothing() {
	[ -z "$(find "$root" -xdev -newer "$work/begin" ! -type d ! -path "$root/tmp/x.data" -print | tee /dev/stderr)" ]
}

try_all() {
	local name=$1 begin
	begin=$(date +%s%N)
	install -D -m 755 "$file" "$root/bin/kontend"
	sync -f "$root"
	touch "$work/begin"
	sleep 0.05
	check "$name: first screen" screen xterm-256color 'kontend-demo\|demo-' "$root" /bin/kontend --demo
	echo "$name: $(wc -c <"$file") bytes; first screen after $((($(date +%s%N) - begin) / 1000000)) ms: cp kontend /bin && kontend --demo"
	check "$name: version" says 'portable *\[ on' kontend version --features
	check "$name: doctor" says 'kontend works here' kontend doctor
	check "$name: disassembler" says '^  instructions works' kontend doctor
	check "$name: report" says 'demo-' kontend report --duration 1 --demo
	check "$name: record" kontend record -o /tmp/x.data --duration 1 --demo
	check "$name: report -i" says 'demo-' kontend report -i /tmp/x.data
	for term in linux vt100 screen-256color tmux-256color foot alacritty rxvt-unicode-256color; do
		check "$name: $term" screen "$term" 'replay *x.data' "$root" /bin/kontend replay /tmp/x.data
	done
	check "$name: an unknown terminal" says_not_known
	check "$name: tour" screen xterm 'tour\|Tour' --userspec=12345:12345 "$root" /bin/kontend tour
	check "$name: nothing is left" left_nothing
}

says_not_known() {
	! screen nosuchterm 'replay *x.data' "$root" /bin/kontend replay /tmp/x.data || return 1
	grep -q 'no description of the terminal TERM=nosuchterm' "$work/why" "$work/shown"
}

try_arm64() {
	[ "$(uname -m)" != aarch64 ] || return 0
	# shellcheck disable=SC2016 # for eval
	check "arm64: build" eval 'file=$("$top/bootstrap" portable --arch arm64) && echo "$file" >"$work/arm64"'
	file=$(cat "$work/arm64")
	check "arm64: static" has_no_interpreter
	check "arm64: no path of the build" has_no_path
	check "arm64: less than $most bytes" is_small
	if ! command -v qemu-aarch64-static >/dev/null; then
		skipped=$((skipped + 1))
		return
	fi
	check "arm64: version" says 'portable *\[ on' qemu-aarch64-static "$file" version --features
	check "arm64: report -i" says mmap_lock qemu-aarch64-static "$file" report --no-sandbox -i "$top/share/storm.data"
}

try_name() {
	local name=$1
	[ "$name" != arm64 ] || { try_arm64 && return; }
	root=$work/$name
	if [ "$name" = empty ]; then
		mkdir -p "$root"/{proc,sys,dev,tmp}
	elif make_base "$name" "$work"; then
		cp -a "$kept/$name" "$root"
	else
		echo "$name: debootstrap cannot make it: $(tail -n 1 "$work/$name.log")"
		skipped=$((skipped + 1))
		return
	fi
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	try_all "$name"
}

check "static" has_no_interpreter
check "no path of the build" has_no_path
check "less than $most bytes" is_small
for name in "${names[@]}"; do
	try_name "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
