#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages are mdoc without a warning.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

command -v mandoc >/dev/null || skip "mandoc is not installed"
pages=$(files_below man -- -name '*.[157]')
[ -n "$pages" ] || skip "there are no manual pages"
# shellcheck disable=SC2086 # one page a word
mandoc -T lint -W warning $pages >"$findings" 2>&1 || true
verdict
