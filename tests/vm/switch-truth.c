// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch-truth MILLISECONDS TID TID: measures by itself, and as plainly as can be, how long it
 * takes on CPU 0 from the record that one of these tasks went off to the one that the other one is
 * on. It prints the median, and how many there were.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 1024 };

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* A record is its header, pid and tid of the other, pid and tid, and the time. */
static size_t pair(const uint8_t *data, uint64_t head, const int32_t tids[2], uint64_t *ret)
{
	struct perf_event_header h;
	int32_t who[4];
	uint64_t out = 0, time;
	size_t n = 0;

	for (uint64_t at = 0; at + sizeof(h) <= head; at += h.size) {
		memcpy(&h, data + at, sizeof(h));
		if (h.type != PERF_RECORD_SWITCH_CPU_WIDE)
			continue;
		memcpy(who, data + at + sizeof(h), sizeof(who));
		memcpy(&time, data + at + sizeof(h) + sizeof(who), sizeof(time));
		bool ours = (who[1] == tids[0] && who[3] == tids[1]) ||
			    (who[1] == tids[1] && who[3] == tids[0]);
		if (!ours || h.misc & PERF_RECORD_MISC_SWITCH_OUT)
			out = ours ? time : 0;
		else if (out) {
			ret[n++] = time - out;
			out = 0;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_TID,
		.sample_id_all = 1,
		.context_switch = 1,
		.disabled = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (argc != 4 || fd < 0)
		return 2;
	const int32_t tids[] = {atoi(argv[2]), atoi(argv[3])};
	/* Read only: the ring is not written over, and what does not fit is not there. */
	struct perf_event_mmap_page *m =
		mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint64_t *ns = malloc(PAGES * page);
	if (m == MAP_FAILED || !ns)
		return 2;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	nanosleep(&(struct timespec){0, atol(argv[1]) * 1000000}, NULL);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	size_t n = pair((const uint8_t *)m + page, __atomic_load_n(&m->data_head, __ATOMIC_ACQUIRE),
			tids, ns);
	qsort(ns, n, sizeof(*ns), by_size);
	printf("switches n=%zu p50_ns=%" PRIu64 "\n", n, n ? ns[n / 2] : 0);
	return 0;
}
