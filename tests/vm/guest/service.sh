#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kontend-record.service below a real systemd, as it is installed: start, incidents, reload,
# retention, watchdog, restart. systemctl prints the manager's state of it.
# shellcheck disable=SC2317 # called by "eventually"
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh
export SYSTEMD_PAGER=cat SYSTEMD_COLORS=0 TERM=dumb
state=/var/lib/kontend
conf=/etc/kontend/kontend-record.conf

property() {
	systemctl show -p "$1" --value kontend-record
}
is() {
	[ "$(property "$1")" = "$2" ]
}
status_has() {
	property StatusText | grep -qE "$1"
}
# To ask the journal each time would take longer than all else here.
log() {
	cat /run/kontend-log
}
log_has() {
	log | grep -qE -e "$1"
}
files() {
	find $state -name 'kontend-*.data' | wc -l
}
has_more_than() {
	[ "$(files)" -gt "$1" ]
}
has_priority() {
	[ "$(priority_of "$1")" = "$2" ]
}
priority_of() {
	journalctl -u kontend-record -o json --no-pager | grep -F "$1" | tail -n 1 | sed 's/.*"PRIORITY":"\([0-9]\)".*/\1/'
}
more_by_hand() {
	[ "$(log | grep -c '^caught by hand')" -gt "$number" ]
}
by_hand() {
	number=$(log | grep -c '^caught by hand')
	systemctl kill -s USR1 kontend-record
	eventually more_by_hand
}
configure() {
	printf '[record]\n' >$conf
	printf '%s\n' "$@" >>$conf
}

mkdir -p /etc/kontend $state /usr/share/doc
sed 's|@bindir@|/bin|g; s|@sysconfdir@|/etc|g' /share/kontend-record.service.in \
	>/lib/systemd/system/kontend-record.service
configure 'trigger = wait>10s' 'pre = 2s' 'post = 500ms'
# In a machine that is interpreted half a minute is not long.
mkdir -p /run/systemd/system/kontend-record.service.d
printf '[Service]\nWatchdogSec=10min\n' >/run/systemd/system/kontend-record.service.d/test.conf
systemctl daemon-reload
journalctl -u kontend-record -o cat -f >/run/kontend-log &

case_of "the unit is one, and what it exposes"
gives 0 verify systemd-analyze verify --man=no kontend-record.service
lacks verify '.'
gives 0 security systemd-analyze security --no-pager kontend-record.service
cp security "$OUT/"
grep 'Overall' security

case_of "start: the manager waits until measuring has begun"
gives 0 start systemctl start kontend-record
is ActiveState active || { complain "it is $(property ActiveState)"; log; systemctl status kontend-record; }
eventually log_has '^watching .* for incidents, which are written to /var/lib/kontend/$'
is NRestarts 0 || complain "it was restarted"
eventually status_has '^Watching: 0 incidents, '
[ "$(stat -c %a $state)" = 700 ] || complain "$state is for others, too"
grep -E '^(Cap|NoNew|Seccomp)' "/proc/$(property MainPID)/status"
property MemoryCurrent

case_of "an incident by hand"
gives 0 kill systemctl kill -s USR1 kontend-record
eventually has_more_than 0
eventually status_has '^Watching: 1 incidents, the last by hand'
gives 0 list kontend incidents $state
shows list 'by hand'
eventually log_has '^caught by hand: .*-hand\.data'
eventually has_priority 'caught by hand' 5

case_of "a reload, and an incident by a trigger that it brings"
configure 'trigger = wait>1ms' 'pre = 2s' 'post = 500ms'
gives 0 reload systemctl reload kontend-record
eventually log_has '^the configuration .* has been read again$'
before=$(files)
gives 0 demo kontend demo --kinds inode,dir --duration 2
eventually has_more_than "$before"
gives 0 list kontend incidents $state
shows list 'wait>1ms'
newest=$(find $state -name '*-wait*.data' | sort | tail -n 1)
gives 0 report kontend report --view locks -i "$newest"
shows report '^# incident: wait>1ms'

case_of "reload: what is written anew holds"
configure 'trigger = wait>10s' 'pre = 3s' 'post = 500ms' 'max-files = 2'
gives 0 reload systemctl reload kontend-record
eventually log_has '^changes of pre take effect after a restart$'
eventually is ActiveState active
# The incidents of the earlier trigger are written by then.
by_hand
before=$(log | grep -c '^caught wait')
gives 0 demo kontend demo --kinds inode,dir --duration 2
by_hand
[ "$(log | grep -c '^caught wait')" -eq "$before" ] || complain "the trigger of before still fires"

case_of "reload: a bad file changes nothing"
printf '[record]\ntrigger = wait>>5\n' >$conf
gives 0 reload systemctl reload kontend-record
eventually log_has 'trigger.*: all stays as it was$'
printf '[record]\npost = soon\n' >$conf
gives 0 reload systemctl reload kontend-record
eventually log_has "kontend-record.conf:2: --post 'soon': .*: all stays as it was\$"
is ActiveState active || complain "it is $(property ActiveState)"
eventually has_priority 'all stays as it was' 3

case_of "retention: the newest two stay, and what others have there"
echo mine >$state/notes.txt
echo mine >$state/kontend-20260101-000000-mine.data
touch -d '2020-01-01 00:00' $state/kontend-20260101-000000-mine.data
by_hand
by_hand
by_hand
of_kontend() {
	[ "$(find "$state" -name 'kontend-*-hand*.data' -o -name 'kontend-*-wait*.data' | wc -l)" -eq 2 ]
}
eventually of_kontend
eventually log_has '^removed the oldest [0-9]+ files of incidents'
for name in notes.txt kontend-20260101-000000-mine.data; do
	[ -e "$state/$name" ] || complain "$name, which is not ours, is gone"
done

case_of "restart: what was caught stays, and is counted"
configure 'trigger = wait>10s' 'max-files = 2'
gives 0 restart systemctl restart kontend-record
is ActiveState active || complain "it is $(property ActiveState)"
eventually status_has '^Watching: 0 incidents, .*; [23] files, '
eventually log_has '(incident is|incidents are) in /var/lib/kontend/'

case_of "watchdog: who stands still is killed, and started again"
printf '[Service]\nWatchdogSec=20s\nRestartSec=100ms\n' >/run/systemd/system/kontend-record.service.d/test.conf
systemctl daemon-reload
systemctl restart kontend-record
pid=$(property MainPID)
eventually status_has '^Watching: 0 incidents, '
kill -STOP "$pid"
other() { [ "$(property MainPID)" != "$pid" ] && is ActiveState active; }
eventually other
eventually is NRestarts 1
eventually log_has '[Ww]atchdog timeout'

case_of "kill -9: it comes back"
pid=$(property MainPID)
kill -KILL "$pid"
eventually other
eventually is NRestarts 2

case_of "stop: cleanly, and in time"
gives 0 stop systemctl stop kontend-record
is Result success || complain "result: $(property Result)"
is ExecMainStatus 0 || complain "exit status: $(property ExecMainStatus)"
log | tail -n 5

case_of "a configuration that is none: it says so and is not restarted for ever"
rm $conf
gives 1 start systemctl start kontend-record
eventually log_has "^Cannot read the configuration '/etc/kontend/kontend-record.conf"
systemctl stop kontend-record
log >"$OUT/journal"
finish
