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
skipped: c: need "root"
failed: d (TIMEOUT)
skipped: f: from \ stderr
failed: g (UNEXPECTEDPASS)
2 passed, 3 failed, 2 skipped'
got=$(log | awk -f "$top/tests/lib/summary.awk")
[ "$got" = "$expected" ] || {
	echo "got: $got"
	exit 1
}
