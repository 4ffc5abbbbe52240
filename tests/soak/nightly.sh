#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend live` and `kontend record` for KONTEND_SOAK_SECONDS (1800) beside servers, locks of files and
# KONTEND_SOAK_PROCESSES (60) short processes a second (soak.py).
set -u
cd "$(dirname "$0")/../.." || exit 1
[ -f build/build.ninja ] || meson setup build >/dev/null || exit 1
ninja --quiet -C build kontend tests/soak/mortals tests/soak/flocks || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 tests/soak/soak.py build/kontend build/tests/soak/mortals build/tests/soak/flocks \
	"${KONTEND_SOAK_SECONDS:-1800}" "${KONTEND_SOAK_PROCESSES:-60}"
case $? in
0) echo "1 passed, 0 failed, 0 skipped" ;;
77) echo "0 passed, 0 failed, 1 skipped" ;;
*) echo "0 passed, 1 failed, 0 skipped" && exit 1 ;;
esac
