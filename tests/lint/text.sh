#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every file of ours names its licence in its first two lines (man pages: three), and none has a
# note of unfinished work in a comment.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

ours() {
	files_below src ui include tests man bootstrap .ci meson.build meson_options.txt -- \
		-name '*.[ch]' -o -name '*.sh' -o -name '*.awk' -o -name 'meson*' -o -name '*.[157]' \
		-o -name bootstrap -o -name run
}

ours | xargs -r awk '
FNR == 1 {
	if (file != "" && !found)
		print file ":1: no SPDX-License-Identifier: GPL-2.0-only in the first lines"
	file = FILENAME
	found = 0
}
FNR <= 3 && /SPDX-License-Identifier: GPL-2\.0-only( \*\/)?$/ {
	found = 1
}
END {
	if (file != "" && !found)
		print file ":1: no SPDX-License-Identifier: GPL-2.0-only in the first lines"
}' >>"$findings"

marks="TO""DO|FIX""ME|XX""X|HA""CK"
ours | xargs -r grep -nE "(^|[^A-Za-z0-9_])($marks)([^A-Za-z0-9_]|$)" /dev/null |
	sed 's/$/  (finish it, or open an issue)/' >>"$findings" || true
verdict
