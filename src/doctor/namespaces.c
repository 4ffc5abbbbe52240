// SPDX-License-Identifier: GPL-2.0-only
/*
 * In a container: which PID namespace this is, whether tasks outside of it can be identified and
 * named, and whether /proc belongs to it.
 */
#include "internal.h"
#include "kontend/nsview.h"
#include "kontend/pidns.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* True if /proc shows PIDs of this namespace. */
static bool proc_is_ours(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return atoi(text) == getpid();
}

static void say_outside(struct doctor_item *i, const struct nsview *v)
{
	doctor_found(
		i, DOCTOR_WORKS,
		"PID namespace %u; %zu tasks are outside of it; BPF shows them as comm/812@host",
		pidns_own(), nsview_count_outside(v));
}

void doctor_namespaces(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "namespaces", "tasks outside of this PID namespace");
	struct error err = {0};
	struct nsview *v = NULL;

	if (!proc_is_ours()) {
		doctor_found(i, DOCTOR_LIMITED,
			     "/proc is that of another PID namespace, or there is none: tasks have "
			     "wrong names, or none");
		doctor_fix(i, "mount -t proc proc /proc");
		return;
	}
	if (!pidns_is_inner()) {
		doctor_found(i, DOCTOR_WORKS, "this is the initial one: there are none");
		return;
	}
	int code = nsview_new(&v, NULL, &err);
	code = code < 0 ? code : nsview_look(v);
	if (code == 0 || code == -EAGAIN) {
		say_outside(i, v);
	} else {
		doctor_found(
			i, DOCTOR_LIMITED,
			"PID namespace %u; tasks outside of it have no names, and the slots they "
			"hold are not seen: %s",
			pidns_own(), err.text);
		doctor_fix_setcap(i, f);
	}
	nsview_free(v);
}
