// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that the kernel has to wait for. A userfaultfd page sleeps in any copy to or from user
 * memory that the kernel does with a lock held, except under mmap_lock, which is dropped while a
 * userfaultfd is asked. For that one there is a page of a file on a FUSE mount of our own: its
 * fault by way of /proc/self/mem may not be retried, so that filemap_fault() sleeps on the page
 * with mmap_lock held for reading (mm/memory.c __access_remote_vm(), 6.1 to 6.18). The mount is
 * detached and its root is the file itself: nothing has to be cleaned up, whatever happens.
 */
#include "slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, FUSE_BUF = 1 << 17 };

int slow_page_uffd(struct slow_page *p, size_t n_pages)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	*p = (struct slow_page){.n_pages = n_pages};
	p->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	p->addr = mmap(NULL, n_pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (p->addr == MAP_FAILED || ioctl(p->fd, UFFDIO_API, &api))
		return -errno;
	reg.range.start = (uintptr_t)p->addr;
	reg.range.len = n_pages * PAGE;
	return ioctl(p->fd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

int slow_page_fuse_mount(struct slow_page *p, size_t n_pages)
{
	char text[16];
	int fs = fsopen("fuse", FSOPEN_CLOEXEC);

	*p = (struct slow_page){.n_pages = n_pages, .is_fuse = 1};
	p->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fs < 0 || p->fd < 0)
		return -errno;
	snprintf(text, sizeof(text), "%d", p->fd);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "fd", text, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "rootmode", "100644", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "user_id", "0", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "group_id", "0", 0) ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	p->mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (p->mount < 0)
		return -errno;
	close(fs);
	return 0;
}

int slow_page_fuse_map(struct slow_page *p)
{
	char path[32];
	struct stat st; /* fstat() makes the kernel learn the size */
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->mount);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	p->addr = mmap(NULL, p->n_pages * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p->addr == MAP_FAILED || madvise(p->addr, p->n_pages * PAGE, MADV_RANDOM))
		return -errno;
	close(fd);
	return 0;
}

static int fuse_answer(struct slow_page *p, uint64_t unique, int error, const void *data,
		       size_t len)
{
	char buf[sizeof(struct fuse_out_header) + PAGE];
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + len), .error = error, .unique = unique};

	memcpy(buf, &h, sizeof(h));
	if (len)
		memcpy(buf + sizeof(h), data, len);
	return write(p->fd, buf, h.len) < 0 ? -errno : 0;
}

static int fuse_answer_attr(struct slow_page *p, uint64_t unique)
{
	struct fuse_attr_out out = {.attr_valid = 3600};

	out.attr.ino = FUSE_ROOT_ID;
	out.attr.mode = S_IFREG | 0644;
	out.attr.nlink = 1;
	out.attr.size = p->n_pages * PAGE;
	return fuse_answer(p, unique, 0, &out, sizeof(out));
}

static int fuse_answer_init(struct slow_page *p, uint64_t unique)
{
	/* No read-ahead: each page must be asked for by its own fault. */
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_write = PAGE,
				    .time_gran = 1};

	return fuse_answer(p, unique, 0, &out, sizeof(out));
}

/* One request; 1 when it is the read that is now held back. */
static int fuse_serve(struct slow_page *p, char *buf)
{
	struct fuse_in_header *in = (struct fuse_in_header *)(void *)buf;
	struct fuse_open_out opened = {0};

	if (read(p->fd, buf, FUSE_BUF) < 0)
		return errno == EINTR || errno == EAGAIN || errno == ENOENT ? 0 : -errno;
	switch (in->opcode) {
	case FUSE_INIT:
		return fuse_answer_init(p, in->unique);
	case FUSE_GETATTR:
		return fuse_answer_attr(p, in->unique);
	case FUSE_OPEN:
		return fuse_answer(p, in->unique, 0, &opened, sizeof(opened));
	case FUSE_READ:
		p->held_unique = in->unique;
		return 1;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return 0;
	default:
		return fuse_answer(p, in->unique, -ENOSYS, NULL, 0);
	}
}

static int fuse_wait(struct slow_page *p)
{
	static _Alignas(8) char buf[FUSE_BUF];
	int r;

	do
		r = fuse_serve(p, buf);
	while (r == 0);
	return r < 0 ? r : 0;
}

int slow_page_wait(struct slow_page *p)
{
	struct uffd_msg msg;

	if (p->is_fuse)
		return fuse_wait(p);
	if (read(p->fd, &msg, sizeof(msg)) != (ssize_t)sizeof(msg))
		return errno ? -errno : -EIO;
	p->held_offset = msg.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
	return msg.event == UFFD_EVENT_PAGEFAULT ? 0 : -EPROTO;
}

int slow_page_release(struct slow_page *p)
{
	static const char zero[PAGE];
	struct uffdio_zeropage z = {.range = {.start = p->held_offset, .len = PAGE}};

	if (p->is_fuse)
		return fuse_answer(p, p->held_unique, 0, zero, PAGE);
	/* The address space may be changing at this moment. */
	while (ioctl(p->fd, UFFDIO_ZEROPAGE, &z)) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* A thread's line in /proc, in one read; false if it cannot be read. */
static bool read_thread_file(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

char slow_page_thread_state(pid_t pid, pid_t tid)
{
	char buf[256];
	const char *p;

	if (!read_thread_file(pid, tid, "stat", buf, sizeof(buf)))
		return 0;
	p = strrchr(buf, ')');
	return p && p[1] == ' ' ? p[2] : 0;
}

/* For the call that a thread is in the kernel waits until the thread is off its CPU. */
bool slow_page_thread_sleeps(pid_t pid, pid_t tid)
{
	char buf[256];

	return slow_page_thread_state(pid, tid) == 'D' &&
	       read_thread_file(pid, tid, "syscall", buf, sizeof(buf)) &&
	       strncmp(buf, "running", strlen("running")) != 0;
}
