// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch-load N SECONDS: two processes on CPU 1 that hand a byte to and fro, each with N counters
 * of hardware events of its own. For the first second it measures by itself what a switch takes, by
 * the kernel's switch records of that CPU; then it says so, and goes on until SECONDS or SIGTERM.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CPU_AT_WORK = 1, PAGES = 1024, MOST = 1 << 17, MOST_EVENTS = 2048 };

static uint64_t durations[MOST];
static size_t n_durations;

static pid_t player(int from, int to, bool first)
{
	pid_t pid = fork();
	char byte = 'x';
	cpu_set_t set;

	if (pid != 0)
		return pid;
	CPU_ZERO(&set);
	CPU_SET(CPU_AT_WORK, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (first && write(to, &byte, 1) != 1)
		_exit(1);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, 0);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

static void give_events(pid_t pid, int n)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	for (int i = 0; i < n && i < MOST_EVENTS; i++)
		open_event(&attr, pid, -1);
}

/* A switch record is header, pid and tid of the other, then pid, tid and time of its own. */
static void read_ring(struct perf_event_mmap_page *page)
{
	uint64_t size = (uint64_t)PAGES * (uint64_t)sysconf(_SC_PAGESIZE), out = 0, time;
	const uint8_t *data = (const uint8_t *)page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header h;

	for (uint64_t at = 0; at < head; at += h.size) {
		memcpy(&h, data + at % size, sizeof(h));
		if (h.type != PERF_RECORD_SWITCH_CPU_WIDE)
			continue;
		memcpy(&time, data + (at + 24) % size, sizeof(time));
		if (h.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			out = time;
		} else if (out && n_durations < MOST) {
			durations[n_durations++] = time - out;
			out = 0;
		}
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void wait_ns(long ns)
{
	nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

static void measure(int n)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.disabled = 1,
	};
	int fd = open_event(&attr, -1, CPU_AT_WORK);
	size_t len = (size_t)((PAGES + 1) * sysconf(_SC_PAGESIZE));
	struct perf_event_mmap_page *page =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		exit(1);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	wait_ns(300000000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	read_ring(page);
	munmap(page, len);
	close(fd);
	qsort(durations, n_durations, sizeof(*durations), by_size);
	printf("switch n=%d pairs=%zu p50_ns=%" PRIu64 "\n", n, n_durations,
	       n_durations ? durations[n_durations / 2] : 0);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int to[2], from[2];
	sigset_t end;

	if (argc != 3 || pipe(to) || pipe(from))
		return 2;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	pid_t a = player(to[0], from[1], true), b = player(from[0], to[1], false);
	sigprocmask(SIG_BLOCK, &end, NULL);
	give_events(a, atoi(argv[1]));
	give_events(b, atoi(argv[1]));
	wait_ns(200000000);
	measure(atoi(argv[1]));
	sigtimedwait(&end, NULL, &(struct timespec){atoi(argv[2]), 0});
	kill(a, SIGKILL);
	kill(b, SIGKILL);
	waitpid(a, NULL, 0);
	waitpid(b, NULL, 0);
	return 0;
}
