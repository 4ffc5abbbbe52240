// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drops the capabilities for opening, except those that a running measurement may still need. Calls
 * the kernel directly; its sets are two words of 32 bits each.
 */
#include "kontend/privs.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From this level on Debian and Ubuntu let only privileged processes open events. */
enum { PARANOID_ROOT_ONLY = 3 };

static const struct {
	unsigned number;
	const char *name;
} kept[] = {
	{CAP_PERFMON, "perfmon"},	    /* events of CPUs that come online */
	{CAP_IPC_LOCK, "ipc_lock"},	    /* and their rings */
	{CAP_SYS_NICE, "sys_nice"},	    /* the collector before others */
	{CAP_SYS_PTRACE, "sys_ptrace"},	    /* mappings and files of other users' processes */
	{CAP_DAC_OVERRIDE, "dac_override"}, /* files in folders of other users */
	{CAP_FOWNER, "fowner"},
	{CAP_KILL, "kill"},			  /* a command that has become another user */
	{CAP_SYS_ADMIN, "sys_admin"},		  /* in place of perfmon: PARANOID_ROOT_ONLY */
	{CAP_DAC_READ_SEARCH, "dac_read_search"}, /* descriptors in /proc, with sys_ptrace */
	/* Files that processes have mapped and that were deleted (/proc/PID/map_files), which needs
	   no more than this since Linux 5.9. */
	{CAP_CHECKPOINT_RESTORE, "checkpoint_restore"},
};

#define KEPT (sizeof(kept) / sizeof(*kept))

static uint64_t bit(unsigned cap)
{
	return 1ull << cap;
}

uint64_t privs_to_keep(uint64_t have, int paranoid)
{
	uint64_t keep = 0;

	for (size_t i = 0; i < KEPT; i++)
		keep |= bit(kept[i].number);
	if (paranoid < PARANOID_ROOT_ONLY)
		keep &= ~bit(CAP_SYS_ADMIN);
	if (!(have & bit(CAP_SYS_PTRACE)))
		keep &= ~bit(CAP_DAC_READ_SEARCH);
	return have & keep;
}

static int get_capabilities(struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &h, sets) < 0 ? -errno : 0;
}

uint64_t privs_now(void)
{
	struct __user_cap_data_struct sets[2];

	return get_capabilities(sets) < 0 ? 0
					  : (uint64_t)sets[1].effective << 32 | sets[0].effective;
}

int privs_drop_but(uint64_t also, struct error *err)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2];
	int paranoid = (int)sysinfo_number("/proc/sys/kernel/perf_event_paranoid", 0);
	uint64_t keep = privs_to_keep(privs_now(), paranoid) | also;
	int code = get_capabilities(sets);

	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(keep >> 32 * i);
		sets[i].effective &= part;
		sets[i].permitted &= part;
		sets[i].inheritable &= part;
	}
	if (code == 0 && syscall(SYS_capset, &h, sets) < 0)
		code = -errno;
	if (code == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		code = -errno;
	return code < 0 ? error_errno(err, code, "Cannot give up privileges") : 0;
}

int privs_drop(struct error *err)
{
	return privs_drop_but(0, err);
}

const char *privs_text(uint64_t set, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < KEPT && n < size; i++)
		if (set & bit(kept[i].number))
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "",
					      kept[i].name);
	return buf;
}
