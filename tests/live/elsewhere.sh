# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $kontend is of the test
# For tests that read a recording as on another machine: without symbols of the kernel, without the
# files in progs/, and as a user without privileges (to arrange this takes root). The test is in a
# folder of its own from here on; viewer/kontend, a copy of $kontend, looks in both places.
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_mounts
for tool in unshare setpriv strip; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
chmod 755 "$dir"
cd "$dir" || exit 1
mkdir progs viewer
cp "$kontend" viewer/kontend
: >empty

# here|away SCRIPT FILE...: what it writes to descriptors 3 and 4 into here.out and here.txt, or away.
here() {
	sh "$@" 3>here.out 4>here.txt
}

away() {
	chmod 644 "$2"
	"$own_mounts" sh -c 'mount --bind empty /proc/kallsyms && mount -t tmpfs none progs &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups sh "$@"' \
		away "$@" 3>away.out 4>away.txt 2>err
}

# Where the bytes of a function come from is not compared.
without_origin() { # FILE...
	sed -i 's/^# code: .*, \([0-9]* bytes\)$/# code: \1/' "$@"
}

# equal WHAT ENDING...: is here.ENDING as away.ENDING?
equal() {
	what=$1
	shift
	for ending in "$@"; do
		cmp -s "here.$ending" "away.$ending" && continue
		echo "$what: another machine sees something else:"
		diff "here.$ending" "away.$ending" | head -20
		return 1
	done
}

# rows LEAST COLUMN PATTERN COLUMN FILE: of rows with that share or more in which the first column
# matches: share, samples, and the second one.
rows() {
	awk -F, -v least="$1" -v where="$2" -v pattern="$3" -v what="$4" '
		$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 >= least && $at[where] ~ pattern { print $1, $2, $at[what] }' "$5"
}

# samples LEAST COLUMN PATTERN FILE: those of such rows.
samples() {
	rows "$1" "$2" "$3" "$2" "$4" | awk '{ n += $2 } END { print n + 0 }'
}

start_record() { # OPTION...
	"$kontend" record -q -F 997 -e cpu-clock "$@" &
	recorder=$!
}

# end_record SIGNAL: and if it is not KILL, its end has to be good.
end_record() {
	code=0
	kill -"$1" "$recorder"
	wait "$recorder" 2>/dev/null || code=$?
	recorder=""
	[ "$1" = KILL ] || return "$code"
}

# until_some COMMAND...: as long as the program runs.
until_some() {
	while kill -0 "$work" 2>/dev/null; do
		sleep 0.3
		! "$@" || return 0
	done
	return 1
}

parts() { # FILE: those that are complete
	find . -name "$1.2*" | sort
}

# A recording with --rotate goes on in another file.
begin_part() { # FILE
	before=$(parts "$1")
	kill -USR2 "$recorder"
	while [ "$(parts "$1")" = "$before" ]; do
		kill -0 "$recorder" || return 1
		sleep 0.1
	done
}

# try COMMAND...: others may need all CPUs for a while. 77: it is not possible here.
try() {
	for attempt in 1 2 3 4 5; do
		rm -rf -- *.data* pipe
		rc=0
		"$@" || rc=$?
		stop_all
		[ "$rc" != 77 ] || exit 77
		[ "$rc" != 0 ] || return 0
		echo "$*: attempt $attempt failed"
	done
	return 1
}
