# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Root file systems of the distributions that README names, by debootstrap, for the scripts of this
# folder. They are kept in KONTEND_ROOTS (/var/cache/kontend-roots), each run has a copy.
kept=${KONTEND_ROOTS:-/var/cache/kontend-roots}

suite_of() {
	case $1 in
	debian-12) echo bookworm ;;
	debian-13) echo trixie ;;
	ubuntu-24.04) echo noble ;;
	*) echo "nothing is known of $1: debian-12, debian-13, ubuntu-24.04" >&2 && return 1 ;;
	esac
}

# make_base NAME WORK: in $kept/NAME, and what debootstrap said in WORK/NAME.log. debootstrap knows
# Ubuntu's suites by links to one script, and a new one not yet; its keys are those of the
# distribution that it runs on.
make_base() {
	local name=$1 work=$2 suite options=(--variant=minbase "--include=git,ca-certificates")
	local scripts=/usr/share/debootstrap
	[ ! -e "$kept/$name/.made" ] || return 0
	suite=$(suite_of "$name")
	rm -rf "${kept:?}/$name"
	mkdir -p "$kept"
	if [[ $name == ubuntu-* ]]; then
		options+=("--components=main,universe")
		[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
	fi
	if [ ! -e "$scripts/scripts/$suite" ]; then
		cp -r "$scripts" "$work/debootstrap"
		scripts=$work/debootstrap
		ln -s gutsy "$scripts/scripts/$suite"
	fi
	DEBOOTSTRAP_DIR=$scripts debootstrap "${options[@]}" "$suite" "$kept/$name" >"$work/$name.log" 2>&1 ||
		return 1
	: >"$kept/$name/.made"
}
