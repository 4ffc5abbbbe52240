#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Called as: wording.sh KONTEND MAN-FOLDER
set -eu
# Verbs with options of their own; the others have nothing but --help.
verbs=$("$1" dump options | cut -f 1 | uniq -c | awk '$1 > 1 { print $2 }')
# shellcheck disable=SC2086 # one verb a word
"$(dirname "$0")/wording.py" "$2" $verbs
