#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend record --metrics`: what is refused in which words, and scrapes while it measures, beside clients that
# do not read. Called as: metrics.sh KONTEND
# shellcheck disable=SC2317 # functions that comes calls
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 129 "give a port from 0 to 65535" "$kontend" record --metrics nowhere
expect 129 "give a port from 0 to 65535" "$kontend" record --metrics 127.0.0.1
expect 129 "give a port from 0 to 65535" "$kontend" record --metrics localhost:80
expect 129 "leave out --output" "$kontend" record --metrics 0 -o file
expect 129 "leave out --max-size" "$kontend" record --metrics 0 --max-size 10M
need_root
run "$kontend" record -q --metrics 0 --duration 10ms
! grep -q 'libmicrohttpd' "$work/err" || {
	echo "skipped: $(cat "$work/err")"
	exit 77
}
command -v python3 >/dev/null || {
	echo "skipped: no python3 to ask with"
	exit 77
}

# ask METHOD: head and body of the answer.
ask() {
	python3 - "$url" "$1" <<-'END'
		import sys, urllib.request
		with urllib.request.urlopen(urllib.request.Request(sys.argv[1], method=sys.argv[2]), timeout=60) as r:
		    print(r.status, r.headers["Content-Type"])
		    sys.stdout.write(r.read().decode())
	END
}

value() {
	sed -n "s/^$1 //p" "$work/answer"
}

# silent N: so many connections that ask and do not read, until it is ended.
silent() {
	exec python3 -c '
import socket, sys, time
at = (sys.argv[1].split("/")[2].split(":")[0], int(sys.argv[1].split("/")[2].split(":")[1]))
s = [socket.create_connection(at) for _ in range(int(sys.argv[2]))]
for c in s:
    c.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
print("asked", flush=True)
time.sleep(3600)' "$url" "$1"
}

is_served() {
	url=$(sed -n 's/.*metrics are at //p' "$work/said")
	[ -n "$url" ]
}

is_asked() {
	grep -q asked "$work/silent"
}

# It has gone on measuring since the last answer.
has_more() {
	ask GET >"$work/answer" && [ "$(value kontend_events_total)" -gt "$events" ]
}

"$kontend" record --metrics 0 --demo 2>"$work/said" >"$work/out" </dev/null &
pid=$!
comes is_served
events=0
for n in 0 8 0; do
	client=
	if [ $n -gt 0 ]; then
		silent $n >"$work/silent" &
		client=$!
		comes is_asked
	fi
	comes has_more || break
	[ "$(head -n 1 "$work/answer")" = "200 application/openmetrics-text; version=1.0.0; charset=utf-8" ] ||
		complain "the answer begins with $(head -n 1 "$work/answer")"
	[ "$(tail -n 1 "$work/answer")" = '# EOF' ] || complain "no EOF: $(tail -n 1 "$work/answer")"
	events=$(value kontend_events_total)
	[ -z "$client" ] || kill "$client"
	tests=$((tests + 1))
done
[ "$(ask HEAD | wc -l)" -eq 1 ] || complain "HEAD has a body"

# Profiles, by the same port: one, and what is refused.
profile() {
	python3 - "${url%metrics}debug/pprof/$1" "$work/profile" <<-'END'
		import sys, urllib.error, urllib.request
		try:
		    with urllib.request.urlopen(sys.argv[1], timeout=60) as r, open(sys.argv[2], "wb") as f:
		        print(r.status)
		        f.write(r.read())
		except urllib.error.HTTPError as e:
		    print(e.code, e.read().decode().strip())
	END
}
case $(profile 'mutex?seconds=600') in
400*'1 to 300 whole seconds'*) ;;
*) complain "ten minutes: $(profile 'mutex?seconds=600')" ;;
esac
case $(profile 'mutex?seconds=1') in
200) "$here/pprof.py" "$work/profile" contentions/count delay/nanoseconds >"$work/sums" || complain "no profile" ;;
501*) ;;
*) complain "no profile: $(profile 'mutex?seconds=1')" ;;
esac
tests=$((tests + 2))

# The process that answers may do nothing else.
bare=0
for task in "/proc/$pid/task"/*; do
	[ "${task##*/}" != $pid ] || continue
	[ "$(sed -n 's/^CapEff:[[:space:]]*//p' "$task/status")" != 0000000000000000 ] || bare=$((bare + 1))
done
[ $bare -gt 0 ] || complain "no thread has given up all capabilities"

port=${url#http://127.0.0.1:}
run "$kontend" record --metrics "${port%/metrics}"
[ "$rc" -eq 1 ] || complain "a port that is taken: exit $rc"
grep -q '^kontend: Cannot serve metrics at 127.0.0.1:[0-9]*: another process listens there' "$work/err" ||
	complain "a port that is taken: $(cat "$work/err")"

kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc -eq 0 ] || complain "exit $rc after SIGTERM: $(cat "$work/said")"
[ "$(wc -l <"$work/said")" -eq 1 ] || complain "said: $(cat "$work/said")"
nothing_left metrics

# With a command, and with an end.
run "$kontend" record -q --metrics 0 -- sh -c 'exit 7'
[ "$rc" -eq 7 ] || complain "a command's exit status: $rc"
at=127.0.0.1:0
! grep -qs ' lo$' /proc/net/if_inet6 || at='[::1]:0'
run "$kontend" record -q --metrics "$at" --duration 1
[ "$rc" -eq 0 ] || complain "--duration: exit $rc: $(cat "$work/err")"
finish
