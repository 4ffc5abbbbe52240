# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Of tests that look at a recording as if elsewhere, which takes root to hide what is here.
[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 77; }
for tool in unshare setpriv; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
unshare -m true 2>/dev/null || { echo "skipped: no mount namespace"; exit 77; }
