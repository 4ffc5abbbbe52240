#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What Perfetto finds in a trace. Called as: read-perfetto.py TRACE reads it by Perfetto's own definitions, of its package
for Python, and prints the packets, and the bytes that these definitions do not know.
read-perfetto.py TRACE PROCESSOR asks Perfetto's trace_processor_shell, and prints the waits that have ended and their time,
that of those in flight, in ns, the flows from who had a lock to waits, and what it finds wrong."""
import subprocess
import sys

# One query. Before call chains of slices were in the format a reader counts them as an extension that it does not know.
ASKED = """
with waits as (select s.dur, exists (select 1 from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.state')
    as waiting, exists (select 1 from args a where a.arg_set_id = s.arg_set_id and a.key = 'debug.error') as failed
  from slice s where category not in ('hold', ''))
select 'waits', count(*) from waits where not waiting and not failed
union all select 'ns', sum(dur) from waits where not waiting and not failed
union all select 'waiting_ns', sum(dur) from waits where waiting
union all select 'holds', count(*) from slice where category = 'hold'
union all select 'flows', count(*) from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
  where (a.category = 'hold') + (b.category = 'hold') = 1
union all select 'stacks', count(*) from stack_profile_callsite
union all select 'threads', count(distinct utid) from thread_track
union all select 'wrong ' || name, value from stats where severity in ('error', 'data_loss') and value > 0
  and name != 'unknown_extension_fields';
"""


def by_definitions(data):
    # pylint: disable=import-outside-toplevel
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    trace = Trace()
    trace.ParseFromString(data)
    print("packets", len(trace.packet))
    trace.DiscardUnknownFields()
    print("unknown", len(data) - trace.ByteSize())


def by_processor(path, processor):
    p = subprocess.run([processor, "-q", "/dev/stdin", path], input=ASKED, capture_output=True, text=True, check=True)
    for line in p.stdout.splitlines():
        cells = [cell.strip().strip('"') for cell in line.split(",")]
        if len(cells) == 2 and cells[1].lstrip("-").isdigit():
            print(*cells)


if len(sys.argv) > 2:
    by_processor(sys.argv[1], sys.argv[2])
else:
    with open(sys.argv[1], "rb") as f:
        by_definitions(f.read())
