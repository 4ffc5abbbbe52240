#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Comments, messages, documents and subjects of commits are in plain English: words.py lists the
# words and forms that may not come back, words.allowed the files that still have some.
# Called as: words.sh [TREE], or words.sh --all [FILE...], or words.sh --update.
here=$(cd "$(dirname "$0")" && pwd)
case ${1-} in
--*)
	flag=$1
	shift
	exec python3 "$here/words.py" "$flag" "$here/../.." "$@"
	;;
esac
exec python3 "$here/words.py" "${1:-$here/../..}"
