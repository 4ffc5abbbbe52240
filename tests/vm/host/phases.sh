#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The phases that a machine of another architecture recorded, shown here.
# shellcheck source=tests/vm/checks.sh
. "$(dirname "$0")/../checks.sh"

case_of "the phases of a recording"
gives 0 phases "$KONTEND" report -i phases.data --format json --view rotation
shows phases '"parted_at": "[a-z_.0-9]+"'
shows phases '\{"cpu": 0, "rotations": [1-9][0-9]+, .*"out_p50_ns": [1-9][0-9]+, .*"in_p50_ns": [1-9][0-9]+, .*"cgroup_switches": [1-9]'
shows phases '"path": "/some/one", "id": [0-9]+, "events": 5, "switches_to": [1-9]'
finish
