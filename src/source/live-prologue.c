// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records before the stream. They go into the queue beyond its limit, since it has no reader
 * yet and none may be missing: about 10 MB of kallsyms, which are handed over without a copy, and
 * the names of all tasks, in runs of the same size as those of rings.
 */
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/eventsnap.h"
#include "kontend/hybrid.h"
#include "kontend/kallsyms-thread.h"
#include "kontend/machineid.h"
#include "kontend/mem.h"
#include "kontend/pidns.h"
#include "kontend/procfs.h"
#include "kontend/thisboot.h"
#include "live-internal.h"
#include "version-source.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static void count_cpus(struct record_host *h)
{
	uint32_t *cpus;
	size_t n;

	if (cpulist_read("possible", &cpus, &n) == 0) {
		h->cpus = cpus[n - 1] + 1;
		mem_free(cpus);
	}
	if (cpulist_read("online", &cpus, &n) == 0) {
		h->cpus_online = (uint32_t)n;
		mem_free(cpus);
	}
}

static int put_host(const struct live_prologue *p)
{
	const struct clock_pair now = clock_pair();
	struct record_host h = {.clock_ns = now.now_ns, .wall_ns = now.wall_ns};
	struct utsname u = {0};

	uname(&u);
	snprintf(h.release, sizeof(h.release), "%s", u.release);
	pidns_say(h.method, sizeof(h.method),
		  perf_session_is_fed(p->session) ? "BPF ring" : "perf ring");
	snprintf(h.machine, sizeof(h.machine), "%s", u.machine);
	target_describe(p->target, h.targets, sizeof(h.targets));
	count_cpus(&h);
	return queue_put_always(p->queue, RECORD_HOST, 0, &h, sizeof(h));
}

static int put_machine(const struct live_prologue *p)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} body = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION},
		  .machine = {.kontend = KONTEND_VERSION}};
	struct record_machine *m = &body.machine;
	struct utsname u = {0};

	uname(&u);
	snprintf(m->host, sizeof(m->host), "%s", u.nodename);
	machineid(m->id);
	snprintf(m->refused, sizeof(m->refused), "%s", p->refused ? p->refused : "");
	thisboot_id(m->boot);
	return queue_put_always(p->queue, RECORD_SNAPSHOT, 0, &body, sizeof(body));
}

static int put_kallsyms(const struct live_prologue *p)
{
	struct kallsyms_thread none = {0};
	char *text;
	size_t len;

	/* If it is not readable the record is empty. */
	if (kallsyms_thread_take(p->kallsyms ? p->kallsyms : &none, &text, &len) == -ENOMEM)
		return -ENOMEM;
	live_timers_find(p->timers, text, len);
	int r = queue_give(p->queue, RECORD_KALLSYMS, 0, text, len);
	if (r < 0)
		mem_free(text);
	return r;
}

static int put_format(const struct live_prologue *p, const char *system,
		      const struct tracepoint *tp)
{
	size_t name = strlen(system) + 1, len = name + tp->format_len;
	char *body = mem_calloc(len, 1);

	if (!body)
		return -ENOMEM;
	memcpy(body, system, name);
	memcpy(body + name, tp->format, tp->format_len);
	int r = queue_give(p->queue, RECORD_FORMAT, 0, body, len);
	if (r < 0)
		mem_free(body);
	return r;
}

static int put_event(const struct live_prologue *p, const struct perf_event_attr *attr,
		     const uint64_t *ids, size_t n)
{
	size_t len = attr->size + n * sizeof(*ids);
	char *body = mem_calloc(len, 1);

	if (!body)
		return -ENOMEM;
	memcpy(body, attr, attr->size);
	memcpy(body + attr->size, ids, n * sizeof(*ids));
	int r = queue_give(p->queue, RECORD_ATTR, 0, body, len);
	if (r < 0)
		mem_free(body);
	return r;
}

/* An event for each PMU, so that users can choose the samples of one. */
static int put_parts(const struct live_prologue *p, enum perf_event_index which,
		     const struct hybrid *h)
{
	size_t n_cpus = perf_session_rings(p->session), n;
	const uint64_t *ids = perf_session_ids(p->session, which, &n);
	uint32_t *cpus = mem_calloc(n_cpus, sizeof(*cpus));
	uint64_t *own = mem_calloc(n, sizeof(*own));
	int r = cpus && own ? 0 : -ENOMEM;

	for (size_t c = 0; r == 0 && c < n_cpus; c++)
		cpus[c] = perf_session_cpu(p->session, c);
	for (size_t pmu = 0; r == 0 && pmu <= h->n; pmu++) {
		struct perf_event_attr attr = *perf_session_attr(p->session, which);
		size_t n_own = hybrid_part(h, pmu, &attr, cpus, n_cpus, ids, n / n_cpus, own);
		r = n_own ? put_event(p, &attr, own, n_own) : 0;
	}
	mem_free(cpus);
	mem_free(own);
	return r;
}

static int put_pmu_names(const struct live_prologue *p, const struct hybrid *h)
{
	const struct record_snapshot head = {.kind = SNAPSHOT_EVENTS, .version = EVENTSNAP_VERSION};
	struct eventsnap s = {0};
	char *body = NULL;
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->n; i++) {
		struct eventsnap_pmu pmu = {.type = h->pmus[i].type,
					    .name = eventsnap_add_text(&s, h->pmus[i].name)};
		r = eventsnap_add_pmu(&s, &pmu);
	}
	size_t len = sizeof(head) + eventsnap_size(&s);
	if (r == 0)
		body = mem_calloc(len, 1);
	if (body) {
		memcpy(body, &head, sizeof(head));
		eventsnap_encode(&s, body + sizeof(head));
	}
	eventsnap_deinit(&s);
	r = body ? queue_give(p->queue, RECORD_SNAPSHOT, 0, body, len) : -ENOMEM;
	if (r < 0)
		mem_free(body);
	return r;
}

static int put_attr(const struct live_prologue *p, enum perf_event_index which)
{
	const struct hybrid *h = perf_session_hybrid(p->session, which);
	size_t n;
	const uint64_t *ids = perf_session_ids(p->session, which, &n);
	int r = h ? put_parts(p, which, h)
		  : put_event(p, perf_session_attr(p->session, which), ids, n);

	return r == 0 && h ? put_pmu_names(p, h) : r;
}

int live_prologue_put(const struct live_prologue *p, struct error *err)
{
	int r = put_host(p);

	if (r == 0)
		r = put_kallsyms(p);
	if (r == 0)
		r = put_machine(p);
	if (r == 0)
		r = put_format(p, "lock", p->begin);
	if (r == 0)
		r = put_format(p, "lock", p->end);
	if (r == 0 && p->release->id)
		r = put_format(p, "lock", p->release);
	if (r == 0 && p->timers->entry.id)
		r = put_format(p, "timer", &p->timers->entry);
	if (r == 0 && p->timers->entry.id)
		r = put_format(p, "timer", &p->timers->exit);
	if (r == 0)
		r = live_mmap_put(p->mmap, p->queue);
	for (int i = 0; r == 0 && i < PERF_EVENTS; i++) {
		if (perf_session_has(p->session, (enum perf_event_index)i))
			r = put_attr(p, (enum perf_event_index)i);
	}
	if (r == 0) {
		live_timers_aim(p->timers, p->session);
		r = live_timers_put(p->timers, p->queue);
	}
	return r < 0 ? error_enomem(err, "the records before the event stream") : 0;
}

static int scan_tasks(const struct live_prologue_tasks *t, struct sideband *s)
{
	const struct procfs_task *tasks = t->tasks;
	int r = 0;

	if (!t->n)
		return procfs_comms_all("/proc", s);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		if (tasks[i].id == tasks[i].tgid)
			r = procfs_comms("/proc", tasks[i].id, s);
		else
			r = procfs_comm_of("/proc", tasks[i].id, s);
	}
	return r;
}

static int scan_cgroups(struct sideband *s)
{
	char mount[CGROUP_PATH];

	if (cgroup_search("/proc/self/mounts", mount, sizeof(mount)) < 0)
		return 0;
	return cgroup_walk(mount, s);
}

static int scan_maps(const struct live_prologue_tasks *t, struct sideband *s, size_t *ret_left)
{
	if (!t->n)
		return procfs_maps_all("/proc", s, ret_left);
	pid_t *pids = mem_calloc(t->n, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		pids[i] = t->tasks[i].tgid;
	int r = procfs_maps("/proc", pids, t->n, s, ret_left);
	mem_free(pids);
	return r;
}

static int put_left(struct queue *q, size_t left)
{
	char body[PROCFS_NOTE];

	return left ? queue_put_always(q, RECORD_NOTE, 0, body, procfs_maps_note(left, body)) : 0;
}

int live_prologue_tasks(struct queue *q, struct perf_session *ps,
			const struct live_prologue_tasks *t, struct error *err)
{
	struct sideband s = {0};
	size_t n_ids, left = 0;
	const uint64_t *ids = perf_session_ids(ps, PERF_DUMMY, &n_ids);

	s.id = n_ids ? ids[0] : 0;
	s.data_maps = t->data_maps;
	int r = scan_tasks(t, &s);
	if (r == 0 && t->names)
		r = t->names->put(t->names, &s);
	if (r == 0 && t->maps)
		r = scan_maps(t, &s, &left);
	if (r == 0 && t->cgroups)
		r = scan_cgroups(&s);
	for (size_t at = 0, n; r == 0 && at < s.len; at += n) {
		n = sideband_run(&s, at, RING_RECORD_MAX);
		r = queue_put_always(q, RECORD_PERF, perf_session_cpu(ps, 0), s.data + at, n);
	}
	sideband_deinit(&s);
	if (r == 0)
		r = put_left(q, left);
	if (r == -EMFILE)
		return error_set(err, r,
				 "No file descriptor is left to read the tasks from /proc with: "
				 "raise the limit with 'ulimit -n 256'");
	return r < 0 ? error_errno(err, r, "Cannot read the tasks from /proc") : 0;
}
