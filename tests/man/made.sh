#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages that are made of the program's tables are as clean as the others. Called as: made.sh PAGE...
set -eu
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/man"
cp "$@" "$tree/man"
status=0
sh "$(dirname "$0")/../lint/man.sh" "$tree" || status=$?
exit $status
