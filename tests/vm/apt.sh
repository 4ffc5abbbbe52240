# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What kernel.sh and sysroot.sh share: packages of any architecture from the package sources of this
# machine, but on lists and folders of our own. Nothing is installed, nothing of the machine's own
# apt is changed, and no root is needed.
limit=180       # seconds for the package lists, and for each download
lists_minutes=60 # as long lists are taken for new
retry_minutes=5 # after a failure, so that not every test tries anew

# apt_begin WHAT ARCH DIR: only one at a time works on DIR. Exits if it failed a moment ago.
apt_begin() {
	what=$1 arch=$2
	mkdir -p "$3"
	dir=$(cd "$3" && pwd)
	exec 9>"$dir/lock"
	flock 9
	apt=$dir/apt
	why=$dir/no-$what
	errors=$dir/$what.log
}

# Keeps the reason, for other calls in the next minutes as well.
unavailable() {
	echo "no $what for $arch: $*" | tee "$why"
	exit 77
}

# Why apt has none: lists that it could not fetch, else its last message.
apt_error() {
	{ grep -m 1 '^[EW]: Failed to fetch' "$errors" || grep '^[EW]: ' "$errors" | tail -n 1; } |
		cut -c 4-
}

# another_distribution NAME: packages of its archive from here on, on lists of their own. With
# -backports after its name those packages are preferred. Fails for an unknown distribution.
# Ubuntu's keys are not on each machine that has apt.
another_distribution() {
	keys=/usr/share/keyrings
	debian="deb [signed-by=$keys/debian-archive-keyring.gpg] http://deb.debian.org/debian"
	ubuntu=http://archive.ubuntu.com/ubuntu
	case $1 in
	debian-12 | debian-12-backports) suite=bookworm line=$debian ;;
	debian-13 | debian-13-backports) suite=trixie line=$debian ;;
	ubuntu-24.04)
		suite=noble-updates line="deb [signed-by=$keys/ubuntu-archive-keyring.gpg] $ubuntu"
		[ -e "$keys/ubuntu-archive-keyring.gpg" ] || line="deb [trusted=yes] $ubuntu"
		;;
	*) return 1 ;;
	esac
	apt=$dir/apt-$1
	mkdir -p "$apt"
	echo "$line $suite main" >"$apt/sources.list"
	case $1 in
	*-backports)
		first=$suite-backports
		echo "$line $first main" >>"$apt/sources.list"
		;;
	esac
}

# Hooks of the machine would act on its own cache.
write_config() {
	[ -z "${first:-}" ] || echo "APT::Default-Release \"$first\";"
	[ ! -f "$apt/sources.list" ] || cat <<-END
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	END
	cat <<-END
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	#clear APT::Architectures;
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Sandbox::User "$(id -un)";
	APT::Get::Assume-Yes "true";
	APT::Install-Recommends "false";
	Dir::State "$apt/state";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	Acquire::Languages "none";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	Acquire::https::Timeout "20";
	END
}

# apt PROGRAM ARGUMENT...
apt() {
	program=$1
	shift
	LC_ALL=C timeout -k 5 "$limit" "$program" -c "$apt/apt.conf" -qq "$@" 2>>"$errors" </dev/null
}

# The newest lists. Where one source of several fails, the others may have what is needed.
apt_update() {
	if [ -n "$(find "$why" -mmin "-$retry_minutes" 2>/dev/null)" ]; then
		cat "$why"
		exit 77
	fi
	: >"$errors"
	for program in apt-get apt-cache dpkg-deb; do
		command -v "$program" >/dev/null || unavailable "there is no $program to fetch it with"
	done
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	write_config >"$apt/apt.conf"
	[ -z "$(find "$apt/updated" -mmin "-$lists_minutes" 2>/dev/null)" ] || return 0
	rm -f "$apt/updated"
	apt apt-get update || true
	grep -q '^[EW]: ' "$errors" || touch "$apt/updated"
}

# apt_install NAME...: the archives of these packages and of all that they depend on, in $archives.
apt_install() {
	archives=$apt/cache/archives
	rm -f "$archives"/*.deb
	apt apt-get install --download-only "$@" >/dev/null
}

# unpack ARCHIVE FOLDER [PATTERN...]: all of it, or what matches.
unpack() {
	archive=$1 into=$2
	shift 2
	dpkg-deb --fsys-tarfile "$archive" |
		tar -C "$into" -xf - --keep-directory-symlink --no-same-owner --wildcards "$@"
}

# apt_end: what was fetched is in its place.
apt_end() {
	rm -rf "$why" "$apt/cache/archives"
}
