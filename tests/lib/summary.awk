# SPDX-License-Identifier: GPL-2.0-only
# Reads meson-logs/testlog.json (one JSON object a line) and prints each failed test, each skipped
# test with the last line it printed (its reason), and "N passed, N failed, N skipped".
# Quotes inside a JSON string are escaped, so the searched keys cannot come from test output.

function value(key,    s, start) {
	start = index($0, "\"" key "\": \"")
	if (!start)
		return ""
	s = substr($0, start + length(key) + 5)
	return match(s, /^([^"\\]|\\.)*/) ? substr(s, 1, RLENGTH) : ""
}

# The last line of a JSON string that is not empty, its escapes undone as far as text has them.
function last_line(s,    n, lines) {
	gsub(/\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]/, "?", s)
	gsub(/\\t/, " ", s)
	n = split(s, lines, /\\n/)
	while (n > 0 && lines[n] ~ /^ *$/)
		n--
	s = n > 0 ? lines[n] : ""
	gsub(/\\"/, "\"", s)
	gsub(/\\\\/, "\\", s)
	return s
}

{
	result = value("result")
	if (result == "OK" || result == "EXPECTEDFAIL") {
		passed++
	} else if (result == "SKIP") {
		skipped++
		reason = last_line(value("stderr"))
		if (reason == "")
			reason = last_line(value("stdout"))
		print "skipped: " value("name") ": " (reason == "" ? "no reason printed" : reason)
	} else {
		failed++
		print "failed: " value("name") " (" (result == "" ? "no result" : result) ")"
	}
}

END {
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
