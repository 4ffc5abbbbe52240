#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A collector of OpenTelemetry, built from its modules by the go command, receives profiles of the recording that comes
# with kontend and of what is measured, and prints them: they add up to the report. Ends with
# "N passed, N failed, N skipped". Called as: nightly.sh [BUILD-FOLDER]
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
build=${1:-build}
PATH=$PATH:/usr/local/go/bin
work=$(mktemp -d)
collector=
trap 'stop; rm -rf "$work"' EXIT
passed=0 failed=0

stop() {
	[ -z "$collector" ] || kill "$collector" 2>/dev/null
	[ -z "$collector" ] || wait "$collector" 2>/dev/null
	collector=
}

skip() {
	echo "skipped: $*"
	echo "0 passed, 0 failed, 1 skipped"
	exit
}

# is WHAT HAVE WANTED
is() {
	if [ "$2" = "$3" ]; then
		echo "$1: $2"
		passed=$((passed + 1))
	else
		echo "FAIL $1: $2, not $3"
		failed=$((failed + 1))
	fi
}

command -v go >/dev/null || skip "there is no go"
said=$(go -C "$here/collector" mod download 2>&1) || skip "the collector's modules cannot be had: $said"
go -C "$here/collector" build -o "$work/collector" . || exit 1
[ -e "$build/build.ninja" ] || meson setup "$build" >/dev/null || exit 1
ninja --quiet -C "$build" kontend || exit 1
kontend=$build/kontend

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$work/config.yaml" <<-END
	receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$port"}}}}
	exporters: {debug: {verbosity: detailed}}
	service:
	  telemetry: {metrics: {level: none}}
	  pipelines: {profiles: {receivers: [otlp], exporters: [debug]}}
END

# received ARGUMENT...: what a collector that is new prints of what it is sent.
received() {
	"$work/collector" --config "$work/config.yaml" --feature-gates=service.profilesSupport 2>"$work/log" &
	collector=$!
	for _ in $(seq 600); do
		! grep -q 'Everything is ready' "$work/log" || break
		sleep 0.1
	done
	"$kontend" export -q --no-config --format otlp-development \
		-o "http://127.0.0.1:$port/v1development/profiles" "$@"
	is "kontend export $*: exit" $? 0
	stop
}

# sum N: of the values of profile N.
sum() {
	awk -v n="Profile #$1" '/^Profile #/ { on = $0 == n }
		on && /^ +Values: / { gsub(/[^0-9]/, ""); sum += $0 } END { printf "%.0f\n", sum }' "$work/log"
}

# of MEMBER: of the report's overview.
of() {
	"$kontend" report -q --no-config -j --view overview -i share/storm.data |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["views"]["overview"][sys.argv[1]])' "$1"
}

received -i share/storm.data
grep -o '"resource profiles".*' "$work/log"
is 'profiles received' "$(grep -c '^Profile #' "$work/log")" 2
is 'delay in ns' "$(sum 0)" "$(of total_ns)"
is 'contentions' "$(sum 1)" "$(of contended)"
is 'resource' "$(grep -c -e '-> service.name: Str(kontend)' "$work/log")" 1
is 'samples with the type of their lock' "$(grep -c -e '-> kontend.lock.type: Str(' "$work/log")" \
	"$(grep -c 'Values: ' "$work/log")"

# OpenTelemetry's profcheck, which no registry of modules has: only where it is installed.
if command -v profcheck >/dev/null; then
	"$kontend" export -q --no-config --format otlp-development -i share/storm.data -o "$work/otlp"
	said=$(profcheck -check-dupes "$work/otlp")
	is 'profcheck: exit' $? 0
	echo "$said"
else
	echo "profcheck is not installed: not run"
fi

if [ "$(id -u)" -eq 0 ]; then
	received --weight wait --lock mutex --zoom comm=bench-mutex -- "$kontend" bench mutex -q -n 20 -t 4
	is 'contentions of a storm of 80' "$(sum 1)" 80
fi
# One that takes the connection and says nothing: a sentence after half a minute.
mkfifo "$work/end"
python3 -c '
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
sys.stdin.read()' <"$work/end" >"$work/port" &
exec 3>"$work/end"
while [ ! -s "$work/port" ]; do sleep 0.1; done
timeout 120 "$kontend" export -q --no-config --format otlp-development -i share/storm.data \
	-o "http://127.0.0.1:$(cat "$work/port")/v1development/profiles" 2>"$work/silent"
is 'a collector that says nothing: exit' $? 1
is 'sentences about it' "$(grep -c "Cannot send to 'http://127.0.0.1:" "$work/silent")" 1
cat "$work/silent"
exec 3>&-
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
