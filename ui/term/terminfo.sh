#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# terminfo.sh NAME[=OTHER]...: rows of a C table, a terminal each, with its compiled description as text.
# That of OTHER, under its own name, is for a terminal that understands it, where this machine knows nothing
# of NAME. A terminal of which it knows neither is left out, unless it is one of those that no machine is without.
set -eu
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT

# Curses takes a description for what it says it is.
rename() {
	infocmp -x "$2" 2>/dev/null | sed "/^[^#	 ]/s/^[^|,]*/$1/" >"$own/source"
	[ -s "$own/source" ] && tic -x -o "$own" "$own/source"
}

for name in "$@"; do
	other=${name#*=}
	name=${name%%=*}
	text=$(infocmp -0 -q -x -Q2 "$name" 2>/dev/null) ||
		text=$(rename "$name" "$other" && infocmp -A "$own" -0 -q -x -Q2 "$name") || text=
	case $text,$name in
	b64:*) printf '{"%s", "%s"},\n' "$name" "$(printf %s "$text" | tr -d '\n')" ;;
	*,linux | *,screen | *,tmux-256color | *,vt100 | *,xterm | *,xterm-256color)
		echo "infocmp knows nothing of $name: is ncurses-base installed?" >&2
		exit 1
		;;
	*) echo "no description of $name: ncurses-term has more" >&2 ;;
	esac
done
