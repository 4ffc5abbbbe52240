// SPDX-License-Identifier: GPL-2.0-only
/*
 * On what a waiter's system call is: the file of a descriptor, a process, or memory, by a table of
 * the argument that names it. The arguments are the registers with which the task entered the
 * kernel. A path would have to be read from memory whose lock the task may wait for, and so would
 * the mapping at an address: neither is read. The link of a descriptor and the name of a process
 * take no such lock.
 */
#include "calls-on.h"
#include "internal.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"
#include "kontend/waitrec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

enum { READ_MOST = 64, NAME = 64 }; /* waiters whose files and names are read */

struct on {
	long number;
	enum locksnap_on kind;
	unsigned arg;
};

/* Those of calls.c are of a descriptor, too. */
static const struct on others[] = {
	{SYS_flock, LOCKSNAP_ON_FILE, 0},
	{SYS_fcntl, LOCKSNAP_ON_FILE, 0},
	{SYS_close, LOCKSNAP_ON_FILE, 0},
	{SYS_fstat, LOCKSNAP_ON_FILE, 0},
	{SYS_fchdir, LOCKSNAP_ON_FILE, 0},
	{SYS_fsetxattr, LOCKSNAP_ON_FILE, 0},
	{SYS_fgetxattr, LOCKSNAP_ON_FILE, 0},
	{SYS_dup, LOCKSNAP_ON_FILE, 0},
	{SYS_dup3, LOCKSNAP_ON_FILE, 0},
	{SYS_tee, LOCKSNAP_ON_FILE, 1},
	{SYS_vmsplice, LOCKSNAP_ON_FILE, 0},
	{SYS_sendto, LOCKSNAP_ON_FILE, 0},
	{SYS_sendmsg, LOCKSNAP_ON_FILE, 0},
	{SYS_sendmmsg, LOCKSNAP_ON_FILE, 0},
	{SYS_recvfrom, LOCKSNAP_ON_FILE, 0},
	{SYS_recvmsg, LOCKSNAP_ON_FILE, 0},
	{SYS_recvmmsg, LOCKSNAP_ON_FILE, 0},
	{SYS_connect, LOCKSNAP_ON_FILE, 0},
	{SYS_accept, LOCKSNAP_ON_FILE, 0},
	{SYS_accept4, LOCKSNAP_ON_FILE, 0},
	{SYS_bind, LOCKSNAP_ON_FILE, 0},
	{SYS_listen, LOCKSNAP_ON_FILE, 0},
	{SYS_shutdown, LOCKSNAP_ON_FILE, 0},
	{SYS_setsockopt, LOCKSNAP_ON_FILE, 0},
	{SYS_getsockopt, LOCKSNAP_ON_FILE, 0},
	{SYS_epoll_ctl, LOCKSNAP_ON_FILE, 2},
	{SYS_epoll_pwait, LOCKSNAP_ON_FILE, 0},
	{SYS_epoll_pwait2, LOCKSNAP_ON_FILE, 0},
	{SYS_io_uring_enter, LOCKSNAP_ON_FILE, 0},
	{SYS_kill, LOCKSNAP_ON_TASK, 0},
	{SYS_tkill, LOCKSNAP_ON_TASK, 0},
	{SYS_tgkill, LOCKSNAP_ON_TASK, 1},
	{SYS_ptrace, LOCKSNAP_ON_TASK, 1},
	{SYS_process_vm_readv, LOCKSNAP_ON_TASK, 0},
	{SYS_process_vm_writev, LOCKSNAP_ON_TASK, 0},
	{SYS_prlimit64, LOCKSNAP_ON_TASK, 0},
	{SYS_setpgid, LOCKSNAP_ON_TASK, 0},
	{SYS_sched_setaffinity, LOCKSNAP_ON_TASK, 0},
	{SYS_sched_setscheduler, LOCKSNAP_ON_TASK, 0},
	{SYS_migrate_pages, LOCKSNAP_ON_TASK, 0},
	{SYS_move_pages, LOCKSNAP_ON_TASK, 0},
	{SYS_wait4, LOCKSNAP_ON_TASK, 0},
	{SYS_munmap, LOCKSNAP_ON_MEMORY, 0},
	{SYS_mprotect, LOCKSNAP_ON_MEMORY, 0},
	{SYS_madvise, LOCKSNAP_ON_MEMORY, 0},
	{SYS_mremap, LOCKSNAP_ON_MEMORY, 0},
	{SYS_mlock, LOCKSNAP_ON_MEMORY, 0},
	{SYS_munlock, LOCKSNAP_ON_MEMORY, 0},
	{SYS_msync, LOCKSNAP_ON_MEMORY, 0},
	{SYS_mincore, LOCKSNAP_ON_MEMORY, 0},
	{SYS_mbind, LOCKSNAP_ON_MEMORY, 0},
	{SYS_openat, LOCKSNAP_ON_PATH, 1},
	{SYS_unlinkat, LOCKSNAP_ON_PATH, 1},
	{SYS_mkdirat, LOCKSNAP_ON_PATH, 1},
	{SYS_linkat, LOCKSNAP_ON_PATH, 1},
	{SYS_symlinkat, LOCKSNAP_ON_PATH, 2},
	{SYS_renameat2, LOCKSNAP_ON_PATH, 1},
	{SYS_newfstatat, LOCKSNAP_ON_PATH, 1},
	{SYS_faccessat, LOCKSNAP_ON_PATH, 1},
	{SYS_fchmodat, LOCKSNAP_ON_PATH, 1},
	{SYS_fchownat, LOCKSNAP_ON_PATH, 1},
	{SYS_readlinkat, LOCKSNAP_ON_PATH, 1},
	{SYS_truncate, LOCKSNAP_ON_PATH, 0},
	{SYS_execve, LOCKSNAP_ON_PATH, 0},
	{SYS_chdir, LOCKSNAP_ON_PATH, 0},
	{SYS_mount, LOCKSNAP_ON_PATH, 1},
	{SYS_umount2, LOCKSNAP_ON_PATH, 0},
#ifdef SYS_open
	{SYS_open, LOCKSNAP_ON_PATH, 0},
	{SYS_creat, LOCKSNAP_ON_PATH, 0},
	{SYS_stat, LOCKSNAP_ON_PATH, 0},
	{SYS_lstat, LOCKSNAP_ON_PATH, 0},
	{SYS_access, LOCKSNAP_ON_PATH, 0},
	{SYS_unlink, LOCKSNAP_ON_PATH, 0},
	{SYS_mkdir, LOCKSNAP_ON_PATH, 0},
	{SYS_rmdir, LOCKSNAP_ON_PATH, 0},
	{SYS_link, LOCKSNAP_ON_PATH, 0},
	{SYS_symlink, LOCKSNAP_ON_PATH, 1},
	{SYS_rename, LOCKSNAP_ON_PATH, 0},
	{SYS_chmod, LOCKSNAP_ON_PATH, 0},
	{SYS_chown, LOCKSNAP_ON_PATH, 0},
	{SYS_readlink, LOCKSNAP_ON_PATH, 0},
	{SYS_renameat, LOCKSNAP_ON_PATH, 1},
	{SYS_dup2, LOCKSNAP_ON_FILE, 0},
	{SYS_epoll_wait, LOCKSNAP_ON_FILE, 0},
#endif
};

static struct on on_of(long long number)
{
	struct on o = {.number = (long)number, .kind = LOCKSNAP_ON_NOTHING};

	if (calls_doing(number, &o.arg) != LOCKSNAP_NO_FILE)
		o.kind = LOCKSNAP_ON_FILE;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].number == number)
			return others[i];
	return o;
}

void calls_on_codes(unsigned char ret[ON_CALLS])
{
	static const enum waitrec_on_kind kinds[LOCKSNAP_ONS] = {
		[LOCKSNAP_ON_NOTHING] = WAITREC_ON_NOTHING,
		[LOCKSNAP_ON_FILE] = WAITREC_ON_FILE,
		[LOCKSNAP_ON_TASK] = WAITREC_ON_TASK,
		[LOCKSNAP_ON_MEMORY] = WAITREC_ON_MEMORY,
		[LOCKSNAP_ON_PATH] = WAITREC_ON_PATH,
	};

	for (long number = 0; number < ON_CALLS; number++) {
		const struct on o = on_of(number);
		ret[number] = (unsigned char)(kinds[o.kind] << ON_ARG_BITS | o.arg);
	}
}

/* "sshd/812"; a negative number is one of a group, 0 the caller's own, or itself. */
static uint32_t add_task(struct locksnap *s, const char *proc, int32_t id)
{
	char path[NAME * 2], comm[NAME], clean[NAME], text[NAME * 2];

	if (id < -1) {
		snprintf(text, sizeof(text), "process group %" PRId64, -(int64_t)id);
		return locksnap_add_text(s, text);
	}
	if (id <= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%" PRId32 "/comm", proc, id);
	if (sysinfo_read(path, comm, sizeof(comm)) < 0)
		snprintf(comm, sizeof(comm), "-");
	comm[strcspn(comm, "\n")] = 0;
	snprintf(text, sizeof(text), "%s/%" PRId32, text_clean(clean, sizeof(clean), comm), id);
	return locksnap_add_text(s, text);
}

static uint32_t add_range(struct locksnap *s, uint64_t from, uint64_t length)
{
	char text[NAME];

	snprintf(text, sizeof(text), "0x%" PRIx64 "-0x%" PRIx64, from, from + length);
	return locksnap_add_text(s, text);
}

uint32_t calls_on(struct locksnap *s, const struct raw_call *c, const char *proc, int tid,
		  uint32_t *ret_kind)
{
	const struct on o = on_of(c->number);

	*ret_kind = LOCKSNAP_ON_UNKNOWN;
	if (c->number < 0)
		return 0;
	*ret_kind = o.kind;
	if (o.kind == LOCKSNAP_ON_MEMORY)
		return add_range(s, c->args[o.arg], c->args[o.arg + 1]);
	if (o.kind != LOCKSNAP_ON_FILE && o.kind != LOCKSNAP_ON_TASK)
		return 0;
	if (s->n_waiters >= READ_MOST) {
		*ret_kind = LOCKSNAP_ON_UNKNOWN;
		return 0;
	}
	if (o.kind == LOCKSNAP_ON_TASK)
		return add_task(s, proc, (int32_t)c->args[o.arg]);
	return c->files[o.arg].known
		       ? snapshot_locks_add_path(s, proc, tid, (int)c->files[o.arg].fd)
		       : 0;
}
