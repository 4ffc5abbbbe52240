// SPDX-License-Identifier: GPL-2.0-only
/* The programs of waits for locks of files, and the tracepoints at which they are attached. */
#include "bpf-run.h"
#include "btf/types.h"
#include "internal.h"

#include <linux/btf.h>

const struct file_program file_programs[] = {
	{"btf_trace_flock_lock_inode", "flock_lock_inode", "see_flock"},
	{"btf_trace_posix_lock_inode", "posix_lock_inode", "see_posix_lock"},
	{"btf_trace_break_lease_block", "break_lease_block", "see_lease_block"},
	{"btf_trace_break_lease_unblock", "break_lease_unblock", "see_lease_unblock"},
	{"btf_trace_signal_deliver", "signal_deliver", "see_file_signal"},
	{NULL, NULL, NULL},
};

bool file_programs_fit(struct kerntypes *types)
{
	for (const struct file_program *p = file_programs; p->type; p++)
		if (kerntypes_find(types, p->type, BTF_KIND_TYPEDEF) < 0)
			return false;
	return true;
}

int file_programs_leave(struct bpf_object *o)
{
	int code = 0;

	for (const struct file_program *p = file_programs; code == 0 && p->type; p++)
		code = bpf_run_leave_programs(o, &p->program, 1);
	return code;
}
