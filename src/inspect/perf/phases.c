// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places the probes of the phases and reads their sums. The kernel finds them by the names of its
 * functions, which differ between kernels: one that the compiler has inlined is replaced by a
 * function that is called at the same point. If one probe of a pair is refused the other is
 * removed, too.
 */
#include "bpf-run.h"
#include "btf/types.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/snapshot-phases.h"
#include "kontend/text.h"
#include "phases-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char phases_object[], phases_object_end[];

enum { LINKS = 5, PATH_TEXT = 512 };

struct snapshot_phases {
	struct bpf_object *object;
	struct bpf_link *links[LINKS];
	size_t n_links;
	struct phases_state *state;
	const struct phases_cpu *cpus;
	uint32_t n_cpus;
	int pairs; /* descriptor */
	uint64_t from_ns;
	const char *turn; /* NULL: phases of rotation are not measured */
	bool cgroups;
	struct error no_rotation, no_cgroups;
	struct cgroup_names names;
};

_Static_assert(PHASES_BUCKETS == (int)PHASESNAP_BUCKETS, "they are copied");

/*
 * Functions that rotate the events of a context, on kernels that have them, and functions that
 * these call.
 */
static const char *const turns[] = {"rotate_ctx", "rotate_ctx.part.0", "rotate_ctx.isra.0",
				    "perf_event_groups_insert", "perf_event_groups_insert.isra.0"};
/* The name since Linux 4.2, and the earlier one. */
static const char *const timers[] = {"perf_mux_hrtimer_handler", "perf_cpu_hrtimer_handler"};

static int place(struct snapshot_phases *p, const char *program, const char *function, bool at_end)
{
	struct bpf_kprobe_opts how = {.sz = sizeof(how), .retprobe = at_end};
	struct bpf_program *prog = bpf_object__find_program_by_name(p->object, program);
	struct bpf_link *l = prog ? bpf_program__attach_kprobe_opts(prog, function, &how) : NULL;

	if (!l)
		return prog ? -errno : -ENOENT;
	p->links[p->n_links++] = l;
	return 0;
}

/*
 * Places it at the first function that this kernel has: returns its name, or NULL with *ret_code.
 */
static const char *place_first(struct snapshot_phases *p, const char *program,
			       const char *const *functions, size_t n, int *ret_code)
{
	*ret_code = -ENOENT;
	for (size_t i = 0; i < n; i++) {
		*ret_code = place(p, program, functions[i], false);
		if (*ret_code == 0)
			return functions[i];
	}
	return NULL;
}

static void remove_from(struct snapshot_phases *p, size_t first)
{
	while (p->n_links > first)
		bpf_link__destroy(p->links[--p->n_links]);
}

/* Kernels without kprobes have no such PMU, and no file of them either. */
static int explain(const char *what, int code, struct error *err)
{
	if (access("/sys/bus/event_source/devices/kprobe", F_OK) < 0)
		return error_set(err, -ENOTSUP,
				 "This kernel has no PMU kprobe (CONFIG_KPROBE_EVENTS), so kontend "
				 "cannot place a probe at %s",
				 what);
	return error_errno(err, code, "The kernel refuses a probe at %s", what);
}

static void place_rotation(struct snapshot_phases *p)
{
	size_t before = p->n_links;
	int code;
	const char *timer = place_first(p, "phase_begin", timers, 2, &code);

	if (timer)
		code = place(p, "phase_end", timer, true);
	if (code < 0) {
		explain(timers[0], code, &p->no_rotation);
	} else {
		p->turn =
			place_first(p, "phase_turn", turns, sizeof(turns) / sizeof(*turns), &code);
		if (!p->turn)
			explain(turns[0], code, &p->no_rotation);
	}
	if (!p->turn)
		remove_from(p, before);
}

static void place_cgroups(struct snapshot_phases *p)
{
	static const char function[] = "perf_cgroup_switch";
	size_t before = p->n_links;
	int code = place(p, "cgroup_begin", function, false);

	code = code < 0 ? code : place(p, "cgroup_end", function, true);
	p->cgroups = code == 0;
	if (code == 0)
		return;
	remove_from(p, before);
	explain(function, code, &p->no_cgroups);
}

static int size_arrays(struct bpf_object *o, const void *arg)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, "phase_cpus");

	return m ? bpf_map__set_max_entries(m, *(const uint32_t *)arg) : -ENOENT;
}

static int load(struct snapshot_phases *p, struct kerntypes *types, struct error *err)
{
	const struct phases_config config = {
		.subsys = (uint32_t)kerntypes_enumerator(types, "perf_event_cgrp_id")};
	struct bpf_run_file f = {
		.bytes = phases_object,
		.len = (size_t)(phases_object_end - phases_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
		.prepare = size_arrays,
		.prepare_arg = &p->n_cpus,
	};
	int code = bpf_run_count_cpus(&p->n_cpus, PHASES_CPUS, err);

	code = code < 0 ? code : bpf_run_load(&p->object, &f, err);
	if (code < 0)
		return code;
	p->pairs = bpf_object__find_map_fd_by_name(p->object, "phase_pairs");
	p->state = bpf_run_map(p->object, ".bss", sizeof(*p->state), PROT_READ | PROT_WRITE, err);
	p->cpus =
		bpf_run_map(p->object, "phase_cpus", p->n_cpus * sizeof(*p->cpus), PROT_READ, err);
	return p->cpus && p->state ? 0 : err->code;
}

int snapshot_phases_new(struct snapshot_phases **ret, struct kerntypes *types, struct error *err)
{
	struct snapshot_phases *p = mem_calloc(1, sizeof(*p));
	struct kerntypes *own;

	*ret = NULL;
	if (!p)
		return error_enomem(err, "probes of rotation");
	types = kerntypes_or(types, &own, err);
	int code = types ? load(p, types, err) : err->code;
	kerntypes_free(own);
	if (code == 0) {
		place_rotation(p);
		place_cgroups(p);
		if (!p->turn && !p->cgroups)
			code = error_set(err, p->no_rotation.code, "%s", p->no_rotation.text);
	}
	if (code < 0) {
		snapshot_phases_free(p);
		return code;
	}
	*ret = p;
	return 0;
}

static int take_cpu(const struct snapshot_phases *p, uint32_t cpu, struct phasesnap *ret)
{
	const struct phases_cpu *c = &p->cpus[cpu];
	struct phasesnap_cpu row = {
		.cpu = cpu,
		.n = c->n,
		.unturned = c->unturned,
		.out_ns = c->out_ns,
		.in_ns = c->in_ns,
		.out_max_ns = c->out_max,
		.in_max_ns = c->in_max,
		.switches = c->switches,
		.same = c->same,
		.switch_ns = c->switch_ns,
		.switch_max_ns = c->switch_max,
	};

	ret->head.dropped += c->dropped;
	if (!c->n && !c->unturned && !c->switches && !c->same)
		return 0;
	memcpy(row.out, c->out, sizeof(row.out));
	memcpy(row.in, c->in, sizeof(row.in));
	return phasesnap_add_cpu(ret, &row);
}

static uint32_t add_path(struct snapshot_phases *p, struct phasesnap *ret, uint64_t id)
{
	const char *path = id ? cgroup_names_get(&p->names, "/proc/self/mounts", id) : NULL;
	char clean[PATH_TEXT];

	return path ? phasesnap_add_text(ret, text_clean(clean, sizeof(clean), path)) : 0;
}

static int take_pairs(struct snapshot_phases *p, struct phasesnap *ret)
{
	struct phases_pair key, *before = NULL;
	struct phases_sum sum;
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < PHASES_PAIRS; i++) {
		struct phases_pair next;
		if (bpf_map_get_next_key(p->pairs, before, &next) < 0)
			break;
		key = next;
		before = &key;
		if (bpf_map_lookup_elem(p->pairs, &key, &sum) < 0)
			continue;
		struct phasesnap_pair row = {
			.from = key.from, .to = key.to, .n = sum.n, .ns = sum.ns};
		row.from_path = add_path(p, ret, key.from);
		row.to_path = add_path(p, ret, key.to);
		code = phasesnap_add_pair(ret, &row);
	}
	return code;
}

int snapshot_phases_take(struct snapshot_phases *p, struct phasesnap *ret)
{
	int code = 0;

	/* Earlier, opening the measurement causes events of its own. */
	if (!p->state->on) {
		p->from_ns = clock_now_ns();
		p->state->on = 1;
	}
	phasesnap_clear(ret);
	ret->head = (struct phasesnap_head){.time_ns = clock_now_ns(), .from_ns = p->from_ns};
	if (p->turn)
		ret->head.turn = phasesnap_add_text(ret, p->turn);
	else
		ret->head.missing |= PHASESNAP_NO_ROTATION;
	if (!p->cgroups)
		ret->head.missing |= PHASESNAP_NO_CGROUPS;
	ret->head.reason = phasesnap_add_text(ret, p->no_rotation.text);
	ret->head.cgroup_reason = phasesnap_add_text(ret, p->no_cgroups.text);
	for (uint32_t cpu = 0; code == 0 && cpu < p->n_cpus; cpu++)
		code = take_cpu(p, cpu, ret);
	return code < 0 ? code : take_pairs(p, ret);
}

void snapshot_phases_free(struct snapshot_phases *p)
{
	if (!p)
		return;
	remove_from(p, 0);
	bpf_run_unmap(p->state, sizeof(*p->state));
	bpf_run_unmap(p->cpus, p->n_cpus * sizeof(*p->cpus));
	bpf_object__close(p->object);
	cgroup_names_deinit(&p->names);
	mem_free(p);
}
