// SPDX-License-Identifier: GPL-2.0-only
/* A probe in the code of this program. */
#include "kontend/self-probe.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int self_probe_offset(void (*call)(void), uint64_t *ret)
{
	const uintptr_t addr = (uintptr_t)call;
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t from, to, offset;
	char line[512];
	int code = -ENOENT;

	while (f && code && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) != 3)
			continue;
		if (addr < from || addr >= to)
			continue;
		*ret = addr - from + offset;
		code = 0;
	}
	if (f)
		fclose(f);
	return code;
}

int self_probe_place(void (*call)(void), bool is_return, struct error *err)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .config = is_return};
	uint64_t offset;
	int type = (int)sysinfo_number("/sys/bus/event_source/devices/uprobe/type", -1);

	if (type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "This kernel has no PMU uprobe (CONFIG_UPROBE_EVENTS)");
	if (self_probe_offset(call, &offset) < 0)
		return error_set(err, -ENOENT, "Cannot find out where this program is mapped");
	attr.type = (uint32_t)type;
	attr.config1 = (uintptr_t) "/proc/self/exe";
	attr.config2 = offset;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno,
				   "Cannot place a uprobe (it takes CAP_SYS_ADMIN or root)");
	return fd;
}
