// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads, or processes, that want one lock of the kernel again and again, so that some of them
 * wait for it. Prints the name that the lock is to have, as an extended regular expression.
 *
 *     object-names KIND SECONDS FOLDER
 *
 * Status 77: this kernel or this machine has no such lock, with the reason.
 */
#include "object-names.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 6, PAGE = 4096, MB = 1 << 20, SPAN = 64 };

static char folder[512], path[600];
static int fd = -1, pipes[2];
static pid_t target;
static char *memory;
static atomic_bool over;
/* Shared with the processes. */
static atomic_bool *stopped;

int object_names_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	return SKIP;
}

static int failed(const char *what)
{
	fprintf(stderr, "object-names: %s: %s\n", what, strerror(errno));
	return 1;
}

const char *object_names_folder(void)
{
	return folder;
}

const char *object_names_quoted(const char *text)
{
	static char buffers[4][700];
	static unsigned at;
	char *ret = buffers[at++ % 4], *to = ret;

	for (; *text && to < ret + 690; text++) {
		if (strchr(".[]{}()*+?^$|\\", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	*to = 0;
	return ret;
}

/* The memory cgroup of this process. */
static const char *memcg(void)
{
	static char line[512], unified[512], own[512];
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		char *name = strchr(line, ':'), *at = name ? strchr(name + 1, ':') : NULL;
		if (!at)
			continue;
		*at++ = 0;
		if (strstr(name, "memory"))
			snprintf(own, sizeof(own), "%s", at);
		else if (!name[1])
			snprintf(unified, sizeof(unified), "%s", at);
	}
	if (f)
		fclose(f);
	return *own ? own : unified;
}

/* "vda" of the device that the folder is on; "": of none. */
static const char *device(void)
{
	static char link[256];
	struct stat st;

	if (stat(folder, &st) < 0 || !major(st.st_dev))
		return "";
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	return strrchr(link, '/') ? strrchr(link, '/') + 1 : "";
}

static int open_file(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? failed(path) : 0;
}

/* Each kind: how it begins, printing the name, and what worker @i does once. */
static int begin_folder(void)
{
	printf("i_rwsem %s\n", object_names_quoted(folder));
	return 0;
}

static int begin_folder_wait(void)
{
	printf("i_rwsem\\.wait_lock %s\n", object_names_quoted(folder));
	return 0;
}

static int begin_dentry(void)
{
	printf("d_lock %s\n", object_names_quoted(folder));
	return 0;
}

static void make_folder(int i)
{
	char name[640];

	snprintf(name, sizeof(name), "%s/d%d", folder, i);
	mkdir(name, 0700);
	rmdir(name);
}

/* A name that is not there, and is asked for the first time. */
static void look_up(int i)
{
	static _Thread_local unsigned n;
	char name[640];
	struct stat st;

	snprintf(name, sizeof(name), "%s/%d.%u", folder, i, n++);
	(void)!stat(name, &st);
}

static int begin_closed(void)
{
	if (open_file("closed"))
		return 1;
	close(fd);
	printf("i_rwsem %s\n", object_names_quoted(path));
	return 0;
}

static void cut_by_path(int i)
{
	if (truncate(path, i * PAGE) < 0)
		exit(failed("truncate"));
}

/* The file of the C library. */
static int begin_library(void)
{
	char line[600];
	FILE *f = fopen("/proc/self/maps", "re");

	*path = 0;
	while (f && !*path && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '/');
		line[strcspn(line, "\n")] = 0;
		if (at && (strstr(at, "/libc.so") || strstr(at, "/libc-")))
			snprintf(path, sizeof(path), "%s", at);
	}
	if (f)
		fclose(f);
	if (!*path)
		return object_names_skip("this program has no library of C");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	printf("i_mmap_rwsem %s\n", object_names_quoted(path));
	return fd < 0 ? failed(path) : 0;
}

static void map_library(int i)
{
	void *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);

	(void)i;
	if (p != MAP_FAILED)
		munmap(p, PAGE);
}

static int begin_pages(void)
{
	printf("xa_lock %s/pages\n", object_names_quoted(folder));
	if (open_file("pages"))
		return 1;
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	return ftruncate(fd, (off_t)WORKERS * SPAN * PAGE) < 0 ? failed("truncate") : 0;
}

/* Pages of holes come and go without a disk. */
static void read_pages(int i)
{
	char byte;

	for (int k = 0; k < SPAN; k++)
		if (pread(fd, &byte, 1, (off_t)(i * SPAN + k) * PAGE) < 0)
			exit(failed("read"));
	posix_fadvise(fd, (off_t)i * SPAN * PAGE, (off_t)SPAN * PAGE, POSIX_FADV_DONTNEED);
}

static void *sleep_on(void *arg)
{
	prctl(PR_SET_NAME, "target");
	target = gettid();
	*(atomic_int *)arg = 1;
	pause();
	return NULL;
}

static int begin_task(void)
{
	static atomic_int begun;
	pthread_t t;

	if (pthread_create(&t, NULL, sleep_on, &begun))
		return failed("thread");
	while (!begun)
		sched_yield();
	printf("pi_lock target/%d\n", target);
	return 0;
}

static void move_task(int i)
{
	cpu_set_t set;

	(void)i;
	sched_getaffinity(0, sizeof(set), &set);
	sched_setaffinity(target, sizeof(set), &set);
}

static int begin_signals(void)
{
	printf("siglock object-names/%d\n", getpid());
	return 0;
}

static void mask_signals(int i)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1 + (i & 1));
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static int begin_descriptors(void)
{
	printf("file_lock object-names/%d\n", getpid());
	return 0;
}

static void copy_descriptor(int i)
{
	(void)i;
	int copy = fcntl(0, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0)
		close(copy);
}

static int begin_memory(void)
{
	printf("mmap_lock\\.wait_lock object-names/%d\n", getpid());
	return 0;
}

static void map_memory(int i)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)i;
	if (p != MAP_FAILED)
		munmap(p, PAGE);
}

static int begin_zone(void)
{
	printf("zone->lock node [0-9]+ (Normal|DMA32|DMA|Movable)\n");
	return 0;
}

/* The kernel goes through the lists of free pages with the lock. */
static void list_zones(int i)
{
	static const char *const files[] = {"/proc/pagetypeinfo", "/proc/buddyinfo"};
	char text[PAGE];
	int f = open(files[i & 1], O_RDONLY | O_CLOEXEC);

	while (f >= 0 && read(f, text, sizeof(text)) > 0)
		;
	if (f >= 0)
		close(f);
}

static int begin_lru(void)
{
	printf("lru_lock node [0-9]+( %s)?\n", object_names_quoted(memcg()));
	return 0;
}

static void touch_memory(int i)
{
	char *p = mmap(NULL, 8 * MB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	(void)i;
	if (p != MAP_FAILED)
		munmap(p, 8 * MB);
}

static void make_folders(void)
{
	for (int i = 0; i < WORKERS; i++) {
		snprintf(path, sizeof(path), "%s/s%d", folder, i);
		mkdir(path, 0700);
	}
}

static int begin_super(void)
{
	const char *dev = device();

	if (!*dev)
		return object_names_skip("%s is on no device", folder);
	printf("s_inode_list_lock %s\n", object_names_quoted(dev));
	make_folders();
	return 0;
}

static void make_file(int i)
{
	char name[640];

	snprintf(name, sizeof(name), "%s/s%d/f", folder, i);
	int f = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (f >= 0)
		close(f);
	unlink(name);
}

static int begin_log(void)
{
	const char *dev = device();

	if (!*dev)
		return object_names_skip("%s is on no device", folder);
	snprintf(path, sizeof(path), "/proc/fs/jbd2/%s-8", dev);
	if (access(path, F_OK) < 0)
		return object_names_skip("%s has no log", dev);
	printf("j_[a-z_]+(\\.lock)? jbd2/%s-.*\n", object_names_quoted(dev));
	make_folders();
	return 0;
}

/* Blocks of folders come into the log, and are taken out, while one has it committed. */
static void change_log(int i)
{
	char name[640];

	snprintf(name, sizeof(name), "%s/s%d/d", folder, i);
	mkdir(name, 0700);
	if (i == 0) {
		int f = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fsync(f);
		close(f);
	}
	rmdir(name);
}

static int begin_pipe(void)
{
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return failed("pipe");
	printf("(pipe->mutex|pipe->mutex\\.wait_lock) object-names/%d\n", getpid());
	return 0;
}

static void use_pipe(int i)
{
	char byte = 0;

	if ((i & 1 ? write(pipes[1], &byte, 1) : read(pipes[0], &byte, 1)) < 0 && errno != EAGAIN)
		exit(failed("pipe"));
}

static int begin_epoll(void)
{
	struct epoll_event e = {.events = EPOLLIN};

	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0 || pipe2(pipes, O_CLOEXEC) < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, pipes[0], &e) < 0)
		return failed("epoll");
	printf("epoll->(mtx|lock) object-names/%d\n", getpid());
	return 0;
}

static void change_epoll(int i)
{
	struct epoll_event e = {.events = i & 1 ? EPOLLIN : EPOLLPRI};

	epoll_ctl(fd, EPOLL_CTL_MOD, pipes[0], &e);
}

static int begin_flock(void)
{
	printf("flc_lock %s/flock\n", object_names_quoted(folder));
	return open_file("flock");
}

static void lock_file(int i)
{
	int f = open(path, O_RDWR | O_CLOEXEC);

	(void)i;
	flock(f, LOCK_SH);
	flock(f, LOCK_UN);
	close(f);
}

static int begin_anon(void)
{
	memory = mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return failed("mmap");
	memset(memory, 1, 4 * MB);
	printf("anon_vma->rwsem(\\.wait_lock)? .*object-names/%d\n", getpid());
	return 0;
}

static int begin_tasks(void)
{
	printf("tasklist_lock\n");
	return 0;
}

static void make_child(int i)
{
	pid_t child = fork();

	(void)i;
	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}

static const struct object_names_kind kinds[] = {
	{"folder", begin_folder, make_folder, false},
	{"wait", begin_folder_wait, make_folder, false},
	{"dentry", begin_dentry, look_up, false},
	{"closed", begin_closed, cut_by_path, false},
	{"library", begin_library, map_library, true},
	{"pages", begin_pages, read_pages, false},
	{"task", begin_task, move_task, false},
	{"signals", begin_signals, mask_signals, false},
	{"descriptors", begin_descriptors, copy_descriptor, false},
	{"memory", begin_memory, map_memory, false},
	{"zone", begin_zone, list_zones, false},
	{"lru", begin_lru, touch_memory, true},
	{"super", begin_super, make_file, false},
	{"log", begin_log, change_log, false},
	{"pipe", begin_pipe, use_pipe, false},
	{"epoll", begin_epoll, change_epoll, false},
	{"flock", begin_flock, lock_file, false},
	{"anon", begin_anon, make_child, true},
	{"tasks", begin_tasks, make_child, true},
};

static const struct object_names_kind *kind;

static void work(int i)
{
	while (!over && !*stopped)
		kind->once(i);
}

static void *run_thread(void *arg)
{
	work((int)(intptr_t)arg);
	return NULL;
}

static void run_for(double seconds)
{
	const struct timespec time = {(time_t)seconds,
				      (long)((seconds - (double)(time_t)seconds) * 1e9)};
	pthread_t threads[WORKERS];
	pid_t children[WORKERS];
	int n = 0;

	for (; n < WORKERS; n++) {
		if (kind->by_processes) {
			children[n] = fork();
			if (children[n] == 0) {
				work(n);
				_exit(0);
			}
			if (children[n] < 0)
				break;
		} else if (pthread_create(&threads[n], NULL, run_thread, (void *)(intptr_t)n)) {
			break;
		}
	}
	nanosleep(&time, NULL);
	over = *stopped = true;
	while (n-- > 0) {
		if (kind->by_processes)
			waitpid(children[n], NULL, 0);
		else
			pthread_join(threads[n], NULL);
	}
}

static void choose(const struct object_names_kind *from, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		kind = strcmp(from[i].name, name) ? kind : &from[i];
}

int main(int argc, char **argv)
{
	size_t n_kernel, n;
	const struct object_names_kind *kernel = object_names_kernel(&n_kernel);
	const struct object_names_kind *more = object_names_more(&n);

	if (argc == 4) {
		choose(kinds, sizeof(kinds) / sizeof(kinds[0]), argv[1]);
		choose(kernel, n_kernel, argv[1]);
		choose(more, n, argv[1]);
	}
	if (!kind) {
		fprintf(stderr, "usage: object-names KIND SECONDS FOLDER\n");
		return 2;
	}
	snprintf(folder, sizeof(folder), "%s", argv[3]);
	stopped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stopped == MAP_FAILED)
		return failed("mmap");
	int code = kind->begin();
	fflush(stdout);
	if (code == 0)
		run_for(atof(argv[2]));
	return code;
}
