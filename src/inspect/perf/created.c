// SPDX-License-Identifier: GPL-2.0-only
/*
 * Creators of breakpoints, and the most slots that were ever taken. Events report each breakpoint
 * that is opened, inherited or refused, also by ptrace, but neither those that debuggers have set
 * by ptrace nor those that 32-bit programs open, whose system calls have other numbers. Looks find
 * only those that live until a look: numbers of events never fall, so one above the newest of the
 * look before is new. A creator stays in the list after its end.
 */
#include "created.h"
#include "bpf-int.h"
#include "bpf-run.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const char created_object[], created_object_end[];

static const struct {
	const char *program, *tracepoint;
} programs[] = {{"see_exit", "sys_exit"}, {"see_birth", "task_newtask"}};

static int load(struct created *c, const struct inspect_bpf *i, struct kerntypes *types)
{
	const struct created_config config = {
		.ns = i->layout.config.ns,
		.off_info = i->layout.config.off_info,
		.info_stride = i->layout.info_stride,
		.info_cpu_pinned = i->layout.info_cpu_pinned,
		.pools = i->layout.pools,
		.n_cpus = i->n_cpus,
		.perf_event_open = SYS_perf_event_open,
		.ptrace = SYS_ptrace,
	};
	const struct bpf_run_file f = {
		.bytes = created_object,
		.len = (size_t)(created_object_end - created_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};

	return bpf_run_load(&c->object, &f, &c->why);
}

static int attach(struct created *c)
{
	for (size_t k = 0; k < sizeof(programs) / sizeof(*programs); k++) {
		int prog = bpf_run_program(c->object, programs[k].program, &c->why);
		if (prog < 0)
			return prog;
		int link = bpf_raw_tracepoint_open(programs[k].tracepoint, prog);
		if (link < 0)
			return error_errno(&c->why, -errno, "Cannot attach to the tracepoint %s",
					   programs[k].tracepoint);
		c->links[c->n_links++] = link;
	}
	return 0;
}

static int start(struct created *c, const struct inspect_bpf *i, struct kerntypes *types)
{
	int code = load(c, i, types);

	if (code < 0)
		return code;
	c->map = bpf_object__find_map_fd_by_name(c->object, "processes");
	c->state =
		bpf_run_map(c->object, ".bss", sizeof(*c->state), PROT_READ | PROT_WRITE, &c->why);
	if (!c->state)
		return c->why.code;
	for (uint32_t cpu = 0; cpu < i->n_cpus && cpu < CREATED_CPUS; cpu++)
		c->state->bases[cpu] = i->cpus[cpu].base;
	/* For earlier breakpoints it is not known whether they are those of CPUs. */
	c->state->is_pinned = 1;
	return attach(c);
}

static void stop(struct created *c)
{
	while (c->n_links)
		close(c->links[--c->n_links]);
	bpf_run_unmap(c->state, sizeof(*c->state));
	bpf_object__close(c->object);
	c->state = NULL;
	c->object = NULL;
}

void created_attach(struct created *c, const struct inspect_bpf *i, struct kerntypes *types)
{
	if (start(c, i, types) < 0)
		stop(c);
}

static int add_process(struct perfsnap *s, const struct created_process *p)
{
	char raw[sizeof(p->comm) + 1], clean[sizeof(p->comm) * 4];

	snprintf(raw, sizeof(raw), "%.*s", (int)sizeof(p->comm), p->comm);
	struct snap_creator item = {
		.pid = p->pid,
		.comm = perfsnap_add_text(s, text_clean(clean, sizeof(clean), raw)),
		.opened = p->opened,
		.inherited = p->inherited,
		.refused = p->refused,
	};
	return perfsnap_add_creator(s, &item);
}

/* Adds as much as fits into a call, and continues there. */
static int add_reported(struct created *c, struct perfsnap *s)
{
	enum { AT_ONCE = 64 };
	struct created_key keys[AT_ONCE];
	struct created_process found[AT_ONCE];
	uint64_t from[8], to[8]; /* opaque to us */
	bool is_first = true;
	int code = 0, ended = 0;

	while (code == 0 && !ended) {
		uint32_t n = AT_ONCE;
		ended = bpf_map_lookup_batch(c->map, is_first ? NULL : from, to, keys, found, &n,
					     NULL) < 0
				? errno
				: 0;
		/* No bucket of the table has more entries than fit here. */
		if (ended && ended != ENOENT)
			return error_errno(&c->why, -ended,
					   "Cannot read the creators of breakpoints");
		for (uint32_t k = 0; code == 0 && k < n; k++)
			code = add_process(s, &found[k]);
		memcpy(from, to, sizeof(from));
		is_first = false;
	}
	return code;
}

static struct created_process *known_process(struct created *c, int32_t pid, const char *comm)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->known[k].pid == pid && !strncmp(c->known[k].comm, comm, 15))
			return &c->known[k];
	if (c->n == CREATED_KNOWN)
		return NULL;
	struct created_process *p = &c->known[c->n++];
	*p = (struct created_process){.pid = pid};
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
	return p;
}

/* Notes the creator of a new breakpoint. */
static void note_new(struct created *c, const struct perfsnap *s, const struct snap_event *e)
{
	int32_t pid = e->owner_pid;
	uint32_t comm = e->owner_comm;

	if (e->flags & SNAP_PTRACE) {
		pid = e->tracer_pid;
		comm = e->tracer_comm;
	} else if (e->flags & SNAP_CHILD) {
		pid = e->target_pid;
		comm = e->target_comm;
	}
	struct created_process *p = known_process(c, pid, perfsnap_text(s, comm));
	if (!p)
		c->lost++;
	else if (e->flags & SNAP_CHILD)
		p->inherited++;
	else
		p->opened++;
}

static int add_seen(struct created *c, struct perfsnap *s)
{
	uint64_t newest = c->seen_id;
	int code = 0;

	for (size_t k = 0; k < s->n_events; k++) {
		const struct snap_event *e = &s->events[k];
		if (e->type != PERF_TYPE_BREAKPOINT || e->flags & SNAP_OWN)
			continue;
		newest = e->id > newest ? e->id : newest;
		if (c->has_looked && e->id > c->seen_id)
			note_new(c, s, e);
	}
	c->seen_id = newest;
	c->has_looked = true;
	for (size_t k = 0; code == 0 && k < c->n; k++)
		code = add_process(s, &c->known[k]);
	return code;
}

/*
 * As long as no CPU has breakpoints of its own, the programs need not add those up. They say so
 * themselves when they see one opened.
 */
static void note_pinned(struct created *c, const struct perfsnap *s)
{
	bool is_pinned = false;

	for (size_t k = 0; k < s->n_slots; k++)
		is_pinned |= s->slots[k].cpu_pinned != 0;
	if (is_pinned || !c->has_looked)
		c->state->is_pinned = is_pinned;
	c->has_looked = true;
}

static void mark_most(struct created *c, struct perfsnap *s)
{
	for (size_t k = 0; k < s->n_slots; k++) {
		struct snap_slots *l = &s->slots[k];
		int64_t used = (int64_t)l->cpu_pinned + l->task_pinned_max;
		if (l->cpu >= CREATED_CPUS || l->cpu_pinned < 0 || l->task_pinned_max < 0)
			continue;
		uint32_t pool = l->type == SNAP_SLOT_DATA;
		uint32_t *most = &c->most[l->cpu][pool];
		*most = used > *most ? (uint32_t)used : *most;
		if (c->state && c->state->most[l->cpu][pool] > *most)
			*most = c->state->most[l->cpu][pool];
		l->most = *most + 1;
	}
}

int created_fill(struct created *c, struct perfsnap *s)
{
	char clean[sizeof(c->why.text)];
	int code = c->object ? add_reported(c, s) : add_seen(c, s);

	/* Falls back to comparing snapshots. */
	if (code < 0 && code != -ENOMEM) {
		stop(c);
		c->has_looked = false;
		s->n_creators = 0;
		code = add_seen(c, s);
	}
	c->first_ns = c->first_ns ? c->first_ns : s->head.time_ns;
	if (c->state)
		note_pinned(c, s);
	mark_most(c, s);
	s->head.creations = c->object ? SNAP_CREATIONS_EVENTS : SNAP_CREATIONS_LOOKS;
	s->head.creations_since_ns = c->first_ns;
	s->head.creations_lost = c->state ? c->state->dropped : c->lost;
	if (c->why.code < 0)
		s->head.creations_reason =
			perfsnap_add_text(s, text_clean(clean, sizeof(clean), c->why.text));
	return code;
}

void created_deinit(struct created *c)
{
	stop(c);
}
