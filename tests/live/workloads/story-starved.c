// SPDX-License-Identifier: GPL-2.0-only
/*
 * story-starved WRITES READERS SIZE_MB: a writer that readers keep waiting, as a monitor does to a
 * large process: READERS threads of another process read smaps of this one, for which they have its
 * mmap_lock for reading while SIZE_MB of it are counted page by page. The writer is a thread of
 * this one that maps a page, and unmaps it, every few ms, until that took more than 1 ms for WRITES
 * times.
 *
 * Prints a "write" for each mmap() and munmap() that took more than 1 ms, with how long of that it
 * slept, which it does for the lock alone; "writes" with the number of all; and for each reader
 * "reads": how many took that long, and how many began after a write and were back before it was.
 */
#include "tell.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 32, PAGE = 4096, REST_US = 3000, READS = 1 << 16, WRITES = 1 << 14 };

static const uint64_t LONG_NS = 1000000;

struct span {
	uint64_t from, to, asleep;
};

struct moment {
	uint64_t ns;
	struct tell_sched sched;
};

struct reader {
	pid_t tid;
	size_t n;
	struct span reads[READS]; /* those that took long */
};

/* Shared by both processes. */
struct shared {
	volatile bool is_over;
	pid_t pid;
	struct reader readers[MOST];
};

struct writer {
	struct span writes[WRITES];
	size_t n, all;
	pid_t tid;
};

static struct shared *shared;
static struct writer writer;

static bool read_smaps(struct reader *r, int fd, char *buf, size_t len)
{
	struct span s = {.from = tell_now()};
	ssize_t n = read(fd, buf, len);

	s.to = tell_now();
	if (s.to - s.from > LONG_NS && r->n < READS)
		r->reads[r->n++] = s;
	return n > 0;
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	char path[64], buf[65536];

	r->tid = tell_tid();
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)shared->pid);
	while (!shared->is_over) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			tell_fail(path);
		while (!shared->is_over && read_smaps(r, fd, buf, sizeof(buf)))
			;
		close(fd);
	}
	return NULL;
}

static _Noreturn void readers_main(int n)
{
	pthread_t threads[MOST];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < n; i++)
		threads[i] = tell_thread(reader_main, &shared->readers[i]);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static struct moment now(void)
{
	struct tell_sched sched = tell_sched();

	return (struct moment){tell_now(), sched};
}

static void keep(struct moment from)
{
	uint64_t to = tell_now();

	writer.all++;
	if (to - from.ns > LONG_NS && writer.n < WRITES)
		writer.writes[writer.n++] = (struct span){
			from.ns, to, tell_asleep(from.ns, to, from.sched, tell_sched())};
}

static void *writer_main(void *arg)
{
	const size_t *wanted = arg;

	writer.tid = tell_tid();
	while (writer.n < *wanted) {
		struct moment from = now();
		void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		keep(from);
		usleep(REST_US);
		from = now();
		if (p == MAP_FAILED || munmap(p, PAGE))
			tell_fail("mmap, munmap");
		keep(from);
		usleep(REST_US);
	}
	return NULL;
}

static size_t passed(const struct reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < writer.n; i++)
		for (size_t k = 0; k < r->n; k++)
			n += r->reads[k].from > writer.writes[i].from &&
			     r->reads[k].to < writer.writes[i].to;
	return n;
}

static void print_result(int n_readers)
{
	for (size_t i = 0; i < writer.n; i++)
		printf("write tid=%d from=%" PRIu64 " to=%" PRIu64 " asleep=%" PRIu64 "\n",
		       (int)writer.tid, writer.writes[i].from, writer.writes[i].to,
		       writer.writes[i].asleep);
	printf("writes tid=%d count=%zu\n", (int)writer.tid, writer.all);
	for (int i = 0; i < n_readers; i++) {
		const struct reader *r = &shared->readers[i];
		uint64_t sum = 0, longest = 0;
		for (size_t k = 0; k < r->n; k++) {
			uint64_t ns = r->reads[k].to - r->reads[k].from;
			sum += ns;
			longest = ns > longest ? ns : longest;
		}
		printf("reads tid=%d count=%zu sum=%" PRIu64 " longest=%" PRIu64 " passed=%zu\n",
		       (int)r->tid, r->n, sum, longest, passed(r));
	}
}

int main(int argc, char **argv)
{
	size_t writes = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	int n = argc == 4 ? atoi(argv[2]) : 0;
	size_t size = argc == 4 ? strtoul(argv[3], NULL, 10) << 20 : 0;

	if (writes < 1 || writes > WRITES || n < 1 || n > MOST || !size)
		return 2;
	alarm(200);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		tell_fail("mmap");
	shared->pid = getpid();
	pid_t readers = fork();
	if (readers == 0)
		readers_main(n);
	/* After the fork: the readers have none of it. */
	char *large = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (readers < 0 || large == MAP_FAILED || madvise(large, size, MADV_NOHUGEPAGE))
		tell_fail("mmap");
	for (size_t i = 0; i < size; i += PAGE)
		large[i] = 1;
	pthread_join(tell_thread(writer_main, &writes), NULL);
	shared->is_over = true;
	waitpid(readers, NULL, 0);
	print_result(n);
	return 0;
}
