// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are made and deleted one after the other, each with its lock held and waited for: a
 * snapshot names the lock by the file of that moment, with the number and generation of its inode,
 * and where the kernel has reused the memory of a deleted one it reports another lock.
 * On the file system of the folder that the test runs in, and on tmpfs.
 */
#include "kontend/snapshot-locks.h"
#include "live.h"
#include "workloads/slow-page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, FOLDERS = 2, FILES = 40, ENOUGH = 5, LOOK_US = 300 };

static int failures;

struct round {
	struct slow_page *page;
	char path[200];
	int fd;
	struct stat st;
	_Atomic pid_t waiter;
};

static struct seen {
	uint64_t addr, ino;
	uint32_t generation;
} seen[FOLDERS * FILES];
static size_t n_seen;

static void *hold(void *arg)
{
	struct round *r = arg;

	if (write(r->fd, r->page->addr, 8) != 8)
		perror("write of a slow page");
	return NULL;
}

static void *wait_in_turn(void *arg)
{
	struct round *r = arg;

	r->waiter = gettid();
	if (pwrite(r->fd, "x", 1, 0) != 1)
		perror("pwrite");
	return NULL;
}

static const struct locksnap_queue *queue_of(const struct locksnap *s, pid_t tid)
{
	for (size_t i = 0; i < s->n_waiters; i++)
		if (s->waiters[i].tid == tid)
			return &s->queues[s->waiters[i].queue];
	return NULL;
}

static const struct locksnap_name *name_of(const struct locksnap *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_names; i++)
		if (s->names[i].addr == addr)
			return &s->names[i];
	return NULL;
}

static bool says_ended(const struct locksnap *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_ended; i++)
		if (s->ended[i] == addr)
			return true;
	return false;
}

static struct seen *seen_at(uint64_t addr)
{
	for (size_t i = n_seen; i-- > 0;)
		if (seen[i].addr == addr)
			return &seen[i];
	return NULL;
}

/* The file of this round has the lock; 1 where another one had it in an earlier round. */
static int check_name(const struct round *r, const struct locksnap *s, uint64_t addr)
{
	const struct locksnap_name *n = name_of(s, addr);
	const struct seen *before = seen_at(addr);
	long generation = 0;

	if (!live_check(&failures, n && n->kind == LOCKSNAP_INODE, "%s: its lock has no name",
			r->path))
		return 0;
	live_check(&failures, strcmp(locksnap_text(s, n->text), r->path) == 0,
		   "the lock of %s is called %s", r->path, locksnap_text(s, n->text));
	live_check(&failures, n->ino == r->st.st_ino && n->dev != 0,
		   "%s: inode %" PRIu64 " of device %u, wanted %" PRIu64, r->path, n->ino, n->dev,
		   (uint64_t)r->st.st_ino);
	if (ioctl(r->fd, FS_IOC_GETVERSION, &generation) == 0)
		live_check(&failures, (uint32_t)generation == n->generation,
			   "%s: generation %u, wanted %u", r->path, n->generation,
			   (uint32_t)generation);
	if (before) {
		live_check(&failures, says_ended(s, addr),
			   "%s: nothing says that the lock before it has ended", r->path);
		live_check(&failures, before->ino != n->ino || before->generation != n->generation,
			   "%s: inode %" PRIu64 " has the generation of the one before", r->path,
			   n->ino);
	} else {
		live_check(&failures, !says_ended(s, addr), "%s: its lock has ended", r->path);
	}
	seen[n_seen++] = (struct seen){addr, n->ino, n->generation};
	return before != NULL;
}

/* -1: the snapshot does not have the waiting task. */
static int take_snapshot(struct snapshot_locks *w, const struct round *r)
{
	struct locksnap s = {0}, again = {0};
	struct error err = {0};
	int used = -1;

	live_must(snapshot_locks_take(w, NULL, 0, &s, &err), &err);
	const struct locksnap_queue *q = queue_of(&s, r->waiter);
	if (q) {
		used = check_name(r, &s, q->addr);
		/* It is that file's as long as it is held. */
		live_must(snapshot_locks_take(w, NULL, 0, &again, &err), &err);
		live_check(&failures, !says_ended(&again, q->addr),
			   "%s: its lock has ended while it is held", r->path);
	}
	locksnap_deinit(&again);
	locksnap_deinit(&s);
	return used;
}

static int use_file(struct snapshot_locks *w, struct slow_page *page, const char *dir, int nth)
{
	struct round r = {.page = page};
	pthread_t holder, waiter;

	snprintf(r.path, sizeof(r.path), "%s/file-%d", dir, nth);
	r.fd = open(r.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (!live_check(&failures, r.fd >= 0 && fstat(r.fd, &r.st) == 0, "%s: %s", r.path,
			strerror(errno)))
		return 0;
	madvise(page->addr, PAGE, MADV_DONTNEED);
	pthread_create(&holder, NULL, hold, &r);
	live_check(&failures, slow_page_wait(page) == 0, "no task writes %s", r.path);
	pthread_create(&waiter, NULL, wait_in_turn, &r);
	while (!r.waiter || !slow_page_thread_sleeps(getpid(), r.waiter))
		usleep(LOOK_US);
	int used = take_snapshot(w, &r);
	live_check(&failures, slow_page_release(page) == 0, "%s stays locked", r.path);
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
	close(r.fd);
	unlink(r.path);
	return used;
}

/* False: waiters are not seen by this kernel. */
static bool use_files(struct snapshot_locks *w, struct slow_page *page, const char *parent)
{
	char dir[100], *real = NULL;
	int used = 0, found = 0;

	snprintf(dir, sizeof(dir), "%s/kontend-lock-files-XXXXXX", parent);
	if (!mkdtemp(dir) || !(real = realpath(dir, NULL))) {
		printf("%s: %s\n", parent, strerror(errno));
		return true;
	}
	for (int i = 0; i < FILES && used < ENOUGH && found >= 0; i++) {
		found = use_file(w, page, real, i);
		used += found > 0;
	}
	rmdir(dir);
	free(real);
	printf("%s: memory of inodes was used again %d times\n", dir, used);
	return found >= 0;
}

int main(void)
{
	struct snapshot_locks *w;
	struct slow_page page = {0};
	struct error err = {0};

	live_need_root();
	int code = snapshot_locks_new(&w, false, NULL, &err);
	if (code < 0) {
		printf("%s\n", err.text);
		return LIVE_SKIP;
	}
	code = slow_page_uffd(&page, 1);
	if (code < 0) {
		printf("no holder that sleeps: %s\n", strerror(-code));
		return LIVE_SKIP;
	}
	const char *const folders[FOLDERS] = {".", "/dev/shm"};
	bool sees = true;
	for (int i = 0; i < FOLDERS && sees; i++)
		sees = use_files(w, &page, folders[i]);
	snapshot_locks_free(w);
	if (!sees && !failures) {
		printf("this kernel does not say what tasks are blocked on\n");
		return LIVE_SKIP;
	}
	return failures != 0;
}
