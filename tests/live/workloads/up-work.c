// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions to place uprobes on, and threads that call them a given number of times. Commands on
 * standard input, an answer a line:
 *
 * - run FUNCTION THREADS LOOPS: "ran CALLS" when all threads are done;
 * - block THREADS: "blocked TID...": each thread calls up_load() with a page that is not there, and
 *   stays in it;
 * - free: "freed" when these threads are done.
 *
 * The functions are written in assembler, so that their first instruction is known: up_nop,
 * up_nop5, up_push, up_ret, up_load.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 64 };

void up_nop(void *);
void up_nop5(void *);
void up_push(void *);
void up_ret(void *);
void up_load(void *);

#define BEGIN(name) ".balign 64\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"
#define END(name) ".size " #name ", . - " #name "\n"

#if defined(__x86_64__)
__asm__(".text\n" BEGIN(up_nop) "nop\n ret\n" END(up_nop)
		BEGIN(up_nop5) ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n" END(up_nop5)
			BEGIN(up_push) "push %rbp\n pop %rbp\n ret\n" END(up_push)
				BEGIN(up_ret) "ret\n" END(up_ret)
					BEGIN(up_load) "mov (%rdi), %rax\n ret\n" END(up_load));
#elif defined(__aarch64__)
__asm__(".text\n" BEGIN(up_nop) "nop\n ret\n" END(up_nop) BEGIN(up_nop5) "nop\n ret\n" END(up_nop5)
		BEGIN(up_push) "stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret\n" END(
			up_push) BEGIN(up_ret) "ret\n" END(up_ret)
			BEGIN(up_load) "ldr x0, [x0]\n ret\n" END(up_load));
#else
#error "no functions for this machine"
#endif

static const struct {
	const char *name;
	void (*call)(void *);
} functions[] = {
	{"up_nop", up_nop},
	{"up_nop5", up_nop5},
	{"up_push", up_push},
	{"up_ret", up_ret},
};

struct job {
	pthread_t thread;
	void (*call)(void *);
	void *arg;
	uint64_t loops;
	volatile pid_t tid;
};

static struct job jobs[THREADS];
static void *page;
static int fault_fd = -1;
static int n_blocked;

static void *work(void *arg)
{
	struct job *j = arg;

	j->tid = (pid_t)syscall(SYS_gettid);
	for (uint64_t i = 0; i < j->loops; i++)
		j->call(j->arg);
	return NULL;
}

static void start(int n, void (*call)(void *), void *arg, uint64_t loops)
{
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){.call = call, .arg = arg, .loops = loops};
		if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i])) {
			perror("pthread_create");
			exit(1);
		}
	}
}

static void join(int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(jobs[i].thread, NULL);
}

static void run(const char *name, int n, uint64_t loops)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		start(n, functions[i].call, NULL, loops);
		join(n);
		printf("ran %llu\n", (unsigned long long)loops * (unsigned)n);
		return;
	}
	printf("what is %s?\n", name);
}

/* A page whose first access waits for us. */
static bool make_page(void)
{
	long size = sysconf(_SC_PAGESIZE);
	struct uffdio_api api = {.api = UFFD_API};

	page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_register r = {.range = {(uintptr_t)page, (uint64_t)size},
				    .mode = UFFDIO_REGISTER_MODE_MISSING};
	return page != MAP_FAILED && fault_fd >= 0 && ioctl(fault_fd, UFFDIO_API, &api) == 0 &&
	       ioctl(fault_fd, UFFDIO_REGISTER, &r) == 0;
}

static void block(int n)
{
	if (!make_page()) {
		perror("userfaultfd");
		exit(1);
	}
	n_blocked = n;
	start(n, up_load, page, 1);
	printf("blocked");
	for (int i = 0; i < n; i++) {
		while (!jobs[i].tid)
			usleep(1000);
		printf(" %d", jobs[i].tid);
	}
	printf("\n");
}

static void unblock(void)
{
	struct uffdio_zeropage z = {.range = {(uintptr_t)page, (uint64_t)sysconf(_SC_PAGESIZE)}};

	ioctl(fault_fd, UFFDIO_ZEROPAGE, &z);
	join(n_blocked);
	close(fault_fd);
	printf("freed\n");
}

int main(void)
{
	char line[128], name[32];
	unsigned long long loops;
	int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "run %31s %d %llu", name, &n, &loops) == 3 && n <= THREADS)
			run(name, n, loops);
		else if (sscanf(line, "block %d", &n) == 1 && n <= THREADS)
			block(n);
		else if (strcmp(line, "free\n") == 0)
			unblock();
		else
			printf("what?\n");
	}
	return 0;
}
