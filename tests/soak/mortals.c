// SPDX-License-Identifier: GPL-2.0-only
/*
 * mortals: one short process after the other, of all kinds in turn, until its standard input ends:
 * one that does nothing, one that executes another program, threads that fight for the mmap_lock,
 * code in anonymous memory with and without a map of names, and a program of its own whose file is
 * gone when it ends. One more with code in anonymous memory runs all the while. Prints "ready" when
 * it begins, and the number of processes at its end.
 *
 *     mortals FOLDER PER-SECOND
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, TEXT = 4096, MAPPINGS = 200, CALLS = 8, MS = 1000, THREADS = 2 };

/* A loop of some hundred thousand rounds, and back. */
#if defined(__x86_64__)
static const uint8_t code[] = {0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
#elif defined(__aarch64__)
static const uint8_t code[] = {0xe0, 0x01, 0xa0, 0x52, 0x00, 0x04, 0x00, 0x71,
			       0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};
#else
static const uint8_t code[] = {0};
#endif

static const char *folder;

static void do_nothing(unsigned n)
{
	(void)n;
}

static void execute(unsigned n)
{
	(void)n;
	execlp("true", "mortal-true", (char *)NULL);
}

static void *map_and_unmap(void *unused)
{
	for (int i = 0; i < MAPPINGS; i++) {
		char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p == MAP_FAILED)
			break;
		*p = 1;
		munmap(p, PAGE);
	}
	return unused;
}

static void fight(unsigned n)
{
	pthread_t threads[THREADS];
	int made = 0;

	(void)n;
	while (made < THREADS && !pthread_create(&threads[made], NULL, map_and_unmap, NULL))
		made++;
	while (made > 0)
		pthread_join(threads[--made], NULL);
}

/* Where no code is known for the machine, nothing runs. */
static void (*make_code(void))(void)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	void (*run)(void);

	if (p == MAP_FAILED || sizeof(code) == 1)
		return NULL;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, (char *)p + sizeof(code));
	memcpy(&run, &p, sizeof(run));
	return run;
}

static void run_code(unsigned n)
{
	void (*run)(void) = make_code();

	for (unsigned i = 0; run && i < CALLS + n % CALLS; i++)
		run();
}

static void run_code_with_map(unsigned n)
{
	void (*run)(void) = make_code();
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = run ? fopen(path, "wxe") : NULL;
	if (!f)
		return;
	for (unsigned i = 0; i < TEXT / 16; i++)
		fprintf(f, "%lx 10 function_%u_%u\n", (unsigned long)(uintptr_t)run + i * 16, n, i);
	fclose(f);
	for (int i = 0; i < CALLS; i++)
		run();
	unlink(path);
}

static bool copy_program(const char *to)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	struct stat st;
	bool done = in >= 0 && out >= 0 && fstat(in, &st) == 0 &&
		    sendfile(out, in, NULL, (size_t)st.st_size) == st.st_size;

	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return done;
}

static void execute_own(unsigned n)
{
	char path[PAGE];

	snprintf(path, sizeof(path), "%s/mortal-%u", folder, n);
	if (copy_program(path))
		execl(path, path, "--last-words", path, (char *)NULL);
	unlink(path);
}

static int last_words(const char *path)
{
	volatile unsigned rounds = 0;

	unlink(path);
	while (rounds < 3000000)
		rounds++;
	return 0;
}

static void (*const kinds[])(unsigned n) = {do_nothing, execute,	   fight,
					    run_code,	run_code_with_map, execute_own};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void live_and_die(unsigned n)
{
	char name[16];

	snprintf(name, sizeof(name), "mortal-%u", n);
	prctl(PR_SET_NAME, name);
	kinds[n % KINDS](n);
	_exit(0);
}

/* A fifth of a CPU. */
static void stay(void)
{
	void (*run)(void) = make_code();
	const struct timespec pause = {0, 4 * MS * MS};

	prctl(PR_SET_NAME, "immortal");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		for (int i = 0; run && i < CALLS / 2; i++)
			run();
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned n = 0;

	if (argc == 3 && !strcmp(argv[1], "--last-words"))
		return last_words(argv[2]);
	int per_s = argc == 3 ? atoi(argv[2]) : 0;
	if (per_s <= 0)
		return 2;
	folder = argv[1];
	pid_t immortal = fork();
	if (immortal == 0)
		stay();
	puts("ready");
	fflush(stdout);
	while (poll(&in, 1, MS / per_s) == 0) {
		if (fork() == 0)
			live_and_die(n);
		n++;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	kill(immortal, SIGKILL);
	printf("%u processes\n", n);
	return 0;
}
