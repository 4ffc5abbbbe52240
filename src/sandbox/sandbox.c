// SPDX-License-Identifier: GPL-2.0-only
/*
 * Into the sandbox, in this order: a process that has given up new rights may restrict itself
 * further, and with the filter of calls there would be no way to the rest.
 */
#include "internal.h"
#include "kontend/rights.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static void lacks(struct sandbox *s, const char *what, int code)
{
	size_t n = strlen(s->why);

	s->state = SANDBOX_PARTIAL;
	snprintf(s->why + n, sizeof(s->why) - n, "%s%s (%s)", n ? "; " : "", what, strerror(-code));
}

void sandbox_enter(const struct sandbox_path *paths, size_t n, struct sandbox *ret)
{
	int r = rights_give_up();

	*ret = (struct sandbox){.state = SANDBOX_ON};
	if (r < 0)
		lacks(ret, "privileges cannot be given up", r);
	int files = sandbox_restrict_files(paths, n);
	if (files < 0)
		lacks(ret, "no Landlock: all that the user may read can be opened", files);
	r = sandbox_filter_calls(files == 0);
	if (r < 0)
		lacks(ret, "no seccomp: system calls are not filtered", r);
}

/* A process that has given up the right to become another user keeps its user. */
static void become_nobody(void)
{
	if (geteuid() != 0 || syscall(SYS_setgroups, 0, NULL) < 0)
		return;
	if (syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0)
		(void)!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

int sandbox_only_connect(void)
{
	become_nobody();
	int r = rights_give_up();
	if (r == 0)
		(void)sandbox_restrict_writes();
	return r;
}
