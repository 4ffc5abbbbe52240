# SPDX-License-Identifier: GPL-2.0-only
# Reads meson-logs/testlog.json (one JSON object a line) and prints each failed test with the end of
# what it printed, each skipped test with the last line it printed (its reason), and "N passed, N failed, N skipped". Exit status 1
# if any failed. Of several logs the last word on a test counts, but
# that no skip undoes a failure.
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

# The last lines of a JSON string, one below the other, marked as a test's own words.
function last_lines(s,    i, n, lines, text) {
	n = split(s, lines, /\\n/)
	for (i = n > 25 ? n - 24 : 1; i <= n; i++)
		if (lines[i] !~ /^ *$/)
			text = text "  | " last_line(lines[i]) "\n"
	return text
}

# A test that speaks TAP is as many tests as it has results. Its text is a JSON string.
function count_parts(name, s,    n, i, lines) {
	n = split(s, lines, /\\n/)
	parts_passed[name] = parts_skipped[name] = parts_failed[name] = 0
	parts_told[name] = ""
	for (i = 1; i <= n; i++) {
		if (lines[i] ~ /^not ok [0-9]+ - /) {
			parts_failed[name]++
			parts_told[name] = parts_told[name] "failed: " name ": " part_name(lines[i]) "\n"
		} else if (lines[i] ~ /^ok [0-9]+ - .* # SKIP /) {
			parts_skipped[name]++
			sub(/ # SKIP /, ": ", lines[i])
			parts_told[name] = parts_told[name] "skipped: " name ": " part_name(lines[i]) "\n"
		} else if (lines[i] ~ /^ok [0-9]+ - /)
			parts_passed[name]++
	}
}

function part_name(line) {
	sub(/^(not )?ok [0-9]+ - /, "", line)
	return last_line(line)
}

function failed_result(result) {
	return result != "OK" && result != "EXPECTEDFAIL" && result != "SKIP"
}

{
	name = value("name")
	result = value("result")
	if (!(name in results))
		order[++tests] = name
	else if (failed_result(results[name]) && result == "SKIP")
		next
	else if (failed_result(results[name]) && !failed_result(result))
		print "passed the second time only: " name
	results[name] = result
	ends[name] = failed_result(result) ? last_lines(value("stdout")) last_lines(value("stderr")) : ""
	if (name ~ /^[^ ]*:vm \/ /)
		count_parts(name, value("stdout"))
	if (result == "SKIP") {
		reason = last_line(value("stderr"))
		if (reason == "")
			reason = last_line(value("stdout"))
		reasons[name] = reason == "" ? "no reason printed" : reason
	}
}

END {
	for (i = 1; i <= tests; i++) {
		name = order[i]
		if (results[name] == "SKIP") {
			skipped++
			print "skipped: " name ": " reasons[name]
		} else if (parts_passed[name] + parts_skipped[name] + parts_failed[name]) {
			passed += parts_passed[name]
			skipped += parts_skipped[name]
			failed += parts_failed[name]
			printf "%s", parts_told[name]
			if (failed_result(results[name]) && !parts_failed[name]) {
				failed++
				print "failed: " name " (" results[name] ")"
			}
			printf "%s", ends[name]
		} else if (failed_result(results[name])) {
			failed++
			printf "failed: %s (%s)\n%s", name, results[name] == "" ? "no result" : results[name], ends[name]
		} else {
			passed++
		}
	}
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
}
