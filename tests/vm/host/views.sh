#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What works on the machine's kernel, by the reports from there, equals the results that are kept.
# shellcheck source=tests/vm/checks.sh
here=$(dirname "$0")/..
. "$here/checks.sh"

case_of "what works on this kernel equals the results that are kept"
gives 0 derived python3 "$here/views/derive.py" .
finish
