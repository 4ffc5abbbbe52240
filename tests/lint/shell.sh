#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The shell scripts pass shellcheck.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

command -v shellcheck >/dev/null || skip "shellcheck is not installed"
files_below bootstrap .ci src ui tests -- -name '*.sh' -o -name bootstrap -o -name run -o -name nightly |
	xargs -r shellcheck -x >"$findings" 2>&1 || true
verdict
