#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages are mdoc without a warning, and print the text that their source has: mandoc does
# not warn of a word that it takes for a macro, of a pair of quotes around nothing, or of quotes that
# go on over a whole list, since Ql, Dq and Sq hold all that follows them on their line.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

command -v mandoc >/dev/null || skip "mandoc is not installed"
pages=$(files_below man -- -name '*.[157]')
[ -n "$pages" ] || skip "there are no manual pages"
# shellcheck disable=SC2086 # one page a word
mandoc -T lint -W style $pages 2>/dev/null |
	# A page may refer to one that is not installed here; names of sections are ours. Long lines are
	# broken by tests/man/wrap.py.
	grep -v -e ': referenced manual not found' -e ': possible typo in section name' \
		-e ': trailing delimiter: Ss \[' >"$findings" || true
# shellcheck disable=SC2086
awk '
	!/^\./ { next }
	{
		quote = ""
		for (i = 1; i <= NF; i++) {
			word = i == 1 ? substr($i, 2) : $i
			if (word ~ /^(Ql|Dq|Sq)$/) {
				if (quote != "")
					print FILENAME ":" FNR ": " word " within the quotes of " quote
				quote = word
				first = i + 1
			} else if (quote == "") {
				continue
			} else if (word ~ /^(No|Ns|Pf|Ap|Nm|At|Bx|Ux|Em|Do|Dc|So|Sc|Ad|Ms|Mt|Tn|An|In|Ft|Fa|Fn|Er|Dv)$/ &&
				   (i == first || word != "Ns")) {
				print FILENAME ":" FNR ": mandoc takes " word " for a macro: \\&" word
			} else if (word ~ /^[.,:;!?]$/) {
				if (i == first)
					print FILENAME ":" FNR ": quotes around nothing: \\&" word
				else if (i < NF && $(i + 1) !~ /^[.,:;)]$/)
					print FILENAME ":" FNR ": one pair of quotes around a list"
			}
		}
	}' $pages >>"$findings"
verdict
