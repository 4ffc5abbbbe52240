#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# install-conf.sh SOURCE FOLDER: installs the configuration of the service, unless one exists, which
# the administrator may have written. Run by meson, which passes the path that FOLDER is below.
set -eu
folder=${MESON_INSTALL_DESTDIR_PREFIX%"$MESON_INSTALL_PREFIX"}$2
name=$folder/$(basename "$1")
if [ -e "$name" ] || [ -L "$name" ]; then
	echo "$name is there, and stays as it is"
	exit 0
fi
echo "Installing $1 to $folder"
[ -z "${MESON_INSTALL_DRY_RUN:-}" ] || exit 0
mkdir -p "$folder"
cp "$1" "$name.new.$$"
chmod 644 "$name.new.$$"
mv "$name.new.$$" "$name"
