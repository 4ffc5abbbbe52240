// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bounded storm on five kernel locks, for comparing two observers of the same events: it makes
 * its threads, stops itself (SIGSTOP) so that both can attach to all of them, and does a fixed
 * number of rounds after SIGCONT. Each thread goes through all kinds: mmap_lock, i_rwsem of a
 * directory, a pipe's mutex, a futex bucket's spinlock. How often it waits there is the
 * scheduler's affair; but where holders can be made to sleep, it also passes up to GATES gates (see
 * gate.h), so that it waits so often at a mutex and an rwsem.
 *
 *     storm THREADS ROUNDS [go]      ("go": without stopping)
 */
#include "gate.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 64, LEN = 64 << 10, PAGE = 4096, GATES = 60 };

struct storm {
	int rounds, dir, pipe[2];
	int gates; /* 0: there are none */
	uint32_t word;
	struct gate gate;
	pthread_barrier_t ready;
};

struct worker {
	struct storm *storm;
	int index;
};

static void map_round(void)
{
	volatile char *p =
		mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t k = 0; k < LEN; k += PAGE)
		p[k] = 1;
	munmap((void *)(uintptr_t)p, LEN);
}

static void dir_round(struct storm *s, int index)
{
	char name[16];

	snprintf(name, sizeof(name), "d%d", index);
	mkdirat(s->dir, name, 0700);
	unlinkat(s->dir, name, AT_REMOVEDIR);
}

static void pipe_round(struct storm *s)
{
	char buf[PAGE] = {0};

	for (int k = 0; k < 16; k++) {
		if (write(s->pipe[1], buf, sizeof(buf)) < 0 ||
		    read(s->pipe[0], buf, sizeof(buf)) < 0)
			return;
	}
}

static void futex_round(struct storm *s)
{
	for (int k = 0; k < 32; k++)
		syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct storm *s = w->storm;

	gate_join(&s->gate, w->index);
	pthread_barrier_wait(&s->ready);
	for (int r = 0, gate = 0; r < s->rounds; r++) {
		if (r * (long)s->gates / s->rounds >= gate && gate < s->gates &&
		    gate_pass(&s->gate, w->index, gate++))
			perror("storm: gate");
		map_round();
		dir_round(s, w->index);
		pipe_round(s);
		futex_round(s);
	}
	return NULL;
}

/*
 * A tmpfs of our own that is mounted nowhere: nothing to clean up. Only root may have that; for
 * others a folder @path is made.
 */
static int open_dir(char *path)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (fs >= 0 && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		return fsmount(fs, FSMOUNT_CLOEXEC, 0);
	strcpy(path, "/tmp/storm-XXXXXX");
	return mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0;
	struct storm s = {.rounds = n ? atoi(argv[2]) : 0};
	struct worker workers[MAX_THREADS];
	char path[32] = "";
	pthread_t threads[MAX_THREADS];

	if (n < 1 || n > MAX_THREADS || s.rounds < 1) {
		fprintf(stderr, "usage: storm THREADS ROUNDS [go]\n");
		return 129;
	}
	s.dir = open_dir(path);
	if (s.dir < 0 || pipe2(s.pipe, O_CLOEXEC | O_NONBLOCK) ||
	    pthread_barrier_init(&s.ready, NULL, (unsigned)n + 1)) {
		perror("storm");
		return 1;
	}
	s.gates = s.rounds < GATES ? s.rounds : GATES;
	if (*path || gate_init(&s.gate, n, s.dir))
		s.gates = 0;
	for (int k = 0; k < n; k++) {
		workers[k] = (struct worker){&s, k};
		if (pthread_create(&threads[k], NULL, worker_main, &workers[k]))
			return 1;
	}
	if (argc < 4)
		raise(SIGSTOP);
	pthread_barrier_wait(&s.ready);
	for (int k = 0; k < s.gates; k++)
		if (gate_open(&s.gate, k))
			return 1;
	for (int k = 0; k < n; k++)
		pthread_join(threads[k], NULL);
	if (*path)
		rmdir(path);
	return 0;
}
