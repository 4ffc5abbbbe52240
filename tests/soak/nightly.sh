#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend live` for KONTEND_SOAK_SECONDS (1800) beside KONTEND_SOAK_PROCESSES (60) short processes a
# second (soak.c).
set -u
cd "$(dirname "$0")/../.." || exit 1
[ -f build/build.ninja ] || meson setup build >/dev/null || exit 1
ninja --quiet -C build kontend tests/soak/soak tests/soak/mortals || exit 1
build/tests/soak/soak build/kontend build/tests/soak/mortals "${KONTEND_SOAK_SECONDS:-1800}" \
	"${KONTEND_SOAK_PROCESSES:-60}"
case $? in
0) echo "1 passed, 0 failed, 0 skipped" ;;
77) echo "0 passed, 0 failed, 1 skipped" ;;
*) echo "0 passed, 1 failed, 0 skipped" && exit 1 ;;
esac
