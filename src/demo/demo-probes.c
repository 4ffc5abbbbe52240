// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives the views slots and uprobes something to show. The main thread writes to a variable that
 * has a breakpoint, and calls a function that has a uprobe. Both are perf events of this process:
 * the kernel removes them when their descriptors are closed, however the process ends. The kernel
 * runs the probed instruction out of line, so the process uses an XOL slot as well.
 */
#include "demo-internal.h"
#include "kontend/perf-event.h"
#include "kontend/uprobe-target.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <unistd.h>

enum { HITS = 32 };

static volatile uint64_t watched;

/* Of this thread, as of any debugger: it has one slot on each CPU. */
static int place_breakpoint(struct error *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_event_open(&attr, 0, -1, 0);

	return fd < 0 ? error_errno(err, fd, "The demo cannot place a breakpoint") : fd;
}

void demo_probes_place(struct demo *d, void (*missing)(const struct error *err))
{
	struct error err = {0};

	d->breakpoint_fd = place_breakpoint(&err);
	if (d->breakpoint_fd < 0 && missing)
		missing(&err);
	d->uprobe_fd = uprobe_target_place(UPROBE_TARGET_RET, false, &err);
	if (d->uprobe_fd < 0 && missing)
		missing(&err);
}

void demo_probes_hit(const struct demo *d)
{
	for (unsigned i = 0; i < HITS; i++) {
		if (d->breakpoint_fd >= 0)
			watched = i;
		if (d->uprobe_fd >= 0)
			uprobe_target_function(UPROBE_TARGET_RET)();
	}
}

void demo_probes_remove(struct demo *d)
{
	if (d->breakpoint_fd >= 0)
		close(d->breakpoint_fd);
	if (d->uprobe_fd >= 0)
		close(d->uprobe_fd);
	d->breakpoint_fd = d->uprobe_fd = -1;
}
