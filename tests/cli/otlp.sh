#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend export --format otlp-development` of the recording that comes with kontend, read by its wire format: it adds
# up to the report, as a file and as received by a test collector, which answers well and badly. A real collector
# is used in tests/otlp. Called as: otlp.sh KONTEND RECORDING
sample=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run "$kontend" export -q "$sample" --format otlp-development
! grep -q 'built without libprotobuf-c' "$work/err" || {
	echo "skipped: $(cat "$work/err")"
	exit 77
}
command -v python3 >/dev/null || {
	echo "skipped: no python3 to read profiles with"
	exit 77
}

# profile ARGUMENT...: into $work/p.pb; its figures in $work/sums.
profile() {
	run "$kontend" export -q --no-config -i "$sample" --format otlp-development -o "$work/p.pb" "$@"
	if [ "$rc" -ne 0 ] || [ -s "$work/err" ]; then
		complain "$*: exit $rc: $(cat "$work/err")"
	fi
	"$here/otlp.py" "$work/p.pb" >"$work/sums" 2>"$work/wrong" || complain "$*: $(cat "$work/wrong")"
}

# is LINE: its figures have that line, with blanks for tabs.
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
is 'kontend.memcg /app.slice'
is 'kontend.lock.mode R W'
is 'kontend.lock.type mutex rwsem spinlock'
is 'resource service.name kontend'
is 'resource os.type linux'
[ "$(head -n 1 "$work/sums" | cut -f 1)" = delay/nanoseconds ] || complain "the first profile is not that of time"
mv "$work/p.pb" "$work/first.pb"
profile --no-sandbox
cmp "$work/first.pb" "$work/p.pb" || complain "another profile without the sandbox"
profile --lock mutex
is 'kontend.lock.type mutex'
profile --weight samples
is "samples/count $("$kontend" export -q --no-config -i "$sample" --weight samples | awk '{ n += $NF } END { print n }')"
! grep -q '^kontend.lock' "$work/sums" || complain "samples have locks"

expect 129 'weight blame does not go with --format otlp-development: give wait or samples' \
	"$kontend" export -i "$sample" --format otlp-development --weight blame
# shellcheck disable=SC2016 # of the other shell
expect 1 'No space left' sh -c '"$1" export -q -i "$2" --format otlp-development >/dev/full' sh "$kontend" "$sample"

run "$kontend" export -q -i "$sample" --format otlp-development -o http://127.0.0.1:1/
if grep -q 'built without libcurl\|install libcurl4' "$work/err"; then
	echo "not sent: $(cat "$work/err")"
	finish
fi
if [ "$rc" -ne 1 ] || ! grep -q "Cannot send to 'http://127.0.0.1:1/'" "$work/err"; then
	complain "nobody is there: exit $rc: $(cat "$work/err")"
fi

mkfifo "$work/end"
"$here/otlp.py" --serve "$work" <"$work/end" >"$work/port" &
server=$!
exec 3>"$work/end"
comes test -s "$work/port"
at=http://127.0.0.1:$(cat "$work/port")

# sends STATUS WORDS PATH ARGUMENT...
sends() {
	want=$1 words=$2 path=$3
	shift 3
	rm -f "$work/received"
	expect "$want" "$words" "$kontend" export -q --no-config -i "$sample" --format otlp-development -o "$at/$path" "$@"
}

for more in '' --no-sandbox; do
	# shellcheck disable=SC2086 # nothing, or a word
	sends 0 '' taken $more
	cmp "$work/first.pb" "$work/received" || complain "$more: a collector got another profile"
	# What a collector answers is read by a process without rights, within the sandbox and without.
	for right in 'CapEff:	0000000000000000' 'CapPrm:	0000000000000000' 'NoNewPrivs:	1'; do
		grep -qxF "$right" "$work/sender" ||
			complain "$more: who sends has rights, not '$right': $(head -n 3 "$work/sender")"
	done
	[ "$(id -u)" -ne 0 ] || grep -q '^Uid:	65534	65534	65534' "$work/sender" ||
		complain "$more: root sends: $(grep Uid "$work/sender")"
done
sends 1 "did not take 3 of the profiles: three have no" partly
sends 0 '' warned
expect 0 "took the profile, and says: be quick" \
	"$kontend" export --no-config -i "$sample" --format otlp-development -o "$at/warned"
for path in odd proxy talkative; do
	sends 1 'without a valid OTLP response: it may or may not' $path
done
sends 1 "did not take the profile: it answers 503: come back" busy
sends 1 "it answers 400: xxx" long
sends 1 "it answers 302" moved
sends 1 "Cannot send to '$at/cut'" cut
[ ! -e "$work/received" ] || complain "what was cut off was received"
# A file that is called so is none.
expect 1 "Cannot write to the file '$at/x'" "$kontend" export -q -i "$sample" --format folded -o "$at/x"
exec 3>&-
wait "$server" || complain "the server: exit $?"
finish
