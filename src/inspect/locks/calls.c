// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file for which a task sleeps: the one of the descriptor that it has passed to its system
 * call. The table has the system calls that may sleep for a file which an argument names, by this
 * architecture's numbers. Of two files it is the one that is written, whose lock is held the
 * longest.
 *
 * Paths are read of a few tasks in each snapshot. Reading the link of a descriptor takes no lock
 * that a stuck task may hold; asking the file for its device would.
 */
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLEEPS_MOST = 16 }; /* of holders */

static const struct {
	long number;
	enum locksnap_doing doing;
	unsigned arg;
} known_calls[] = {
	{SYS_read, LOCKSNAP_READS, 0},
	{SYS_pread64, LOCKSNAP_READS, 0},
	{SYS_readv, LOCKSNAP_READS, 0},
	{SYS_preadv, LOCKSNAP_READS, 0},
	{SYS_preadv2, LOCKSNAP_READS, 0},
	{SYS_getdents64, LOCKSNAP_READS, 0},
#ifdef SYS_getdents
	{SYS_getdents, LOCKSNAP_READS, 0},
#endif
	{SYS_readahead, LOCKSNAP_READS, 0},
	{SYS_write, LOCKSNAP_WRITES, 0},
	{SYS_pwrite64, LOCKSNAP_WRITES, 0},
	{SYS_writev, LOCKSNAP_WRITES, 0},
	{SYS_pwritev, LOCKSNAP_WRITES, 0},
	{SYS_pwritev2, LOCKSNAP_WRITES, 0},
	{SYS_sendfile, LOCKSNAP_WRITES, 0},
	{SYS_splice, LOCKSNAP_WRITES, 2},
	{SYS_copy_file_range, LOCKSNAP_WRITES, 2},
	{SYS_ftruncate, LOCKSNAP_WRITES, 0},
	{SYS_fallocate, LOCKSNAP_WRITES, 0},
	{SYS_fsync, LOCKSNAP_SYNCS, 0},
	{SYS_fdatasync, LOCKSNAP_SYNCS, 0},
	{SYS_sync_file_range, LOCKSNAP_SYNCS, 0},
	{SYS_syncfs, LOCKSNAP_SYNCS, 0},
	{SYS_ioctl, LOCKSNAP_CONTROLS, 0},
	{SYS_lseek, LOCKSNAP_CONTROLS, 0},
	{SYS_fchmod, LOCKSNAP_CONTROLS, 0},
	{SYS_fchown, LOCKSNAP_CONTROLS, 0},
};

enum locksnap_doing calls_doing(long long number, unsigned *ret_arg)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (known_calls[i].number == number) {
			*ret_arg = known_calls[i].arg;
			return known_calls[i].doing;
		}
	return LOCKSNAP_NO_FILE;
}

/* Numbers that older headers lack; they are the same on all architectures. */
enum { EPOLL_PWAIT2 = 441, FUTEX_WAITV = 449, FUTEX_WAIT = 455 };

/*
 * In these a task in state S waits for work, for another program or for a user: no resource blocks
 * it. Locks of files are not among them, nor are calls that the kernel answers itself.
 */
static const long idle_calls[] = {
	SYS_ppoll,	   SYS_pselect6,	SYS_epoll_pwait,
	SYS_nanosleep,	   SYS_clock_nanosleep, SYS_futex,
	SYS_wait4,	   SYS_waitid,		SYS_accept,
	SYS_accept4,	   SYS_connect,		SYS_recvfrom,
	SYS_recvmsg,	   SYS_recvmmsg,	SYS_sendto,
	SYS_sendmsg,	   SYS_sendmmsg,	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend, SYS_msgrcv,		SYS_msgsnd,
	SYS_semtimedop,	   SYS_semop,		SYS_io_getevents,
	SYS_io_pgetevents, SYS_io_uring_enter,	SYS_mq_timedreceive,
	SYS_mq_timedsend,  SYS_restart_syscall,
#ifdef SYS_poll
	SYS_poll,	   SYS_select,		SYS_epoll_wait,
	SYS_pause,
#endif
	FUTEX_WAITV,	   FUTEX_WAIT,		EPOLL_PWAIT2,
};

bool calls_is_idle(long number)
{
	for (size_t i = 0; i < sizeof(idle_calls) / sizeof(*idle_calls); i++)
		if (idle_calls[i] == number)
			return true;
	return false;
}

/* A file system without a device has a number that no device has: its major is 0. */
const char *calls_device(const char *sys, unsigned dev, char *ret, size_t size)
{
	char path[128], link[256];

	*ret = 0;
	if (!(dev >> 20))
		return ret;
	snprintf(path, sizeof(path), "%s/dev/block/%u:%u", sys, dev >> 20, dev & 0xfffff);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return ret;
	link[n] = 0;
	const char *slash = strrchr(link, '/');
	snprintf(ret, size, "%s", slash ? slash + 1 : link);
	return ret;
}

static bool has_sleep(const struct locksnap *s, int tid)
{
	for (size_t i = 0; i < s->n_sleeps; i++)
		if (s->sleeps[i].tid == tid)
			return true;
	return false;
}

const struct raw_call_file *calls_file(const struct raw_call *c, uint32_t *ret_doing)
{
	unsigned arg = 0;

	*ret_doing = calls_doing(c->number, &arg);
	return *ret_doing != LOCKSNAP_NO_FILE && arg < RAW_CALL_FILES && c->files[arg].known
		       ? &c->files[arg]
		       : NULL;
}

uint32_t calls_add_device(struct locksnap *s, const struct raw_call_file *f)
{
	char device[32];

	/* Btrfs has one of its devices there, and a number that no device has. */
	if (!f->rdev && !strncmp(f->fs, "btrfs", sizeof(f->fs)))
		return snapshot_locks_add_text(s, f->id, sizeof(f->id));
	calls_device("/sys", calls_device_number(f), device, sizeof(device));
	return snapshot_locks_add_text(s, device, sizeof(device));
}

int calls_add(struct locksnap *s, const struct locksnap_sleep *at, const char *proc, size_t most)
{
	struct locksnap_sleep to = *at;

	if (s->n_sleeps >= most || has_sleep(s, to.tid))
		return 0;
	to.file = snapshot_locks_add_path(s, proc, to.tid, to.fd);
	return locksnap_add_sleep(s, &to);
}

static bool waits_for_lock(const struct snapshot_locks_raw *raw, int tid)
{
	for (uint32_t i = 0; i < raw->state->n_waiters && i < RAW_LOCK_WAITERS; i++)
		if (raw->waiters[i].tid == tid)
			return true;
	return false;
}

int snapshot_locks_fill_call(const struct snapshot_locks_raw *raw, const struct raw_call *c,
			     int tid, struct locksnap *s)
{
	struct locksnap_sleep at = {.tid = tid};
	const struct raw_call_file *f = calls_file(c, &at.doing);

	if (!f || s->n_sleeps >= SLEEPS_MOST || waits_for_lock(raw, tid))
		return 0;
	at.fd = (int32_t)f->fd;
	at.device = calls_add_device(s, f);
	return calls_add(s, &at, raw->proc, SLEEPS_MOST);
}
