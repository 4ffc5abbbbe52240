// SPDX-License-Identifier: GPL-2.0-only
/*
 * For so many seconds, threads wait for locks in system calls that name a file, a pipe, a socket, a
 * mapping and a process: they write to one file, to and from one pipe, from one socket, unmap what
 * they have mapped of another file, and read the memory of a child that does so. In the folder of
 * the first argument.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 1 << 16, MAPPED = 1 << 22, PAGE = 4096, THREADS = 2 };

static int file, mapped, ends[2], sockets[2];
static pid_t child;
static char *folder;

__attribute__((noinline)) static void write_file(const char *bytes)
{
	if (pwrite(file, bytes, BYTES, 0) < 0)
		abort();
}

__attribute__((noinline)) static void touch_mapping(void)
{
	char *p = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE, mapped, 0);

	if (p == MAP_FAILED)
		abort();
	for (int i = 0; i < MAPPED; i += PAGE)
		p[i] = 1;
	if (munmap(p, MAPPED))
		abort();
}

__attribute__((noinline)) static void take_lock(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/locked", folder);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		abort();
	usleep(2000);
	close(fd);
}

static void *writer(void *arg)
{
	static char bytes[BYTES];

	for (;;)
		write_file(bytes);
	return arg;
}

static void *to_pipe(void *arg)
{
	static char bytes[BYTES];

	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		continue;
	return arg;
}

static void *from_pipe(void *arg)
{
	char bytes[BYTES];

	while (read(ends[0], bytes, sizeof(bytes)) > 0)
		continue;
	return arg;
}

static void *to_socket(void *arg)
{
	static char bytes[BYTES];

	while (write(sockets[1], bytes, sizeof(bytes)) > 0)
		continue;
	return arg;
}

static void *from_socket(void *arg)
{
	char bytes[BYTES];

	while (recv(sockets[0], bytes, sizeof(bytes), 0) > 0)
		continue;
	return arg;
}

/* The child has it at the same address. */
static void *read_process(void *arg)
{
	static char from[BYTES], to[BYTES];
	const struct iovec here = {to, sizeof(to)}, there = {from, sizeof(from)};

	while (process_vm_readv(child, &here, 1, &there, 1, 0) > 0)
		continue;
	return arg;
}

static void *mapper(void *arg)
{
	for (;;)
		touch_mapping();
	return arg;
}

static void *locker(void *arg)
{
	for (;;)
		take_lock();
	return arg;
}

static int make(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, MAPPED) < 0)
		abort();
	return fd;
}

int main(int argc, char **argv)
{
	void *(*const all[])(void *) = {writer, to_pipe,   from_pipe,	mapper,
					locker, to_socket, from_socket, read_process};
	pthread_t t;

	if (argc != 3)
		return 2;
	folder = argv[1];
	file = make("written");
	mapped = make("mapped");
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 1;
	child = fork();
	for (int k = 0; !child && k < THREADS; k++)
		if (pthread_create(&t, NULL, mapper, NULL))
			return 1;
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int k = 0; k < THREADS; k++)
			if (pthread_create(&t, NULL, all[i], NULL))
				return 1;
	usleep((useconds_t)(atof(argv[2]) * 1e6));
	kill(child, SIGKILL);
	return 0;
}
