# SPDX-License-Identifier: GPL-2.0-only
# Prints "FILE:LINE:CODE" for each line of C, with comments removed and string contents emptied,
# so that the lint scripts search code and nothing else. With -v comments=1 it prints the comments
# instead, of lines that have one.

FNR == 1 {
	in_comment = 0
}

{
	rest = $0
	code = ""
	comment = ""
	while (rest != "") {
		if (in_comment) {
			end = index(rest, "*/")
			comment = comment " " (end ? substr(rest, 1, end - 1) : rest)
			if (!end)
				break
			rest = substr(rest, end + 2)
			in_comment = 0
		} else if (match(rest, /\/\*|\/\/|"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/)) {
			token = substr(rest, RSTART, 2)
			code = code substr(rest, 1, RSTART - 1)
			rest = substr(rest, RSTART + (token == "/*" ? 2 : RLENGTH))
			if (token == "/*")
				in_comment = 1
			else if (token == "//") {
				comment = comment " " rest
				rest = ""
			}
			else
				code = code substr(token, 1, 1) substr(token, 1, 1)
		} else {
			code = code rest
			rest = ""
		}
	}
	if (!comments)
		print FILENAME ":" FNR ":" code
	else if (comment != "")
		print FILENAME ":" FNR ":" comment
}
