// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that the kernel makes of a breakpoint itself: arch/x86/kernel/hw_breakpoint.c
 * (arch_build_bp_info(), hw_breakpoint_arch_parse()) and the same for arm64. The kernel makes them
 * after it has found a slot; but no free slot helps a breakpoint that it rejects.
 */
#include "kontend/enospc.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static bool is_of_kernel(const struct enospc_ask *a)
{
	return a->has_addr && (int64_t)(a->addr + a->len - 1) < 0;
}

static int check_x86_length(const struct enospc_ask *a, const struct enospc_machine *m,
			    struct error *err)
{
	if (!is_power_of_two(a->len))
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: it watches 1, 2, 4 or 8 bytes, not "
				 "%" PRIu64 ": choose another --len",
				 a->len);
	if (a->has_addr && a->addr & (a->len - 1))
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: 0x%" PRIx64 " is no multiple of the "
				 "%" PRIu64 " bytes to watch: align it, or choose a smaller --len",
				 a->addr, a->len);
	if (a->len > 8 && !m->any_power)
		return error_set(err, -EOPNOTSUPP,
				 "The kernel would say EOPNOTSUPP: this CPU watches at most 8 "
				 "bytes, not %" PRIu64 ": set several breakpoints",
				 a->len);
	return 0;
}

static int check_x86(const struct enospc_ask *a, const struct enospc_machine *m, struct error *err)
{
	if (a->rwx == HW_BREAKPOINT_R)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: x86 cannot watch reads alone: use "
				 "--type rw");
	if (a->rwx & HW_BREAKPOINT_X && a->rwx != HW_BREAKPOINT_X)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: execution (x) is not watched "
				 "together with reads or writes: set two breakpoints");
	if (a->rwx == HW_BREAKPOINT_X)
		return a->len == sizeof(long)
			       ? 0
			       : error_set(
					 err, -EINVAL,
					 "The kernel would say EINVAL: for execution (x) it wants "
					 "a length of %zu bytes, not %" PRIu64,
					 sizeof(long), a->len);
	return check_x86_length(a, m, err);
}

static int check_arm64(const struct enospc_ask *a, struct error *err)
{
	if (a->rwx & HW_BREAKPOINT_X && a->rwx != HW_BREAKPOINT_X)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: execution (x) is not watched "
				 "together with reads or writes: set two breakpoints");
	if (!a->len || a->len > 8)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: it watches 1 to 8 bytes, not "
				 "%" PRIu64 ": choose another --len",
				 a->len);
	if (a->rwx != HW_BREAKPOINT_X && a->has_addr && (a->addr & 7) + a->len > 8)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: %" PRIu64 " bytes from 0x%" PRIx64
				 " on are not all in one aligned unit of 8: set two breakpoints",
				 a->len, a->addr);
	if (is_of_kernel(a) && a->n_tids)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: arm64 takes breakpoints at kernel "
				 "addresses for CPUs only, not for a task: use -C");
	return 0;
}

int enospc_check(const struct enospc_ask *a, const struct enospc_machine *m, struct error *err)
{
	int code = 0;

	if (a->has_addr && a->len && a->addr + a->len - 1 < a->addr)
		return error_set(err, -EINVAL,
				 "The kernel would say EINVAL: %" PRIu64 " bytes from 0x%" PRIx64
				 " on go beyond the end of memory",
				 a->len, a->addr);
	if (m->arch == ENOSPC_X86)
		code = check_x86(a, m, err);
	else if (m->arch == ENOSPC_ARM64)
		code = check_arm64(a, err);
	if (code == 0 && is_of_kernel(a) && !m->admin)
		code = error_set(err, -EPERM,
				 "The kernel would say EPERM: 0x%" PRIx64 " is an address of the "
				 "kernel, which takes root (CAP_SYS_ADMIN) to watch",
				 a->addr);
	return code;
}

struct enospc_machine enospc_machine(void)
{
	struct enospc_machine m = {.arch = ENOSPC_OTHER, .admin = sysinfo_capable(CAP_SYS_ADMIN)};

#if defined(__x86_64__) || defined(__i386__)
	char *text;
	size_t len;

	m.arch = ENOSPC_X86;
	if (fdio_read_file("/proc/cpuinfo", &text, &len) == 0) {
		m.any_power = strstr(text, " bpext") != NULL;
		mem_free(text);
	}
#elif defined(__aarch64__)
	m.arch = ENOSPC_ARM64;
#endif
	return m;
}
