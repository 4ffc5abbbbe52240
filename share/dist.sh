#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Adds the files that are generated from the program's tables to a release, so that it can also be built
# for machines whose programs do not run here. Called by meson dist as: dist.sh KONTEND
set -eu
[ -x "$1" ] || { echo "build $1 first: a release has files that it makes"; exit 1; }
share=$MESON_DIST_ROOT/share
python3 "$share/json/make.py" "$1" "$share/json/members" "$share/json/kontend-json.7.in" \
	"$share/json/kontend.schema.json" "$share/json/kontend-json.7"
python3 "$share/rows/make.py" "$1" "$share/rows/kontend-rows.5.in" \
	"$share/rows/rows.schema.json" "$share/rows/kontend-rows.5"
rm -rf "$share/json/__pycache__" "$share/rows/__pycache__"
