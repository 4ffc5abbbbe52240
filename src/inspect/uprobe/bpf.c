// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the programs that read uprobes and lets them learn what they need: which parts this
 * kernel's structures have (from BTF), how far apart per-CPU memory of the CPUs is (by a map of
 * ours, whose value each CPU sees at another address), and what files of perf events and BPF links
 * look like (by an event and a link of ours).
 */
#include "bpf.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char uprobe_object[], uprobe_object_end[];

struct up_programs {
	struct bpf_object *object;
	struct bpf_link *tasks, *files;
	struct bpf_run_part areas_part, tasks_part, events_part, holders_part;
	/* In a PID namespace, in place of these: they show the tasks of that one only. */
	int walk_tasks, walk_files;
	bool is_inner, counts_own;
	uint32_t n_cpus;
};

static bool has_member(struct kerntypes *types, const char *type, const char *name)
{
	const struct btf *btf = kerntypes_btf(types, NULL);
	int id = kerntypes_find(types, type, BTF_KIND_STRUCT);

	if (id < 0)
		return false;
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)id);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		if (strcmp(btf__name_by_offset(btf, m->name_off), name) == 0)
			return true;
	}
	return false;
}

static int read_btf(struct up_config *c, struct kerntypes *types, struct error *err)
{
	if (!kerntypes_btf(types, err))
		return err->code;
	bool has = has_member(types, "task_struct", "utask");
	bool counts = has_member(types, "trace_uprobe", "nhits") ||
		      has_member(types, "trace_uprobe", "nhit");
	c->has_uprobe_events = counts && has_member(types, "trace_probe_event", "probes");
	c->uprobe_flag = kerntypes_enumerator(types, "TRACE_EVENT_FL_UPROBE");
	return has ? 0 : error_set(err, -ENOTSUP, "This kernel has no uprobes (CONFIG_UPROBES)");
}

/* Maps the arrays as far as the programs have filled them in. */
static int show_arrays(struct up_bpf *b)
{
	struct up_programs *p = b->programs;
	const struct up_state *s = b->state;

	b->areas = bpf_run_part_read(&p->areas_part, s->n_areas);
	if (!b->areas)
		return -errno;
	b->tasks = bpf_run_part_read(&p->tasks_part, s->n_tasks);
	if (!b->tasks)
		return -errno;
	b->events = bpf_run_part_read(&p->events_part, s->n_events);
	if (!b->events)
		return -errno;
	b->holders = bpf_run_part_read(&p->holders_part, s->n_holders);
	return b->holders ? 0 : -errno;
}

static int map_arrays(struct up_bpf *b, struct error *err)
{
	struct up_programs *p = b->programs;
	struct bpf_object *o = p->object;

	b->state = bpf_run_map(o, ".bss", sizeof(*b->state), PROT_READ | PROT_WRITE, err);
	if (!b->state)
		return err->code;
	int code = bpf_run_part_open(&p->areas_part, o, "areas", sizeof(*b->areas), UP_AREAS, err);
	if (code == 0)
		code = bpf_run_part_open(&p->tasks_part, o, "tasks", sizeof(*b->tasks), UP_TASKS,
					 err);
	if (code == 0)
		code = bpf_run_part_open(&p->events_part, o, "events", sizeof(*b->events),
					 UP_EVENTS, err);
	if (code == 0)
		code = bpf_run_part_open(&p->holders_part, o, "holders", sizeof(*b->holders),
					 UP_HOLDERS, err);
	if (code < 0)
		return code;
	code = show_arrays(b);
	return code < 0 ? error_errno(err, code, "Cannot map the BPF maps of uprobes") : 0;
}

static int attach(struct up_programs *p, struct error *err)
{
	p->tasks = bpf_run_iterator(p->object, "read_tasks", err);
	p->files = p->tasks ? bpf_run_iterator(p->object, "read_holders", err) : NULL;
	if (!p->files)
		return err->code;
	if (!p->is_inner)
		return 0;
	p->walk_tasks = bpf_run_program(p->object, "walk_tasks", err);
	p->walk_files = bpf_run_program(p->object, "walk_holders", err);
	return p->walk_files < 0 || p->walk_tasks < 0 ? err->code : 0;
}

/* CPUs that are offline have no anchor: their hits count only after kontend is started again. */
static int learn_anchors(struct up_bpf *b, struct error *err)
{
	int anchor = bpf_run_program(b->programs->object, "learn_anchor", err);
	int pointer = bpf_run_program(b->programs->object, "learn_pointer", err);

	if (anchor < 0 || pointer < 0)
		return err->code;
	for (uint32_t cpu = 0; cpu < b->programs->n_cpus; cpu++)
		(void)bpf_run_once(anchor, (int)cpu);
	int code = bpf_run_once(pointer, -1);
	return code < 0 ? error_errno(err, code, "Cannot run a BPF program") : 0;
}

static int open_dummy(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return perf_event_open(&attr, 0, -1, 0);
}

/* One walk with both open: files of events and links are known from then on. */
static int learn_files(struct up_bpf *b)
{
	int fd = open_dummy();

	b->state->perf_fd = fd < 0 ? -1 : fd;
	b->state->link_fd = bpf_link__fd(b->programs->files);
	int code = up_bpf_walk_files(b);
	b->state->perf_fd = b->state->link_fd = -1;
	if (fd >= 0)
		close(fd);
	return code;
}

static int prepare(struct bpf_object *o, const void *arg)
{
	const struct up_programs *p = arg;
	struct bpf_map *own = bpf_object__find_map_by_name(o, "own");

	if (!own)
		return -ENOENT;
	return p->counts_own ? 0 : bpf_map__set_max_entries(own, 1);
}

static int set_up(struct up_bpf *b, int32_t uprobe_type, struct kerntypes *types, struct error *err)
{
	struct up_config c = {.uprobe_type = uprobe_type, .self = getpid()};
	int32_t slots = up_slots();
	int code = read_btf(&c, types, err);

	code = code < 0 ? code : ns_own(&c.ns, types, err);

	code = code < 0 ? code : bpf_run_count_cpus(&b->programs->n_cpus, UP_CPUS, err);
	if (code == 0) {
		c.n_cpus = b->programs->n_cpus;
		c.words = ((uint32_t)slots + 64) / 64; /* with the one that is kept */
		c.words = slots < 0 ? 1 : c.words > UP_WORDS ? UP_WORDS : c.words;
		struct bpf_run_file f = {
			.bytes = uprobe_object,
			.len = (size_t)(uprobe_object_end - uprobe_object),
			.config = &c,
			.config_size = sizeof(c),
			.types = types,
			.prepare = prepare,
			.prepare_arg = b->programs,
		};
		code = bpf_run_load(&b->programs->object, &f, err);
	}
	b->programs->is_inner = c.ns.level > 0;
	code = code < 0 ? code : map_arrays(b, err);
	code = code < 0 ? code : attach(b->programs, err);
	code = code < 0 ? code : learn_anchors(b, err);
	if (code == 0 && (code = learn_files(b)) < 0)
		error_errno(err, code, "Cannot run a BPF iterator");
	return code;
}

int up_bpf_open(struct up_bpf *b, int32_t uprobe_type, bool counts_own, struct kerntypes *shared,
		struct error *err)
{
	struct kerntypes *own;

	*b = (struct up_bpf){.programs = mem_calloc(1, sizeof(*b->programs))};
	if (!b->programs)
		return error_enomem(err, "the BPF inspector");
	b->programs->counts_own = counts_own;
	struct kerntypes *types = kerntypes_or(shared, &own, err);
	int code = types ? set_up(b, uprobe_type, types, err) : -ENOMEM;
	kerntypes_free(own);
	if (code < 0)
		up_bpf_close(b);
	return code;
}

int up_bpf_walk(struct up_bpf *b)
{
	struct up_state *s = b->state;

	s->n_areas = s->n_tasks = s->n_events = s->torn = s->dropped = 0;
	int code = b->programs->is_inner ? bpf_run_once(b->programs->walk_tasks, -1)
					 : bpf_run_iterate(b->programs->tasks);
	return code < 0 ? code : show_arrays(b);
}

int up_bpf_walk_files(struct up_bpf *b)
{
	b->state->n_holders = 0;
	int code = b->programs->is_inner ? bpf_run_once(b->programs->walk_files, -1)
					 : bpf_run_iterate(b->programs->files);
	return code < 0 ? code : show_arrays(b);
}

int up_bpf_map_own(struct up_bpf *b)
{
	struct error err = {0};

	if (!b->programs->counts_own)
		return -ENOTSUP;
	if (!b->own)
		b->own = bpf_run_map(b->programs->object, "own", UP_OWN * sizeof(*b->own),
				     PROT_READ | PROT_WRITE, &err);
	return b->own ? 0 : err.code;
}

int up_bpf_count(struct up_bpf *b, uint32_t i, int fd)
{
	struct bpf_link_create_opts o;
	struct error err = {0};
	int program = bpf_run_program(b->programs->object, "count_own", &err);

	if (program < 0 || i >= UP_OWN)
		return program < 0 ? program : -E2BIG;
	/* The other members of the union have to be zero as well, which an initializer need not do.
	 */
	memset(&o, 0, sizeof(o));
	o.sz = sizeof(o);
	o.perf_event.bpf_cookie = i;
	int link = bpf_link_create(program, fd, BPF_PERF_EVENT, &o);
	return link < 0 ? -errno : link;
}

void up_bpf_close(struct up_bpf *b)
{
	struct up_programs *p = b->programs;

	bpf_run_unmap(b->state, sizeof(*b->state));
	bpf_run_unmap(b->own, UP_OWN * sizeof(*b->own));
	if (p) {
		bpf_run_part_close(&p->areas_part);
		bpf_run_part_close(&p->tasks_part);
		bpf_run_part_close(&p->events_part);
		bpf_run_part_close(&p->holders_part);
		bpf_link__destroy(p->tasks);
		bpf_link__destroy(p->files);
		bpf_object__close(p->object);
		mem_free(p);
	}
	*b = (struct up_bpf){0};
}
