// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/rights.h"
#include "kontend/sandbox-state.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int rights_give_up(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_capset, &h, none) < 0 ? -errno : 0;
}

/* Text for each state; a complete sandbox needs none. */

const char *sandbox_name(const struct sandbox *s)
{
	static const char *const names[] = {
		[SANDBOX_ON] = "on", [SANDBOX_PARTIAL] = "partial", [SANDBOX_OFF] = "off"};

	return s ? names[s->state] : NULL;
}

const char *sandbox_note(const struct sandbox *s, char *buf, size_t size)
{
	if (!s || s->state == SANDBOX_NONE || s->state == SANDBOX_ON)
		return NULL;
	if (s->state == SANDBOX_OFF)
		snprintf(buf, size, "sandbox off (--no-sandbox)");
	else
		snprintf(buf, size, "sandbox in part: %s", s->why);
	return buf;
}
