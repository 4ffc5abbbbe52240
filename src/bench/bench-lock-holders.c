// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holders of the locks. If the kernel copies from or to a page that is registered with
 * userfaultfd and missing, it sleeps until it gets the page, with the lock that protects the copy.
 * A waiter's call takes its lock once: it writes a byte into the pipe, removes a name that is not
 * in the directory, or lists the directory. The lock in memory belongs to this process alone; the
 * leading thread holds it.
 */
#include "bench-lock-int.h"
#include "kontend/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mount.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, LOOK_US = 50 };

static void *holder_main(void *arg)
{
	struct bench_lock_held *h = arg;

	for (uint64_t round = 1; round <= h->rounds; round++) {
		while (h->hold_go < round && !h->done)
			clock_sleep_ns(LOOK_US * 1000u);
		if (h->done)
			break;
		int r = h->ops->hold(h);
		madvise(h->page, BENCH_LOCK_PAGE, MADV_DONTNEED);
		if (r < 0)
			h->failed = -r;
		h->hold_left = round;
	}
	return NULL;
}

static int prepare_page(struct bench_lock_held *h, struct error *err)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	h->page_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (h->page_fd < 0)
		return error_errno(
			err, errno == ENOSYS ? -EOPNOTSUPP : -errno,
			"Cannot hold %s: userfaultfd needs root or vm.unprivileged_userfaultfd=1",
			h->ops->lock);
	h->page = mmap(NULL, BENCH_LOCK_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (h->page == MAP_FAILED) {
		h->page = NULL;
		return error_errno(err, -errno, "Cannot map a page");
	}
	reg.range.start = (uintptr_t)h->page;
	reg.range.len = BENCH_LOCK_PAGE;
	if (ioctl(h->page_fd, UFFDIO_API, &api) || ioctl(h->page_fd, UFFDIO_REGISTER, &reg))
		return error_errno(err, -EOPNOTSUPP, "Cannot register a page with userfaultfd");
	int r = pthread_create(&h->holder, NULL, holder_main, h);
	h->has_holder = r == 0;
	return r ? error_errno(err, -r, "Cannot start a thread that holds %s", h->ops->lock) : 0;
}

static int begin(struct bench_lock_held *h)
{
	struct pollfd p = {.fd = h->page_fd, .events = POLLIN};
	struct uffd_msg msg;

	h->hold_go = h->hold_left + 1;
	if (poll(&p, 1, PATIENCE_MS) != 1)
		return h->failed ? -h->failed : -ETIMEDOUT;
	return read(h->page_fd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg) ? 0 : -errno;
}

static int end(struct bench_lock_held *h)
{
	struct uffdio_zeropage z = {.range = {(uintptr_t)h->page, BENCH_LOCK_PAGE}};
	uint64_t round = h->hold_go;

	/* EAGAIN while the address space changes. */
	while (ioctl(h->page_fd, UFFDIO_ZEROPAGE, &z))
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	while (h->hold_left < round)
		clock_sleep_ns(LOOK_US * 1000u);
	return 0;
}

static void close_page(struct bench_lock_held *h)
{
	h->done = true;
	/* Threads that still sleep in the page continue then. */
	if (h->page_fd >= 0)
		close(h->page_fd);
	if (h->has_holder)
		pthread_join(h->holder, NULL);
	if (h->page)
		munmap(h->page, BENCH_LOCK_PAGE);
}

static void close_files(struct bench_lock_held *h)
{
	close_page(h);
	for (int i = 0; i < 2; i++)
		if (h->fds[i] >= 0)
			close(h->fds[i]);
	if (h->dir[0])
		rmdir(h->dir);
}

static int pipe_prepare(struct bench_lock_held *h, struct error *err)
{
	if (pipe2(h->fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "Cannot make a pipe");
	return prepare_page(h, err);
}

static int pipe_hold(struct bench_lock_held *h)
{
	return write(h->fds[1], h->page, 1) == 1 ? 0 : -errno;
}

static int pipe_wait(struct bench_lock_held *h, const struct bench_lock_waiter *w)
{
	(void)w;
	return write(h->fds[1], "x", 1) == 1 ? 0 : -errno;
}

/* Empties the pipe of earlier data, so that it is never full. */
static int pipe_begin(struct bench_lock_held *h)
{
	char buf[BENCH_LOCK_PAGE];

	if (h->hold_left && read(h->fds[0], buf, sizeof(buf)) < 0)
		return -errno;
	return begin(h);
}

/* A tmpfs that is mounted nowhere, if permitted: it disappears with this process. */
static int detached_dir(void)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC), fd = -1;

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
				  MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID);
	if (fs >= 0)
		close(fs);
	return fd;
}

static int named_dir(struct bench_lock_held *h, struct error *err)
{
	const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(h->dir, sizeof(h->dir), "%s/kontend-bench-XXXXXX", base);
	if (!mkdtemp(h->dir)) {
		int code = -errno;
		h->dir[0] = '\0';
		return error_errno(err, code, "Cannot make a directory below %s", base);
	}
	h->fds[0] = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return h->fds[0] < 0 ? error_errno(err, -errno, "Cannot open %s", h->dir) : 0;
}

static int dir_prepare(struct bench_lock_held *h, struct error *err)
{
	int r = 0;

	h->fds[0] = detached_dir();
	if (h->fds[0] < 0)
		r = named_dir(h, err);
	return r < 0 ? r : prepare_page(h, err);
}

/* Each thread has a descriptor of its own: a shared one would add a lock of its own. */
static int dir_list(struct bench_lock_held *h, void *buf)
{
	int fd = openat(h->fds[0], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int r = syscall(SYS_getdents64, fd, buf, BENCH_LOCK_PAGE) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int dir_hold(struct bench_lock_held *h)
{
	return dir_list(h, h->page);
}

static int dir_wait(struct bench_lock_held *h, const struct bench_lock_waiter *w)
{
	char buf[BENCH_LOCK_PAGE];

	if (w->index >= h->writers)
		return dir_list(h, buf);
	return unlinkat(h->fds[0], "nothing", 0) < 0 && errno == ENOENT ? 0 : -errno;
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void word_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange(word, 0) == 2)
		futex(word, FUTEX_WAKE, 1);
}

static int word_prepare(struct bench_lock_held *h, struct error *err)
{
	(void)h;
	(void)err;
	return 0;
}

static int word_begin(struct bench_lock_held *h)
{
	h->word = 1;
	return 0;
}

static int word_end(struct bench_lock_held *h)
{
	word_unlock(&h->word);
	return 0;
}

static int word_wait(struct bench_lock_held *h, const struct bench_lock_waiter *w)
{
	(void)w;
	while (atomic_exchange(&h->word, 2))
		futex(&h->word, FUTEX_WAIT, 2);
	word_unlock(&h->word);
	return 0;
}

static void word_close(struct bench_lock_held *h)
{
	(void)h;
}

const struct bench_lock_held_ops bench_lock_pipe = {
	"the mutex of a pipe", {"mutex", NULL}, 'D', pipe_prepare, pipe_begin, end, pipe_wait,
	close_files,	       pipe_hold,
};
const struct bench_lock_held_ops bench_lock_dir = {
	"the i_rwsem of a directory",
	{"rwsem:W", "rwsem:R"},
	'D',
	dir_prepare,
	begin,
	end,
	dir_wait,
	close_files,
	dir_hold,
};
/* The kernel has no lock here: to it, the waiters are ordinary sleeping tasks. */
const struct bench_lock_held_ops bench_lock_word = {
	"a lock in memory", {NULL, NULL}, 'S',	      word_prepare, word_begin,
	word_end,	    word_wait,	  word_close, NULL,
};
