// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enters the sandbox in this order: capabilities, Landlock, seccomp. A process that has given up
 * the way to new rights may still restrict itself further; the filter of calls would prevent the
 * other two steps.
 *
 * Landlock decides which files may be opened. The numbers here are the kernel's, as the headers of
 * a compiler may be older than the kernel. All rights that the kernel's version knows are refused,
 * except those that the caller lists: the process cannot run, make, remove or rename files, bind or
 * connect to ports (version 4), control devices (5), send signals or reach abstract sockets outside
 * (6). Files that are already open stay usable.
 */
#include "kontend/sandbox.h"
#include "kontend/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

/* Older kernels refuse members that they do not know. */
static int new_ruleset(const struct ruleset *all, int known)
{
	size_t size = known >= 6 ? sizeof(*all) : known >= 4 ? 16 : 8;
	int fd = (int)syscall(SYS_landlock_create_ruleset, all, size, 0);

	return fd < 0 ? -errno : fd;
}

/* Files can be read, and nothing else; ports connected to. 0 or -errno. */
static int sandbox_restrict_writes(void)
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

/*
 * Each: 0 or -errno; -ENOSYS, -EOPNOTSUPP, -EPERM, -EINVAL: this kernel, or the container, has
 * none.
 */
static int sandbox_restrict_files(const struct sandbox_path *paths, size_t n)
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
static void become_unknown(void)
{
	if (geteuid() != 0 || syscall(SYS_setgroups, 0, NULL) < 0)
		return;
	if (syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0)
		(void)!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

int sandbox_only_connect(void)
{
	become_unknown();
	int r = rights_give_up();
	if (r == 0)
		(void)sandbox_restrict_writes();
	return r;
}
