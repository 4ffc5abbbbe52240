#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Machines with the kernels of other distributions than this machine's, which ./bootstrap test leaves
# out. Called as: tests/vm/nightly.sh [NAME...], with names of tests as meson.build has them.
set -eu
cd "$(dirname "$0")/../.."
exec ./bootstrap test -- --suite kernels "$@"
