// SPDX-License-Identifier: GPL-2.0-only
/*
 * mux-truth FUNCTION SECONDS [TURN]: measures by itself, and as plainly as can be, how long the
 * kernel's timers with this function take: the two tracepoints of one CPU in a ring, all exits,
 * filtered here. It prints a line that tests compare with kontend's figures. With a TURN, a
 * function that is called within, it has perf place a probe there, and prints the time before and
 * after its first call separately.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CPUS = 16, PAGES = 256, MOST = 1 << 18, HRTIMER = 8 };

struct cpu {
	int entry, exit, turn;
	struct perf_event_mmap_page *page;
	uint64_t tail, timer, began, turned;
};

static uint64_t durations[MOST], before[MOST], behind[MOST];
static size_t n_durations, n_turned;
static uint64_t n_entries, n_lost;
static uint32_t entry_id, exit_id;

static uint32_t tracepoint(const char *name)
{
	char path[128];
	unsigned id = 0;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/timer/%s/id", name);
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &id) != 1)
		exit(1);
	fclose(f);
	return id;
}

static uint64_t address(const char *name)
{
	char line[512], symbol[256], type;
	uint64_t addr;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, symbol) == 3 &&
		    !strcmp(symbol, name)) {
			fclose(f);
			return addr;
		}
	}
	exit(1);
}

static int open_tracepoint(uint32_t id, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

/* The type of perf's PMU for such probes is written in sysfs. */
static int open_probe(const char *function, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config1 = (uintptr_t)function,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
	};
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "r");

	if (!f || fscanf(f, "%u", &attr.type) != 1)
		exit(1);
	fclose(f);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	if (fd < 0) {
		perror(function);
		exit(1);
	}
	return fd;
}

static void open_turn(struct cpu *c, int cpu, const char *turn)
{
	c->turn = open_probe(turn, cpu);
	if (ioctl(c->turn, PERF_EVENT_IOC_SET_OUTPUT, c->entry)) {
		perror("set up");
		exit(1);
	}
	ioctl(c->turn, PERF_EVENT_IOC_ENABLE, 0);
}

static void open_cpu(struct cpu *c, int cpu, const char *filter)
{
	long page = sysconf(_SC_PAGESIZE);

	c->entry = open_tracepoint(entry_id, cpu);
	c->exit = open_tracepoint(exit_id, cpu);
	c->page = mmap(NULL, (size_t)((PAGES + 1) * page), PROT_READ | PROT_WRITE, MAP_SHARED,
		       c->entry, 0);
	if (c->page == MAP_FAILED || ioctl(c->entry, PERF_EVENT_IOC_SET_FILTER, filter) ||
	    ioctl(c->exit, PERF_EVENT_IOC_SET_OUTPUT, c->entry)) {
		perror("set up");
		exit(1);
	}
	ioctl(c->exit, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(c->entry, PERF_EVENT_IOC_ENABLE, 0);
}

/* A sample is header, time, size of the raw data, raw data: id, ..., the timer at its place. */
static void take_record(struct cpu *c, const uint8_t *rec, const struct perf_event_header *h)
{
	uint64_t time, timer;
	uint16_t id;

	if (h->type == PERF_RECORD_LOST) {
		n_lost++;
		return;
	}
	if (h->type != PERF_RECORD_SAMPLE)
		return;
	memcpy(&time, rec + 8, sizeof(time));
	memcpy(&id, rec + 20, sizeof(id));
	memcpy(&timer, rec + 20 + HRTIMER, sizeof(timer));
	if (id == entry_id) {
		n_entries++;
		c->timer = timer;
		c->began = time;
		c->turned = 0;
	} else if (id != exit_id) {
		if (c->began && !c->turned)
			c->turned = time;
	} else if (c->began && c->timer == timer) {
		if (n_durations < MOST)
			durations[n_durations++] = time - c->began;
		if (c->turned && n_turned < MOST) {
			before[n_turned] = c->turned - c->began;
			behind[n_turned++] = time - c->turned;
		}
		c->began = 0;
	}
}

static void drain(struct cpu *c)
{
	uint64_t size = (uint64_t)PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
	const uint8_t *data = (const uint8_t *)c->page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	uint8_t rec[512];
	struct perf_event_header h;

	for (; c->tail < head; c->tail += h.size) {
		memcpy(&h, data + c->tail % size, sizeof(h));
		for (size_t i = 0; i < h.size && i < sizeof(rec); i++)
			rec[i] = data[(c->tail + i) % size];
		take_record(c, rec, &h);
	}
	__atomic_store_n(&c->page->data_tail, c->tail, __ATOMIC_RELEASE);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t percentile(const uint64_t *sorted, size_t n, unsigned pct)
{
	return n ? sorted[(n - 1) * pct / 100] : 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static struct cpu cpus[MOST_CPUS];
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	char filter[64];

	if ((argc != 3 && argc != 4) || n > MOST_CPUS)
		return 2;
	entry_id = tracepoint("hrtimer_expire_entry");
	exit_id = tracepoint("hrtimer_expire_exit");
	snprintf(filter, sizeof(filter), "function == 0x%" PRIx64, address(argv[1]));
	for (int i = 0; i < n; i++)
		open_cpu(&cpus[i], i, filter);
	for (int i = 0; argc == 4 && i < n; i++)
		open_turn(&cpus[i], i, argv[3]);
	double seconds = atof(argv[2]), from = now();
	do {
		nanosleep(&(struct timespec){0, 100000000}, NULL);
		for (int i = 0; i < n; i++)
			drain(&cpus[i]);
	} while (now() - from < seconds);
	seconds = now() - from;
	qsort(durations, n_durations, sizeof(*durations), by_size);
	qsort(before, n_turned, sizeof(*before), by_size);
	qsort(behind, n_turned, sizeof(*behind), by_size);
	if (argc == 4)
		printf("phases turned=%zu out_p50_ns=%" PRIu64 " in_p50_ns=%" PRIu64 "\n", n_turned,
		       percentile(before, n_turned, 50), percentile(behind, n_turned, 50));
	printf("truth entries=%" PRIu64 " per_s_cpu=%.1f p50_ns=%" PRIu64 " p99_ns=%" PRIu64
	       " lost=%" PRIu64 "\n",
	       n_entries, (double)n_entries / seconds / n, percentile(durations, n_durations, 50),
	       percentile(durations, n_durations, 99), n_lost);
	return 0;
}
