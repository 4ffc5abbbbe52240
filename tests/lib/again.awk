# SPDX-License-Identifier: GPL-2.0-only
# Reads meson-logs/testlog.json and prints, on one line, the failed tests that may be tried again:
# those of the suites that watch the running kernel, and any that ran out of time.

function value(key,    s, start) {
	start = index($0, "\"" key "\": \"")
	if (!start)
		return ""
	s = substr($0, start + length(key) + 5)
	return match(s, /^([^"\\]|\\.)*/) ? substr(s, 1, RLENGTH) : ""
}

{
	name = value("name")
	result = value("result")
	if (result == "OK" || result == "EXPECTEDFAIL" || result == "SKIP" || result == "UNEXPECTEDPASS")
		next
	if (result == "TIMEOUT" || name ~ /^[^ ]*:(live|cli|pty|vm|kernels) \/ /) {
		sub(/^.* \/ /, "", name)
		printf "%s%s", (n++ ? " " : ""), name
	}
}

END {
	if (n)
		print ""
}
