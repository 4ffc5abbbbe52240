#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the ordinary tests do a few times, so often that what happens once in a hundred times does: a
# recorder is killed KONTEND_KILLS (300) times at random moments.
set -u
cd "$(dirname "$0")/../.." || exit 1
[ -f build/build.ninja ] || meson setup build >/dev/null || exit 1
ninja --quiet -C build kontend tests/live/truth || exit 1
tests/live/test-record-kill.sh build/kontend build/tests/live/truth "${KONTEND_KILLS:-300}"
case $? in
0) echo "1 passed, 0 failed, 0 skipped" ;;
77) echo "0 passed, 0 failed, 1 skipped" ;;
*) echo "0 passed, 1 failed, 0 skipped" && exit 1 ;;
esac
