// SPDX-License-Identifier: GPL-2.0-only
/*
 * Landlock: which files may be opened. By the kernel's own numbers, as a compiler's headers may be
 * older than the kernel. All rights that its version knows are refused, except those that are
 * listed: nothing is run, made, removed or renamed, no port is bound or connected to (version 4),
 * no device controlled (5), no signal sent and no abstract socket reached outside (6). Files that
 * are open already stay usable.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
	ASK_VERSION = 1,
	PATH_BENEATH = 1,
	VERSIONS = 6,
};

enum {
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_IOCTL_DEV = 1 << 15,
};

/* The rights that each version knows: files, network, scopes. */
static const struct {
	uint64_t files, net, scopes;
} handled[VERSIONS + 1] = {
	{0, 0, 0},	{0x1fff, 0, 0}, {0x3fff, 0, 0}, {0x7fff, 0, 0},
	{0x7fff, 3, 0}, {0xffff, 3, 0}, {0xffff, 3, 3},
};

struct ruleset {
	uint64_t files, net, scopes;
};

struct beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

int sandbox_landlock(void)
{
	long n = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	return n < 0 ? -errno : (int)n;
}

static uint64_t rights_of(unsigned access, bool is_folder)
{
	uint64_t r = access & SANDBOX_READ ? FS_READ_FILE : 0;

	r |= access & SANDBOX_WRITE ? FS_WRITE_FILE | FS_IOCTL_DEV : 0;
	return is_folder && access & SANDBOX_LIST ? r | FS_READ_DIR : r;
}

static int add_path(int ruleset, const struct sandbox_path *p, uint64_t known)
{
	int fd = p->path ? open(p->path, O_PATH | O_CLOEXEC) : p->fd;
	struct beneath rule = {.fd = fd};
	struct stat st;
	int r = 0;

	if (fd < 0)
		return 0;
	rule.access = fstat(fd, &st) < 0 ? 0 : known & rights_of(p->access, S_ISDIR(st.st_mode));
	if (rule.access && syscall(SYS_landlock_add_rule, ruleset, PATH_BENEATH, &rule, 0) < 0)
		r = -errno;
	if (p->path)
		close(fd);
	/* An object outside of file systems, such as a pipe, is not restricted either. */
	return r == -EBADFD || r == -EBADF ? 0 : r;
}

/* Older ones refuse members that they do not know. */
static int new_ruleset(const struct ruleset *all, int known)
{
	size_t size = known >= 6 ? sizeof(*all) : known >= 4 ? 16 : 8;
	int fd = (int)syscall(SYS_landlock_create_ruleset, all, size, 0);

	return fd < 0 ? -errno : fd;
}

int sandbox_restrict_writes(void)
{
	int version = sandbox_landlock(), r = 0;
	const int known = version < VERSIONS ? version : VERSIONS;

	if (version <= 0)
		return version < 0 ? version : -ENOSYS;
	const struct ruleset all = {.files = handled[known].files &
					     ~(uint64_t)(FS_READ_FILE | FS_READ_DIR),
				    .scopes = handled[known].scopes};
	int fd = new_ruleset(&all, known);
	if (fd < 0)
		return fd;
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	close(fd);
	return r;
}

int sandbox_restrict_files(const struct sandbox_path *paths, size_t n)
{
	int version = sandbox_landlock();
	const int known = version < VERSIONS ? version : VERSIONS;

	if (version <= 0)
		return version < 0 ? version : -ENOSYS;
	struct ruleset all = {handled[known].files, handled[known].net, handled[known].scopes};
	int fd = new_ruleset(&all, known), r = 0;

	if (fd < 0)
		return fd;
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_path(fd, &paths[i], all.files);
	if (r == 0 && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	close(fd);
	return r;
}
