#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The completion files are code that their shells accept, and offer every verb and option.
# Called as: completions.sh KONTEND COMPLETION-FOLDER
set -eu
export LC_ALL=C
kontend=$1
folder=$2
status=0
checked=

check() {
	if ! command -v "$1" >/dev/null; then
		echo "$1 is not installed: its completion is not parsed"
	elif "$1" -n "$folder/$2"; then
		checked="$checked $1"
	else
		echo "$1 does not accept $2"
		status=1
	fi
}

check bash kontend
check zsh _kontend
check fish kontend.fish

# In fish options are written as "-l NAME".
"$kontend" dump options | cut -f 3 | sort -u | while read -r option; do
	grep -q -e "$option" "$folder/kontend" || echo "bash: no $option"
	grep -q -e "$option" "$folder/_kontend" || echo "zsh: no $option"
	grep -q -e "-l ${option#--}" "$folder/kontend.fish" || echo "fish: no $option"
done >"$folder/completions.missing"
if [ -s "$folder/completions.missing" ]; then
	cat "$folder/completions.missing"
	status=1
fi
rm -f "$folder/completions.missing"

# complete WORDS...: what bash offers for the last one.
complete_bash() {
	# shellcheck disable=SC2016 # expanded by the other shell
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kontend
		echo "${COMPREPLY[*]}"' bash "$folder/kontend" "$@"
}

# offers WANTED WORDS...
offers() {
	wanted=$1
	shift
	got=$(complete_bash "$@")
	[ "$got" = "$wanted" ] && return
	echo "bash offers '$got' for '$*', not '$wanted'"
	status=1
}

if command -v bash >/dev/null; then
	offers report kontend repo
	offers --duration kontend report --du
	offers --theme kontend --th
	offers 'always' kontend live --color al
	offers 'csv' kontend report --format = c
	offers 'doctor' kontend help 'do'
	offers '' kontend doctor --du
	offers /proc/version kontend replay /proc/versio
	offers '' kontend doctor /proc/versio
fi
[ -n "$checked" ] || [ $status -ne 0 ] || { echo "no shell to check with"; exit 77; }
exit $status
