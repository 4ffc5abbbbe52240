#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The closing line is counted from meson's log, and no test output can be taken for a result.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

log() {
	cat <<'END'
{"name": "a", "stdout": "hi \"result\": \"FAIL\"\n", "result": "OK", "returncode": 0}
{"name": "b", "stdout": "x\n", "result": "FAIL", "returncode": 1}
{"name": "c", "stdout": "one\nneed \"root\"\n\n", "result": "SKIP", "returncode": 77}
{"name": "d", "stdout": "", "result": "TIMEOUT"}
{"name": "e", "stdout": "", "result": "EXPECTEDFAIL"}
{"name": "f", "stdout": "out\n", "result": "SKIP", "stderr": "from \\ stderr\n"}
{"name": "g", "stdout": "", "result": "UNEXPECTEDPASS"}
END
}

expected='failed: b (FAIL)
  | x
skipped: c: need "root"
failed: d (TIMEOUT)
skipped: f: from \ stderr
failed: g (UNEXPECTEDPASS)
2 passed, 3 failed, 2 skipped'
got=$(log | awk -f "$top/tests/lib/summary.awk") && {
	echo "exit status 0 though tests failed"
	exit 1
}
[ "$got" = "$expected" ] || {
	echo "got: $got"
	exit 1
}

# Parts of a test count one by one where it says TAP, and only what the suite of machines says.
parts() {
	cat <<'END'
{"name": "kontend:vm / vm-a", "stdout": "# hi\nok 1 - one\nok 2 - two: \"x\" # SKIP no PMU\nnot ok 3 - three\n1..3\n", "result": "FAIL"}
{"name": "kontend:vm / vm-b", "stdout": "ok 1 - one\nBail out! dead\n", "result": "ERROR"}
{"name": "kontend:vm / vm-c", "stdout": "1..0 # SKIP no network\n", "result": "SKIP"}
{"name": "kontend:unit / d", "stdout": "ok 1 - one\nok 2 - two\n", "result": "OK"}
END
}
expected='skipped: kontend:vm / vm-a: two: "x": no PMU
failed: kontend:vm / vm-a: three
  | # hi
  | ok 1 - one
  | ok 2 - two: "x" # SKIP no PMU
  | not ok 3 - three
  | 1..3
failed: kontend:vm / vm-b (ERROR)
  | ok 1 - one
  | Bail out! dead
skipped: kontend:vm / vm-c: 1..0 # SKIP no network
3 passed, 2 failed, 2 skipped'
got=$(parts | awk -f "$top/tests/lib/summary.awk") || true
[ "$got" = "$expected" ] || {
	echo "parts: $got"
	exit 1
}

# Tests that watch the running kernel are repeated, and those that timed out; the second word counts.
first() {
	cat <<'END'
{"name": "kontend:live / live-one", "stdout": "", "result": "FAIL"}
{"name": "kontend:unit / live-two", "stdout": "kontend:live / x", "result": "FAIL"}
{"name": "kontend:unit / slow", "stdout": "", "result": "TIMEOUT"}
{"name": "kontend:cli / cli-one", "stdout": "", "result": "OK"}
{"name": "kontend:vm / vm-one", "stdout": "", "result": "ERROR"}
{"name": "kontend:cli / cli-none", "stdout": "no\n", "result": "SKIP"}
END
}
second() {
	cat <<'END'
{"name": "kontend:live / live-one", "stdout": "", "result": "OK"}
{"name": "kontend:unit / slow", "stdout": "", "result": "TIMEOUT"}
{"name": "kontend:vm / vm-one", "stdout": "no kernel\n", "result": "SKIP"}
END
}
expected='live-one slow vm-one'
got=$(first | awk -f "$top/tests/lib/again.awk")
[ "$got" = "$expected" ] || {
	echo "again: $got"
	exit 1
}
expected='passed the second time only: kontend:live / live-one
failed: kontend:unit / live-two (FAIL)
  | kontend:live / x
failed: kontend:unit / slow (TIMEOUT)
failed: kontend:vm / vm-one (ERROR)
skipped: kontend:cli / cli-none: no
2 passed, 3 failed, 1 skipped'
got=$({ first; second; } | awk -f "$top/tests/lib/summary.awk") || true
[ "$got" = "$expected" ] || {
	echo "got: $got"
	exit 1
}
