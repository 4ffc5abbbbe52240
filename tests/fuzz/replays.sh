#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Damaged recordings on a terminal. Called as: replays.sh MUTANT MUTANT-PTY KONTEND RUNS SEED FILE...
set -eu
mutant=$1 pty=$2 kontend=$3 runs=$4 seed=$5
shift 5
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$mutant" --runs "$runs" --seed "$seed" --write "$dir" "$@" >/dev/null
# One that fails is kept beside the corpora, to be looked at.
for file in "$dir"/*; do
	"$pty" "$kontend" "$file" >"$dir.out" 2>&1 && continue
	cp "$file" "failing-replay.data"
	cat "$dir.out"
	rm -f "$dir.out"
	exit 1
done
rm -f "$dir.out"
echo "$runs recordings replayed"
