#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend export --format pprof` of the recording that comes with kontend, read by its wire format: it adds up to the
# report, for users with any privileges, and nonsense is refused. Called as: pprof.sh KONTEND RECORDING
sample=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run "$kontend" export -q "$sample" --format pprof
! grep -q 'built without libprotobuf-c' "$work/err" || {
	echo "skipped: $(cat "$work/err")"
	exit 77
}
command -v python3 >/dev/null || {
	echo "skipped: no python3 to read profiles with"
	exit 77
}

# profile ARGUMENT...: into $work/p.pb.gz; its sums and labels in $work/sums.
profile() {
	run "$kontend" export -q --no-config -i "$sample" --format pprof -o "$work/p.pb.gz" "$@"
	if [ "$rc" -ne 0 ] || [ -s "$work/err" ]; then
		complain "$*: exit $rc: $(cat "$work/err")"
	fi
	values="contentions/count delay/nanoseconds"
	[ "${2:-}" != samples ] || values="samples/count cpu/nanoseconds"
	# shellcheck disable=SC2086 # one value a word
	"$here/pprof.py" "$work/p.pb.gz" $values >"$work/sums" 2>"$work/wrong" || complain "$*: $(cat "$work/wrong")"
}

# is LINE: the sums have that line, with blanks for tabs.
is() {
	tr '\t' ' ' <"$work/sums" | grep -qxF -e "$1" || complain "no '$1' in: $(cat "$work/sums")"
}

# of MEMBER: of the report's overview.
of() {
	"$kontend" report -q --no-config -j --view overview -i "$sample" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["views"]["overview"][sys.argv[1]])' "$1"
}

profile
is "contentions/count $(of contended)"
is "delay/nanoseconds $(of total_ns)"
is 'memcg /app.slice'
is 'mode R W'
is 'type mutex rwsem spinlock'
mv "$work/p.pb.gz" "$work/first.pb.gz"
profile --no-sandbox
cmp "$work/first.pb.gz" "$work/p.pb.gz" || complain "another profile without the sandbox"
run "$kontend" export -q --no-config --format pprof -
[ "$rc" -ne 0 ] || complain "nothing at all is a recording"
tests=$((tests + 1))
"$kontend" export -q --no-config --format pprof - <"$sample" >"$work/p.pb.gz" || complain "from standard input: exit $?"
cmp "$work/first.pb.gz" "$work/p.pb.gz" || complain "another profile from standard input to standard output"

profile --zoom comm=demo-inode
is 'comm demo-inode'
profile --weight samples
is "samples/count $("$kontend" export -q --no-config -i "$sample" --weight samples | awk '{ n += $NF } END { print n }')"
! grep -q '^lock' "$work/sums" || complain "samples have locks"
profile --lock mutex
is 'type mutex'

expect 129 'weight blame does not go with --format pprof: give wait or samples' \
	"$kontend" export -i "$sample" --format pprof --weight blame
expect 129 'mark-kernel does not go with --format pprof' "$kontend" export -i "$sample" --format pprof --mark-kernel
expect 129 'interval is for --format openmetrics' "$kontend" export --format pprof --interval 15s -o x
# shellcheck disable=SC2016 # of the other shell
expect 1 'No space left' sh -c '"$1" export -q -i "$2" --format pprof >/dev/full' sh "$kontend" "$sample"

# A truncated file is read up to its end, with a message.
head -c 200000 "$sample" >cut.data
run "$kontend" export --no-config -i cut.data --format pprof -o cut.pb.gz
[ "$rc" -ne 0 ] || "$here/pprof.py" cut.pb.gz delay/nanoseconds >"$work/sums" || complain "of what is cut off: no profile"
grep -q 'cut' "$work/err" || complain "cut off, and nothing is said: $(cat "$work/err")"
rm -f cut.data cut.pb.gz

# A terminal gets no bytes.
tests=$((tests + 1))
python3 - "$kontend" "$sample" <<-'END' || complain "a terminal is not refused"
	import os, pty, subprocess, sys
	ours, theirs = pty.openpty()
	p = subprocess.run([sys.argv[1], "export", "-i", sys.argv[2], "--format", "pprof"], stdin=subprocess.DEVNULL,
	                   stdout=theirs, stderr=subprocess.PIPE, text=True)
	sys.exit(p.returncode != 129 or "A profile is no text for a terminal" not in p.stderr)
END
finish
