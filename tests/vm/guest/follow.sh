#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# States of lock holders, on another kernel: it accepts the programs, and they report sleeps and wakers.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "the kernel takes the programs that follow holders"
kontend doctor >report || true
shows report 'follow +works'

case_of "holders that sleep are told, live"
turns "$PWD/file" >truth 2>err || skip "no holder can be made to sleep: $(cat err)"
gives 0 live kontend script -q --follow 1ms -- turns "$PWD/file"
shows live 'follow +lock holders'
shows live 'off .* asleep in handle_userfault'
shows live 'woken .* woken by turns/'
shows live ' on .* running'

case_of "and recorded"
gives 0 said kontend record -q --follow 1ms -o recording -- turns "$PWD/file"
gives 0 recorded kontend script -i recording
shows recorded 'off .* asleep in handle_userfault'
shows recorded 'woken .* woken by turns/'

case_of "and beside sleeps"
gives 0 said kontend record -q --sleeps --follow 1ms -o slept -- turns "$PWD/file"
gives 0 recorded kontend script -i slept
shows recorded 'off .* asleep in handle_userfault'
shows recorded 'woken .* woken by turns/'
gives 0 reported kontend report -i slept --view blocked --format json
shows reported '"each_sleep"'
shows reported '"level": "all"'

case_of "and what chosen tasks do"
gives 0 said kontend record -q --why -o chosen -- turns "$PWD/file"
gives 0 why kontend why -j chosen
shows why '"does": "running"'
shows why '"does": "blocked", "why": "userfault'
shows why '"ended_by": "turns/'
shows why '"on": "file"'
shows why '"longest"'
lacks why '"dropped": [1-9]'
gives 0 both kontend report -q -j --view why --why --sleeps --follow 1ms -- turns "$PWD/file"
shows both '"does": "blocked"'
finish
