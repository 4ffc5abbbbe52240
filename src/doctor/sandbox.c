// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of the kernel that the sandbox uses to read recordings of other users. Checking restricts
 * nothing.
 */
#include "kontend/sandbox.h"
#include "internal.h"

#include <errno.h>
#include <string.h>

/* Landlock versions that cover more than files: of Linux 6.7 and 6.12. */
enum { CONNECTIONS = 4, SIGNALS = 6 };

static void check_landlock(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "landlock", "which files a reader may open");
	int version = sandbox_landlock();

	if (version > 0) {
		doctor_found(i, DOCTOR_WORKS, "version %d: files%s%s", version,
			     version >= CONNECTIONS ? ", connections" : "",
			     version >= SIGNALS ? ", signals" : "");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED,
		     "not available (%s): a process that reads a recording could open all of the "
		     "user's files",
		     strerror(-version));
	if (version == -EOPNOTSUPP)
		doctor_fix(i, "add landlock to lsm= on the kernel's command line");
	else if (version == -ENOSYS)
		doctor_fix(i, "Linux 5.13 or later, with CONFIG_SECURITY_LANDLOCK");
}

static void check_seccomp(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "seccomp", "which system calls a reader may make");
	int r = sandbox_filter();

	if (r == 0)
		doctor_found(i, DOCTOR_WORKS, "calls that are not needed to read are refused");
	else
		doctor_found(i, DOCTOR_LIMITED,
			     "not available (%s): a process that reads a recording could make all "
			     "system calls",
			     strerror(-r));
}

void doctor_sandbox(struct doctor *d)
{
	check_landlock(d);
	check_seccomp(d);
}
