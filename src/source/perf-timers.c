// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the expiries of certain timers; the kernel filters. Entries are filtered by the function
 * that the timer calls. Exits name the timer alone, and most exits of a CPU are of no interest. So
 * a scout watches for entries of timers that are not known yet: an event of its own with a ring of
 * one page, which the collector reads with the others. The exits of a CPU are switched on at the
 * first such timer, with a filter for it. If no such timer ever expires, no record is written.
 *
 * The kernel lets an event set its filter only once (EEXIST). So when a CPU has several such
 * timers, as with several PMUs, its exit event is replaced by one that passes all of them, like
 * those of a CPU that was offline (perf-reopen.c). The scout is replaced as well, so that known
 * timers do not wake it.
 */
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "perf-internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SCOUT_SIZE = 128, FILTER_TEXT = 512 };

static int filter_all(struct perf_session *ps, enum perf_event_index which, size_t ring,
		      const char *filter)
{
	size_t n = (size_t)perf_thread_map__nr(ps->threads);

	for (size_t k = 0; k < n; k++) {
		if (ioctl(*perf_session_fd(ps, which, ring, k), PERF_EVENT_IOC_SET_FILTER, filter) <
		    0)
			return -errno;
	}
	return 0;
}

static size_t scout_len(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static void close_scout(struct perf_scout *s)
{
	if (s->base)
		munmap(s->base, scout_len());
	if (s->fd >= 0)
		close(s->fd);
	s->base = NULL;
	s->fd = -1;
}

/*
 * Excludes all known timers. A text that is too long is cut to a shorter one that is still correct.
 */
static int aim_scout(const struct perf_timers *t, const struct perf_scout *s)
{
	char text[FILTER_TEXT];
	int n = snprintf(text, sizeof(text), "(%s)", t->filter);

	for (uint32_t i = 0; i < s->n_known; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " && hrtimer != 0x%" PRIx64,
			      s->known[i]);
	return ioctl(s->fd, PERF_EVENT_IOC_SET_FILTER, text) < 0 ? -errno : 0;
}

static int open_scout(const struct perf_timers *t, struct perf_scout *s, int cpu)
{
	struct perf_event_attr attr = {
		.size = SCOUT_SIZE,
		.type = PERF_TYPE_TRACEPOINT,
		.config = t->entry_id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};

	s->base = NULL;
	s->fd = perf_event_open(&attr, -1, cpu, 0);
	if (s->fd < 0)
		return s->fd;
	void *base = mmap(NULL, scout_len(), PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	int r = base == MAP_FAILED ? -errno : 0;
	if (r == 0) {
		s->base = base;
		r = aim_scout(t, s);
	}
	if (r == 0)
		r = ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
	if (r < 0)
		close_scout(s);
	return r;
}

void perf_timers_free(struct perf_session *ps)
{
	for (size_t i = 0; ps->timers.scouts && i < perf_session_rings(ps); i++)
		close_scout(&ps->timers.scouts[i]);
	mem_free(ps->timers.scouts);
	ps->timers.scouts = NULL;
}

int perf_session_time(struct perf_session *ps, const char *filter)
{
	struct perf_timers *t = &ps->timers;
	size_t n = perf_session_rings(ps);
	int r = 0;

	if (!ps->evsels[PERF_TIMER_ENTRY] || strlen(filter) >= sizeof(t->filter))
		return -EINVAL;
	t->scouts = mem_calloc(n, sizeof(*t->scouts));
	if (!t->scouts)
		return -ENOMEM;
	strcpy(t->filter, filter);
	for (size_t i = 0; i < n; i++)
		t->scouts[i].fd = -1;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = filter_all(ps, PERF_TIMER_ENTRY, i, filter);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = open_scout(t, &t->scouts[i], (int)perf_session_cpu(ps, i));
	if (r == 0)
		return 0;
	perf_timers_free(ps);
	t->filter[0] = 0;
	return r;
}

static void exits_text(const struct perf_scout *s, char *text, size_t size)
{
	int n = 0;

	for (uint32_t i = 0; i < s->n_known; i++)
		n += snprintf(text + n, size - (size_t)n, "%shrtimer == 0x%" PRIx64,
			      i ? " || " : "", s->known[i]);
}

/* The exit events of a ring that have no filter yet: sets it and switches them on. */
static int aim_exits(struct perf_session *ps, size_t ring)
{
	size_t n = (size_t)perf_thread_map__nr(ps->threads);
	char text[FILTER_TEXT];

	exits_text(&ps->timers.scouts[ring], text, sizeof(text));
	int r = filter_all(ps, PERF_TIMER_EXIT, ring, text);
	for (size_t k = 0; r == 0 && k < n; k++) {
		if (ioctl(*perf_session_fd(ps, PERF_TIMER_EXIT, ring, k), PERF_EVENT_IOC_ENABLE,
			  0) < 0)
			r = -errno;
	}
	return r;
}

/* Replaces the exit event of a ring. True: the ring's ids have changed. */
static bool replace_exit(struct perf_session *ps, size_t ring)
{
	int *old = perf_session_fd(ps, PERF_TIMER_EXIT, ring, 0),
	    cpu = (int)perf_session_cpu(ps, ring);
	uint64_t *new_id = perf_session_new_id(ps, ring, PERF_TIMER_EXIT), id;
	char text[FILTER_TEXT];

	/*
	 * If there are several tasks, the lengths of these expiries are unknown, and counted as
	 * such.
	 */
	if (perf_thread_map__nr(ps->threads) > 1 || perf_thread_map__pid(ps->threads, 0) != -1)
		return false;
	int fd = perf_session_open_event(ps, PERF_TIMER_EXIT, cpu, -1);
	exits_text(&ps->timers.scouts[ring], text, sizeof(text));
	bool done = fd >= 0 && new_id && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text) == 0 &&
		    ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 &&
		    ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
			  *perf_session_fd(ps, PERF_BEGIN, ring, 0)) == 0 &&
		    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
	if (done) {
		*new_id = id;
		dup3(fd, *old, O_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return done;
}

static bool meet(struct perf_session *ps, size_t ring, uint64_t timer)
{
	struct perf_scout *s = &ps->timers.scouts[ring];

	for (uint32_t i = 0; i < s->n_known; i++) {
		if (s->known[i] == timer)
			return false;
	}
	if (s->n_known == PERF_SCOUT_TIMERS)
		return false;
	s->known[s->n_known++] = timer;
	/*
	 * After a failure the lengths of these expiries are unknown: the model counts them as
	 * unpaired.
	 */
	if (s->n_known > 1)
		return replace_exit(ps, ring);
	(void)aim_exits(ps, ring);
	return false;
}

/* The timer in a sample: its header, u32 size of the raw data, the data. 0: there is none. */
static uint64_t timer_of(const struct perf_timers *t, const uint8_t *rec)
{
	struct perf_event_header h;
	size_t at = sizeof(h) + sizeof(uint32_t) + t->timer_offset;
	uint64_t timer;

	memcpy(&h, rec, sizeof(h));
	if (h.type != PERF_RECORD_SAMPLE || at + sizeof(timer) > h.size)
		return 0;
	memcpy(&timer, rec + at, sizeof(timer));
	return timer;
}

static bool look_into(struct perf_session *ps, size_t i, uint64_t *buf, size_t size)
{
	const struct perf_scout *s = &ps->timers.scouts[i];
	struct perf_event_mmap_page *control = s->base;
	struct ring ring = {
		.base = (const uint8_t *)s->base + sysconf(_SC_PAGESIZE),
		.size = (uint64_t)sysconf(_SC_PAGESIZE),
		.head = (const uint64_t *)&control->data_head,
		.tail = (uint64_t *)&control->data_tail,
	};
	uint64_t head = ring_head(&ring);
	struct perf_event_header h;
	bool changed = false;
	size_t len;

	while (ring_used(&ring, head) && ring_drain(&ring, head, buf, size, &len) == 0) {
		for (size_t at = 0; at < len; at += h.size) {
			const uint8_t *rec = (const uint8_t *)buf + at;
			uint64_t timer = timer_of(&ps->timers, rec);
			memcpy(&h, rec, sizeof(h));
			changed |= timer && meet(ps, i, timer);
		}
	}
	return changed;
}

bool perf_session_learn(struct perf_session *ps, size_t i)
{
	struct perf_scout *s = ps->timers.scouts ? &ps->timers.scouts[i] : NULL;
	uint64_t buf[512];

	if (!s || !s->base)
		return false;
	uint32_t before = s->n_known;
	bool changed = look_into(ps, i, buf, sizeof(buf));
	if (s->n_known != before) {
		close_scout(s);
		(void)open_scout(&ps->timers, s, (int)perf_session_cpu(ps, i));
	}
	return changed;
}

void perf_timers_reopen(struct perf_session *ps, size_t ring)
{
	if (!ps->timers.scouts)
		return;
	struct perf_scout *s = &ps->timers.scouts[ring];
	close_scout(s);
	/* The known timers of the CPU stay valid: they are part of the CPU's data. */
	(void)filter_all(ps, PERF_TIMER_ENTRY, ring, ps->timers.filter);
	ioctl(*perf_session_fd(ps, PERF_TIMER_ENTRY, ring, 0), PERF_EVENT_IOC_ENABLE, 0);
	if (s->n_known)
		(void)aim_exits(ps, ring);
	(void)open_scout(&ps->timers, s, (int)perf_session_cpu(ps, ring));
}
