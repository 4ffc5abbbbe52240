#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How many lines of src and ui the tests run: too few is one failure.
cd "$(dirname "$0")/../.." || exit 1
status=0
./bootstrap coverage || status=1
echo "$((1 - status)) passed, $status failed, 0 skipped"
exit $status
