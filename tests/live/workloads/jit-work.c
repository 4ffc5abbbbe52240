// SPDX-License-Identifier: GPL-2.0-only
/*
 * jit-work: makes a function at run time, describes it in a dump as compilers do (jit-PID.dump in
 * the given folder, mapped so that a reader of mappings finds it), and runs it until its standard
 * input ends or it has used 15 s of CPU time. The function is made as jit_first, moved, and a
 * second one, jit_second, takes its place. It prints "ready" when it begins. Without a folder it
 * writes only the names, to /tmp/perf-PID.map, which it does not remove.
 *
 *     jit-work [FOLDER]
 */
#include "over.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 77, PAGE = 4096, SECOND_AT = 512 };

/* A loop of some hundred thousand rounds, and back. */
#if defined(__x86_64__)
static const uint8_t code[] = {0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
enum { MACHINE = 62 };
#elif defined(__aarch64__)
static const uint8_t code[] = {0xe0, 0x01, 0xa0, 0x52, 0x00, 0x04, 0x00, 0x71,
			       0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6};
enum { MACHINE = 183 };
#else
static const uint8_t code[] = {0};
enum { MACHINE = 0 };
#endif

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_header(FILE *f)
{
	uint32_t h[] = {0x4a695444, 1, 40, MACHINE, 0, (uint32_t)getpid()};
	uint64_t t[] = {now_ns(), 0};

	fwrite(h, sizeof(h), 1, f);
	fwrite(t, sizeof(t), 1, f);
}

static void put_prefix(FILE *f, uint32_t kind, size_t len)
{
	uint32_t h[] = {kind, (uint32_t)(16 + 8 + len)};
	uint64_t t = now_ns();
	uint32_t who[] = {(uint32_t)getpid(), (uint32_t)getpid()};

	fwrite(h, sizeof(h), 1, f);
	fwrite(&t, sizeof(t), 1, f);
	fwrite(who, sizeof(who), 1, f);
}

static void put_load(FILE *f, const void *at, const char *name, uint64_t index)
{
	uint64_t b[] = {(uintptr_t)at, (uintptr_t)at, sizeof(code), index};

	put_prefix(f, 0, sizeof(b) + strlen(name) + 1 + sizeof(code));
	fwrite(b, sizeof(b), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
}

static void put_move(FILE *f, const void *from, const void *to, uint64_t index)
{
	uint64_t b[] = {(uintptr_t)from, (uintptr_t)from, (uintptr_t)to, sizeof(code), index};

	put_prefix(f, 1, sizeof(b));
	fwrite(b, sizeof(b), 1, f);
}

static FILE *open_dump(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!f)
		return NULL;
	put_header(f);
	fflush(f);
	return mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? NULL : f;
}

static void put_all(FILE *f, const uint8_t *at, const uint8_t *moved)
{
	put_load(f, at, "jit_first", 1);
	put_move(f, at, moved, 1);
	put_load(f, at, "jit_second", 2);
	fflush(f);
}

static FILE *open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void put_names(FILE *f, const uint8_t *at, const uint8_t *moved)
{
	fprintf(f, "%lx %zx jit_second\n%lx %zx jit_first\n", (unsigned long)(uintptr_t)at,
		sizeof(code), (unsigned long)(uintptr_t)moved, sizeof(code));
	fflush(f);
}

int main(int argc, char **argv)
{
	FILE *f = !MACHINE ? NULL : argc > 1 ? open_dump(argv[1]) : open_map();
	uint8_t *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*first)(void), (*second)(void);
	void *moved = at + SECOND_AT, *begin = at;

	if (!f || at == MAP_FAILED) {
		perror("jit-work: the dump or map, or memory for code");
		return MACHINE != 0 ? 1 : SKIP;
	}
	memcpy(at, code, sizeof(code));
	memcpy(moved, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + PAGE);
	if (argc > 1)
		put_all(f, at, moved);
	else
		put_names(f, at, moved);
	memcpy(&first, &moved, sizeof(first));
	memcpy(&second, &begin, sizeof(second));
	puts("ready");
	fflush(stdout);
	while (!over_is()) {
		first();
		second();
	}
	return 0;
}
