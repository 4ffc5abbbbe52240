#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The archive of the sources and the Debian packages, as who has neither git nor this folder makes them: an
# archive by `meson dist`, the unit tests of what is in it (dpkg-buildpackage runs them), the packages
# from it, lintian, and debian/tests in a root file system of the distribution's with these packages installed.
# Then the upgrade from 1.0.0, whose packages are built from the history of git, and removal and purge
# after it; where a clone lacks that history, it prints that and tries none.
#
# Called as: package.sh [--no-root] [FOLDER]: packages are left in FOLDER. Without root, or with
# --no-root, debian/tests are left out.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/install/base.sh
. "$(dirname "$0")/base.sh"
passed=0
failed=0
skipped=0
root_tests=yes
[ "${1:-}" != --no-root ] || { root_tests=no && shift; }
[ "$(id -u)" -eq 0 ] || root_tests=no
for program in dpkg-buildpackage dh lintian meson mandoc; do
	command -v "$program" >/dev/null || { echo "$program is not installed" && exit 77; }
done

work=$(mktemp -d /var/tmp/kontend-package.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT

# check TITLE COMMAND...
check() {
	local title=$1 begin=$SECONDS
	shift
	if "$@" >"$work/said" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "$title: $((SECONDS - begin)) s"
		return 0
	fi
	failed=$((failed + 1))
	echo "failed: $title"
	tail -n 60 "$work/said" | sed 's/^/    /'
	return 1
}

# The files in git, and those that the program makes of its tables. The name has the version in debian/changelog;
# unpacked beside it.
make_archive() {
	local found
	meson setup -Dtests=false "$work/dist" "$top" || return 1
	ninja -C "$work/dist" kontend || return 1
	meson dist -C "$work/dist" --no-tests --allow-dirty --formats xztar || return 1
	found=$(echo "$work"/dist/meson-dist/kontend-*.tar.xz)
	version=$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)
	version=${version%-*}
	mkdir -p "$work/build/source"
	tar -C "$work/build/source" --strip-components=1 -xf "$found" || return 1
	tar -C "$work/build/source" --exclude=./debian --transform "s,^\.,kontend-$version," -cJf \
		"$work/build/kontend_$version.orig.tar.xz" .
}

make_packages() {
	cd "$work/build/source" && dpkg-buildpackage -us -uc
}

has_no_errors() {
	lintian --fail-on error --profile debian --info "$work"/build/kontend_*.changes
}

shows() {
	for name in "$@"; do
		grep -q -e "$name" "$work/files" || { echo "no $name" && return 1; }
	done
}

holds_all() {
	for package in "$work"/build/kontend_*.deb "$work"/build/kontend-doc_*.deb; do
		dpkg-deb -c "$package"
	done >"$work/files"
	shows /usr/bin/kontend$ bash-completion/completions/kontend$ zsh/vendor-completions/_kontend$ \
		fish/vendor_completions.d/kontend.fish$ man1/kontend.1.gz$ man7/kontend-intro.7.gz$ \
		lib/systemd/system/kontend-record.service$ /etc/kontend/kontend-record.conf$ \
		/usr/share/kontend/storm.data$ doc/kontend/html/kontend.1.html$
	dpkg-deb -f "$work"/build/kontend_*.deb Static-Built-Using | grep -q '^linux (= '
}

# in_root SCRIPT: in a root file system of what is running here, which the packages were built for.
in_root() {
	local root=$work/root name=debian-12
	make_base $name "$work" || return 77
	rm -rf --one-file-system "$root"
	cp -a "$kept/$name" "$root"
	mkdir "$root/packages"
	cp -r "$work"/build/*.deb "$top/debian/tests" "$root/packages"
	dpkg-parsechangelog -l "$top/debian/changelog" -S Version >"$root/version"
	[ ! -d "$work/earlier" ] || { mkdir "$root/earlier" && cp "$work"/earlier/*.deb "$root/earlier"; }
	# shellcheck disable=SC2016 # of the shell inside
	unshare --mount --propagation private sh -euc '
		root=$1
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive sh -euc "$2"' sh "$root" "$1"
}

run_package_tests() {
	in_root '
		apt-get update -q
		apt-get install -y -q /packages/*.deb
		cd /packages
		sh tests/recording
		sh tests/main-job
		apt-get purge -y -q kontend kontend-doc
		test ! -e /usr/bin/kontend
		test ! -e /etc/kontend'
}

# The last commit of 1.0.0: before the one that began the section of 2.0.0. Nothing: this clone has
# not that history.
commit_of_earlier() {
	local begun
	begun=$(git -C "$top" log --format=%H -S'## 2.0.0' -- CHANGELOG.md 2>/dev/null | tail -n 1)
	[ -z "$begun" ] || git -C "$top" rev-parse -q --verify "$begun^"
}

# Its packages, without its tests: they were run when it was new.
make_earlier() {
	mkdir -p "$work/earlier/source"
	git -C "$top" archive "$1" | tar -C "$work/earlier/source" -x || return 1
	cd "$work/earlier/source" && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc -b
}

# As README says. apt takes the new packages for newer ones, lines of the user in the settings stay, and a purge leaves
# nothing. The sample has the same locks before and after, but for their names, and for the sums of locks that tasks still
# wait for: these waits count since 2.0.
run_upgrade() {
	# shellcheck disable=SC2016 # of the shell inside
	in_root '
		table() {
			kontend report -q -i /usr/share/kontend/storm.data --view locks --format csv -n 0 \
				--fields lock,type,waiting,contended,total_ns,max_ns |
				awk -F, -v OFS=, "\$3 > 0 { \$5 = \$6 = \"\" } { print }" | sort
		}
		conf=/etc/kontend/kontend-record.conf
		apt-get update -q
		apt-get install -y -q /earlier/*.deb
		test "$(dpkg-query -W -f "\${Version}" kontend)" = 1.0.0-1
		grep -v "^#" $conf >/settings
		echo "# ours" >>$conf
		table >/before
		apt-get install -y -q -o Dpkg::Options::=--force-confold /packages/*.deb
		for package in kontend kontend-doc; do
			test "$(dpkg-query -W -f "\${Version}" $package)" = "$(cat /version)"
		done
		zcat /usr/share/doc/kontend/changelog.gz | grep "^## 2"
		table >/after
		test -s /before
		diff /before /after
		test "$(tail -n 1 $conf)" = "# ours"
		kontend report --config $conf -i /usr/share/kontend/storm.data >/report
		cd /packages
		sh tests/recording
		apt-get remove -y -q kontend kontend-doc
		test ! -e /usr/bin/kontend
		grep -v "^#" $conf | cmp - /settings
		apt-get purge -y -q kontend kontend-doc
		test ! -e /etc/kontend
		test -z "$(find / -xdev -path /proc -prune -o -path /packages -prune -o -path /earlier -prune -o \
			-name "*kontend*" -print)"'
}

is_like_here() {
	grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release
}

if check "archive" make_archive && check "packages" make_packages; then
	grep -E '^(Ok|Fail|Skipped):' "$work/said" || true
	check "lintian" has_no_errors || true
	sed -n 's/^[EW]: /    &/p' "$work/said"
	check "what is in them" holds_all || true
	if [ "$root_tests" = yes ] && is_like_here; then
		check "debian/tests" run_package_tests || true
		earlier=$(commit_of_earlier)
		if [ -z "$earlier" ]; then
			echo "upgrade from 1.0.0: not tried: this clone has no history of it"
			skipped=$((skipped + 1))
		elif check "packages of 1.0.0, ${earlier:0:8}" make_earlier "$earlier"; then
			check "upgrade, removal, purge" run_upgrade || true
		fi
	else
		skipped=$((skipped + 1))
	fi
	[ $# -eq 0 ] || { mkdir -p "$1" && cp "$work"/build/kontend* "$1"; }
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
