// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that may sleep for a file which an argument names, by this architecture's numbers.
 * Where there are two files it is the one that is written, whose lock is held the longest.
 */
#include "calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	long number;
	enum locksnap_doing doing;
	unsigned arg;
} known[] = {
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
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].number == number) {
			*ret_arg = known[i].arg;
			return known[i].doing;
		}
	return LOCKSNAP_NO_FILE;
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
