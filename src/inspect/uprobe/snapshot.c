// SPDX-License-Identifier: GPL-2.0-only
/*
 * One snapshot: the walk through all tasks, then the areas and probes that it led to. The walk
 * through all descriptors, which takes longer, finds the holders of events whose openers have
 * exited: it is made when there are new events, and now and then. Without BPF, /proc shows which
 * processes have an area and tracefs which probes they have.
 */
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/pidns.h"
#include "kontend/sysinfo.h"
#include "kontend/tracefs.h"
#include "kontend/uprobe-attach.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

static const uint64_t FILES_NS = 10000000000ull;
static const uint64_t COSTS_NS = 5000000000ull;

static void find_tracefs(struct snapshot_uprobes *u, const struct snapshot_uprobes_options *o)
{
	char path[TRACEFS_PATH];

	if (o->tracefs)
		snprintf(u->tracefs, sizeof(u->tracefs), "%s", o->tracefs);
	else if (tracefs_find(path, NULL) == 0)
		snprintf(u->tracefs, sizeof(u->tracefs), "%.250s", path);
}

#if defined(__x86_64__) || defined(__i386__)
enum { SLOT_BYTES = 128 };
#elif defined(__aarch64__)
enum { SLOT_BYTES = 4 };
#else
enum { SLOT_BYTES = 0 };
#endif

/*
 * The area of out-of-line slots is one page. The size of a slot is the architecture's
 * UPROBE_XOL_SLOT_BYTES (its asm/uprobes.h); the first one is where return probes come back to.
 */
int32_t up_slots(void)
{
	long page = sysconf(_SC_PAGESIZE);

	return SLOT_BYTES != 0 && page > 0
		       ? (int32_t)(page / (SLOT_BYTES != 0 ? SLOT_BYTES : 1) - 1)
		       : -1;
}

static void learn_kernel(struct snapshot_uprobes *u)
{
	struct utsname n = {0};

	uname(&n);
	u->kernel = uprobe_kernel_of(n.release);
}

int snapshot_uprobes_new(struct snapshot_uprobes **ret, const struct snapshot_uprobes_options *o,
			 struct error *err)
{
	struct snapshot_uprobes *u = mem_calloc(1, sizeof(*u));
	struct error why = {0};
	/* Of the PMU that perf_event_open() places uprobes with; -1: there is none. */
	int32_t type = (int32_t)sysinfo_number("/sys/bus/event_source/devices/uprobe/type", -1);

	if (!u)
		return error_enomem(err, "snapshots of uprobes");
	find_tracefs(u, o);
	learn_kernel(u);
	u->slots = up_slots();
	if (o->no_bpf)
		snprintf(u->why, sizeof(u->why), "BPF was switched off (--no-bpf)%s",
			 pidns_unseen());
	else if (up_bpf_open(&u->bpf, type, o->counts_own, o->types, &why) == 0)
		u->has_bpf = true;
	else
		snprintf(u->why, sizeof(u->why), "%.180s%s", why.text, pidns_unseen());
	if (!u->has_bpf)
		u->missing = UPSNAP_NO_SLOTS | UPSNAP_NO_TASKS | UPSNAP_NO_PERF | UPSNAP_NO_LINKS;
	if (u->has_bpf && up_links_open(&u->links, o->types, &why) < 0) {
		u->missing |= UPSNAP_NO_LINKS;
		snprintf(u->why, sizeof(u->why), "%.250s", why.text);
	}
	*ret = u;
	return 0;
}

static void load_costs(struct snapshot_uprobes *u, struct upsnap *s)
{
	if (!u->costs_at || u->now_ns - u->costs_at > COSTS_NS) {
		u->has_costs = uprobe_cost_load(&u->costs) == 0;
		u->costs_at = u->now_ns;
	}
	if (!u->has_costs)
		s->head.missing |= UPSNAP_NO_COSTS;
}

/* A hash of the events: when they change, a task may have passed descriptors on. */
static uint64_t what_is_there(const struct snapshot_uprobes *u, const struct upsnap *s)
{
	uint64_t sum = s->n_probes;

	for (size_t i = 0; i < s->n_probes; i++)
		sum = sum * 31 + s->probes[i].id;
	for (uint32_t i = 0; i < snapshot_uprobes_n_events(u); i++)
		sum = sum * 31 + snapshot_uprobes_event(u, i)->id;
	return sum;
}

static int look_at_probes(struct snapshot_uprobes *u, struct upsnap *s)
{
	int code = snapshot_uprobes_probes(u, s);

	if (!u->has_bpf || code < 0 || (!s->n_probes && !s->n_areas))
		return code;
	uint64_t seen = what_is_there(u, s);
	if (seen == u->seen && u->now_ns - u->files_at < FILES_NS)
		return 0;
	u->seen = seen;
	u->files_at = u->now_ns;
	/* It adds to the holders in which later snapshots find owners. */
	return snapshot_uprobes_walk_files(u);
}

static int look_at_all(struct snapshot_uprobes *u, struct upsnap *s)
{
	int code = u->has_bpf ? up_bpf_walk(&u->bpf) : 0;

	s->head.walk_ns = clock_now_ns() - u->now_ns;
	if (code < 0)
		return code;
	if (u->has_bpf) {
		s->head.incomplete = u->bpf.state->torn;
		s->head.dropped = u->bpf.state->dropped;
		code = snapshot_uprobes_areas(u, s);
	} else {
		code = snapshot_uprobes_areas_proc(u, s);
	}
	return code < 0 ? code : look_at_probes(u, s);
}

int snapshot_uprobes_take(struct snapshot_uprobes *u, struct upsnap *ret, struct error *err)
{
	u->now_ns = clock_now_ns();
	upsnap_clear(ret);
	ret->head.time_ns = u->now_ns;
	ret->head.interval_ns = u->last_ns ? u->now_ns - u->last_ns : 0;
	ret->head.method = u->has_bpf ? UPSNAP_BPF : UPSNAP_PROC;
	ret->head.missing = u->missing;
	load_costs(u, ret);
	int code = look_at_all(u, ret);
	if (code < 0)
		return error_errno(err, code, "Cannot take a snapshot of uprobes");
	u->first_ns = u->first_ns ? u->first_ns : u->now_ns;
	u->last_ns = u->now_ns;
	ret->head.first_ns = u->first_ns;
	ret->head.reason = upsnap_add_text(ret, u->why);
	ret->head.cost_ns = clock_now_ns() - u->now_ns;
	return 0;
}

bool snapshot_uprobes_reads_hits(const struct snapshot_uprobes *u)
{
	return u->has_bpf;
}

static const struct up_event *find_own_event(const struct snapshot_uprobes *u, uint64_t id)
{
	for (uint32_t i = 0; i < snapshot_uprobes_n_events(u); i++)
		if (snapshot_uprobes_event(u, i)->id == id)
			return snapshot_uprobes_event(u, i);
	return NULL;
}

/*
 * Counts the hits of a probe of kontend that is for one process (--probe with -p) by a program that
 * is attached to the event: the kernel's count of a probe includes all processes as soon as another
 * program has a probe there. Without BPF it is counted as other programs' probes are.
 */
static void count_own_probe(struct snapshot_uprobes *u, int fd)
{
	struct own_count *c = &u->counts[u->n_counts];

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ID, &c->event) < 0)
		return;
	/* The kernel's number of the process is not ours in a container. */
	const struct up_event *e = find_own_event(u, c->event);
	u->bpf.own[u->n_counts].pid = e ? e->target_pid : 0;
	c->link = up_bpf_count(&u->bpf, u->n_counts, fd);
	u->n_counts += c->link >= 0;
}

/* Begins to count the hits of u->own. */
static void count_own_probes(struct snapshot_uprobes *u)
{
	const struct uprobe_attach_probe *p;

	if (!u->own || !u->has_bpf || u->counts)
		return;
	u->counts = mem_calloc(UP_OWN, sizeof(*u->counts));
	if (!u->counts || up_bpf_map_own(&u->bpf) < 0 || up_bpf_walk(&u->bpf) < 0)
		return;
	for (size_t i = 0; u->n_counts < UP_OWN && (p = uprobe_attach_get(u->own, i)); i++)
		if (p->pid)
			count_own_probe(u, uprobe_attach_fd(u->own, i));
}

const struct up_own *snapshot_uprobes_own_count(const struct snapshot_uprobes *u,
						const struct up_event *e)
{
	for (uint32_t i = 0; i < u->n_counts; i++)
		if (u->counts[i].event == e->id)
			return &u->bpf.own[i];
	return NULL;
}

static void stop_own_probes(struct snapshot_uprobes *u)
{
	for (uint32_t i = 0; i < u->n_counts; i++)
		close(u->counts[i].link);
	mem_free(u->counts);
}

void snapshot_uprobes_own(struct snapshot_uprobes *u, const struct uprobe_attach *own)
{
	u->own = own;
	count_own_probes(u);
	u->own_ns = clock_now_ns();
}

void snapshot_uprobes_free(struct snapshot_uprobes *u)
{
	if (!u)
		return;
	stop_own_probes(u);
	if (u->has_bpf)
		up_bpf_close(&u->bpf);
	up_links_close(u->links);
	mem_free(u->pasts.areas);
	mem_free(u->pasts.areas_next);
	mem_free(u->pasts.tasks);
	mem_free(u->pasts.tasks_next);
	mem_free(u->pasts.probes);
	mem_free(u->pasts.probes_next);
	mem_free(u->places);
	mem_free(u->orphans);
	mem_free(u->proc);
	map64_deinit(&u->at_area);
	mem_free(u);
}
