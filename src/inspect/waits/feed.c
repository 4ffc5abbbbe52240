// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and attaches the programs of waits: raw tracepoints, which the kernel removes when their
 * descriptors are closed.
 */
#include "bpf-run.h"
#include "btf/types.h"
#include "frames-shared.h"
#include "idle.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/nsview.h"
#include "kontend/pidns.h"
#include "kontend/sysinfo.h"
#include "kontend/waitfeed.h"
#include "kontend/waitrec.h"
#include "locks/calls-on.h"
#include "shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char waits_object[], waits_object_end[];

enum { LINKS = 16, LONG_SLEEP_NS = 100000, PPM = 1000000 };

/* The objects of one CPU. */
struct waits_own {
	struct waits_cpu *cpu; /* mapped; NULL: the CPU is not measured */
	int map;	       /* until the programs have the map */
	uint64_t id;	       /* of its event, 0: none */
};

struct waitfeed {
	struct feed feed;
	struct bpf_object *object;
	int rings; /* descriptor of the map of events */
	int maps;  /* and of that of each CPU's own */
	struct waits_own *own;
	uint32_t n_cpus; /* 0: waits are not reported */
	enum waits_scope scope;
	bool owners;
	struct sched typed, only_follow;
	struct follow *follow;		   /* NULL: holders are not followed, */
	struct user_frames *user_frames;   /* NULL: they are not taken */
	struct shorts *shorts;		   /* NULL: all waits are reported one by one */
	struct idle *idle;		   /* NULL: for how long CPUs are idle is not known */
	struct error no_follow, no_sleeps; /* the kernel's error, if they were requested */
	bool sleeps;			   /* are measured */
	bool sums;			   /* of those in state D */
	uint64_t min_sleep_ns, user_ns;
	bool releases;		     /* requested, and the kernel has them */
	bool files;		     /* the kernel reports waits for locks of files, */
	_Atomic bool files_reported; /* and the programs do; set by the thread that attaches */
	int file_states;	     /* the map of how many wait */
	struct why *why;	     /* NULL: what tasks do is not reported */
	struct nsview *ns;	     /* borrowed, or NULL */
	int links[LINKS];	     /* attached programs */
	size_t n_links;
};

static struct waitfeed *of_feed(struct feed *feed)
{
	return (struct waitfeed *)feed;
}

size_t waitfeed_cpu_bytes(uint64_t asked, size_t n)
{
	return sizeof(struct waits_cpu) + ring_own_bytes(asked, sizeof(struct waits_cpu), n);
}

/* The array of a CPU, in memory near it. Negative: errno. */
static int create_own(const struct waitfeed *f, uint32_t cpu)
{
	const struct bpf_map_create_opts how = {
		.sz = sizeof(how),
		.map_flags = BPF_F_MMAPABLE | BPF_F_NUMA_NODE,
		.numa_node = (uint32_t)sysinfo_cpu_node(cpu),
	};

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "waits_cpu", sizeof(cpu),
			      (uint32_t)f->feed.cpu_bytes, 1, &how);
}

static int make_own(struct waitfeed *f, uint32_t cpu)
{
	int map = create_own(f, cpu);

	if (map < 0)
		return map;
	void *p = mmap(NULL, f->feed.cpu_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (p == MAP_FAILED) {
		int code = -errno;
		close(map);
		return code;
	}
	f->own[cpu].cpu = p;
	f->own[cpu].map = map;
	return 0;
}

/*
 * Updates all at once: for each update the kernel waits until no program can use the old state,
 * which takes tens of milliseconds.
 */
static int give_own(struct waitfeed *f, uint32_t *cpus, int *maps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_cpus; i++) {
		if (!f->own[i].cpu)
			continue;
		cpus[n] = i;
		maps[n++] = f->own[i].map;
	}
	if (!n || bpf_map_update_batch(f->maps, cpus, maps, &n, NULL) == 0)
		return 0;
	/* A kernel that accepts one at a time. */
	for (uint32_t i = 0; i < f->n_cpus; i++)
		if (f->own[i].cpu && bpf_map_update_elem(f->maps, &i, &f->own[i].map, BPF_ANY) < 0)
			return -errno;
	return 0;
}

/* The programs keep the arrays as long as they exist. */
static void close_own(struct waitfeed *f)
{
	for (uint32_t i = 0; f->own && i < f->n_cpus; i++) {
		if (f->own[i].map > 0)
			close(f->own[i].map);
		f->own[i].map = 0;
	}
}

static int start_own(struct waitfeed *f, struct error *err)
{
	uint32_t *cpus = mem_calloc(f->n_cpus + 1, sizeof(*cpus));
	int *maps = mem_calloc(f->n_cpus + 1, sizeof(*maps));
	int code = cpus && maps ? give_own(f, cpus, maps) : -ENOMEM;

	close_own(f);
	mem_free(cpus);
	mem_free(maps);
	return code < 0 ? error_errno(err, code, "Cannot pass the rings of waits to BPF") : 0;
}

/* Records have the id of the CPU's first event, which the stream has announced. */
static int set_ring(struct feed *feed, uint32_t cpu, int fd)
{
	struct waitfeed *f = of_feed(feed);
	struct waits_own *own = cpu < f->n_cpus ? &f->own[cpu] : NULL;
	int code = own && !own->cpu ? make_own(f, cpu) : 0;

	if (code < 0)
		return code;
	if (f->follow)
		follow_add_cpu(f->follow, cpu);
	if (own && !own->id && ioctl(fd, PERF_EVENT_IOC_ID, &own->id) < 0)
		return -errno;
	return bpf_map_update_elem(f->rings, &cpu, &fd, BPF_ANY) < 0 ? -errno : 0;
}

static void enable(struct feed *feed, bool on)
{
	struct waitfeed *f = of_feed(feed);

	for (uint32_t i = 0; i < f->n_cpus; i++) {
		struct waits_own *own = &f->own[i];
		if (!own->cpu)
			continue;
		__atomic_store_n(&own->cpu->nested.id, on ? own->id : 0, __ATOMIC_RELEASE);
		__atomic_store_n(&own->cpu->ring.id, on ? own->id : 0, __ATOMIC_RELEASE);
	}
}

static bool ring(struct feed *feed, uint32_t cpu, unsigned nth, struct ring *ret)
{
	struct waitfeed *f = of_feed(feed);
	struct waits_cpu *own = cpu < f->n_cpus ? f->own[cpu].cpu : NULL;

	if (!own || nth >= FEED_RINGS)
		return false;
	struct waits_ring *r = nth ? &own->nested : &own->ring;
	*ret = (struct ring){
		.base = (const uint8_t *)(nth ? own->nested_data : own->data),
		.size = nth ? sizeof(own->nested_data) : f->feed.ring_bytes,
		.head = (const uint64_t *)&r->head,
		.tail = (uint64_t *)&r->tail,
		.gap = &r->gap,
		.missed = &r->missed,
	};
	return true;
}

static bool follow(struct feed *feed, struct feed_follow *ret)
{
	const struct waitfeed *f = of_feed(feed);

	if (f->follow)
		follow_counts(f->follow, ret);
	return f->follow;
}

static const void *shorts(struct feed *feed, bool begin, uint64_t now_ns, size_t *ret_len)
{
	struct waitfeed *f = of_feed(feed);

	return f->shorts ? short_snapshot(f->shorts, begin, now_ns, ret_len) : NULL;
}

static bool idle(struct feed *feed, uint64_t *ret_at_ns, uint64_t *ret_ns)
{
	struct waitfeed *f = of_feed(feed);

	return f->idle && idle_read(f->idle, ret_at_ns, ret_ns);
}

/*
 * BPF identifies threads by their number in the initial namespace, which differs from ours in
 * another one.
 */
static bool in_init_pidns(const struct nsview *ns)
{
	return ns || !pidns_is_inner();
}

static bool fits_cpu_filter(const struct target *t)
{
	for (size_t i = 0; i < t->n_cpus; i++)
		if (t->cpus[i] >= WAITS_CPUS)
			return false;
	return true;
}

/* False: the program would have to report all tasks. */
static bool scope_of(const struct waitfeed_options *o, enum waits_scope *ret)
{
	const struct target *t = o->target;

	switch (t->kind) {
	case TARGET_SYSTEM:
		*ret = WAITS_ALL;
		return true;
	case TARGET_CGROUP:
		*ret = WAITS_CGROUP;
		return true;
	case TARGET_TIDS:
		*ret = WAITS_TIDS;
		break;
	case TARGET_PIDS:
	case TARGET_COMMAND:
		*ret = WAITS_PIDS;
		break;
	}
	return t->n_ids < WAITS_IDS && in_init_pidns(o->ns);
}

bool waitfeed_covers(const struct waitfeed_options *o)
{
	enum waits_scope w;

	return o->max_stack <= WAITREC_FRAMES && in_init_pidns(o->ns) &&
	       fits_cpu_filter(o->target) && scope_of(o, &w);
}

/* @name: of a tracepoint in the kernel's types. */
static bool has_tracepoint(struct kerntypes *types, const char *name)
{
	return kerntypes_find(types, name, BTF_KIND_TYPEDEF) >= 0;
}

/* See waits_config.word_type. */
static uint32_t word_type(struct kerntypes *types)
{
	int type = kerntypes_find(types, "timespec64", BTF_KIND_STRUCT);

	return kerntypes_find(types, "bpf_rdonly_cast", BTF_KIND_FUNC) < 0 || type < 0
		       ? 0
		       : (uint32_t)type;
}

static bool wants_shorts(const struct waitfeed_options *o)
{
	return o->waits && (o->short_ns || o->cost_ppm);
}

static uint32_t frames_ns(const struct waitfeed_options *o)
{
	return (uint32_t)((1ull << FRAMES_PERIOD_SHIFT) * o->frames_ppm / PPM);
}

static struct waits_config config_of(const struct waitfeed_options *o, struct kerntypes *types,
				     uint32_t ring_bytes)
{
	const struct target *t = o->target;
	struct waits_config c = {
		.ring_bytes = ring_bytes,
		.waits = o->waits,
		.owners = o->owners,
		.frames = o->max_stack,
		.user_frames = o->user_frames && o->max_stack,
		.frames_ns = frames_ns(o),
		.follow_ns = o->follow_ns,
		.slept = {.min_ns = o->min_sleep_ns, .long_ns = LONG_SLEEP_NS},
		.shorts = wants_shorts(o),
		.word_type = word_type(types),
		.mnt_ns = pidns_own_mounts(),
	};
	enum waits_scope w;

	calls_on_codes(c.on_calls);
	if (o->ns)
		c.ns = *nsview_config(o->ns);
	if (!t)
		return c;
	if (scope_of(o, &w))
		c.scope = w;
	c.by_cpu = t->n_cpus > 0 && fits_cpu_filter(t);
	for (size_t i = 0; c.by_cpu && i < t->n_cpus; i++)
		c.cpus[t->cpus[i] / 64] |= 1ull << t->cpus[i] % 64;
	return c;
}

static int map_of(const struct waitfeed *f, const char *name, struct error *err)
{
	int map = bpf_object__find_map_fd_by_name(f->object, name);

	return map < 0 ? error_set(err, -ENOENT, "The BPF object has no map %s", name) : map;
}

static int report_id(const struct waitfeed *f, uint32_t id, struct error *err)
{
	int map = map_of(f, "ids", err);
	const uint8_t is_one = 1;
	int code = 0;

	if (map < 0)
		return map;
	/*
	 * The program identifies them by their numbers in the initial namespace; a task that has
	 * ended has none.
	 */
	if (f->ns && !(id = (uint32_t)nsview_host_id(f->ns, (int32_t)id)))
		return 0;
	code = bpf_map_update_elem(map, &id, &is_one, BPF_ANY) < 0 ? -errno : 0;
	if (code == 0 && f->why)
		code = why_choose(f->why, id);
	return code < 0 ? error_errno(err, code, "Cannot pass task %u to BPF", id) : 0;
}

static int report_cgroup(const struct waitfeed *f, const char *path, struct error *err)
{
	int map = map_of(f, "cgroups", err), fd = map < 0 ? map : cgroup_open(path, err);
	const uint32_t first = 0;
	int code = 0;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(map, &first, &fd, BPF_ANY) < 0)
		code = error_errno(err, -errno, "Cannot pass cgroup '%s' to BPF", path);
	close(fd);
	return code;
}

/* Tasks that have started meanwhile get a number, too. */
static int look_again(const struct waitfeed *f, struct error *err)
{
	int code = f->ns ? nsview_look(f->ns) : 0;

	return code < 0 && code != -EAGAIN ? error_errno(err, code, "Cannot walk all tasks by BPF")
					   : 0;
}

static int report_target(const struct waitfeed *f, const struct target *t, struct error *err)
{
	int code = look_again(f, err);

	if (f->scope == WAITS_CGROUP)
		return report_cgroup(f, t->cgroup, err);
	for (size_t i = 0; f->scope != WAITS_ALL && code == 0 && i < t->n_ids; i++)
		code = report_id(f, (uint32_t)t->ids[i], err);
	return code;
}

static int leave_releases(struct bpf_object *o)
{
	static const char *const names[] = {"see_release", "see_nested_release"};

	return bpf_run_leave_programs(o, names, 2);
}

/* Features that are tried, as the kernel may refuse some. */
struct parts {
	bool follow, sleeps, apart; /* apart: by programs of their own */
};

static bool needs(const struct parts *p, enum sched_kind kind)
{
	bool is_shared = p->follow && p->sleeps && !p->apart;

	if (kind == SCHED_SHARED)
		return is_shared;
	return !is_shared && (kind == SCHED_TYPED ? p->sleeps : p->follow);
}

static int leave_sched(struct bpf_object *o, const struct waitfeed *f, const struct parts *p)
{
	int code = p->follow ? 0 : follow_leave(o);

	code = code < 0 || p->sleeps ? code : idle_leave(o);
	code = code < 0 ? code : slept_leave(o, p->sleeps && f->sums, p->sleeps && f->user_ns);
	for (int kind = 0; code == 0 && kind < SCHED_KINDS; kind++)
		if (!needs(p, (enum sched_kind)kind))
			code = sched_leave_out(o, (enum sched_kind)kind);
	return code;
}

struct sizes {
	const struct waitfeed *f;
	const struct parts *parts;
	bool shorts;
	int own; /* an array as the CPUs get */
};

/*
 * Before the object is loaded: sets the number of rings to that of possible CPUs, with the
 * requested size, and makes room for tasks only if there is a list of them.
 */
static int prepare(struct bpf_object *o, const void *arg)
{
	const struct sizes *s = arg;
	const struct waitfeed *f = s->f;
	struct bpf_map *own = bpf_object__find_map_by_name(o, "own");
	struct bpf_map *ids = bpf_object__find_map_by_name(o, "ids");
	int code = own && ids ? bpf_map__set_max_entries(own, f->n_cpus ? f->n_cpus : 1) : -ENOENT;

	code = code < 0 || f->releases ? code : leave_releases(o);
	code = code < 0 || f->files ? code : file_programs_leave(o);
	if (code == 0 && (f->scope == WAITS_TIDS || f->scope == WAITS_PIDS))
		code = bpf_map__set_max_entries(ids, WAITS_IDS);
	code = code < 0 ? code : leave_sched(o, f, s->parts);
	code = code < 0 ? code : short_prepare(o, s->shorts ? f->n_cpus : 0);
	return code < 0 ? code : bpf_map__set_inner_map_fd(own, s->own);
}

static int prepare_own(struct waitfeed *f, const struct waitfeed_options *o, struct error *err)
{
	uint32_t *online;
	size_t n;

	f->feed.cpu_bytes = sizeof(struct waits_cpu);
	if (!o->waits)
		return 0;
	if (cpulist_read("online", &online, &n) < 0)
		return error_errno(err, -errno, "Cannot read /sys/devices/system/cpu/online");
	mem_free(online);
	f->feed.cpu_bytes = waitfeed_cpu_bytes(o->ring_bytes, n);
	f->feed.ring_bytes = (uint32_t)(f->feed.cpu_bytes - sizeof(struct waits_cpu));
	int code = bpf_run_count_cpus(&f->n_cpus, WAITS_CPUS, err);
	if (code < 0)
		return code;
	f->own = mem_calloc(f->n_cpus, sizeof(*f->own));
	return f->own ? 0 : error_enomem(err, "the rings of waits");
}

static int load_object(struct waitfeed *f, const struct waitfeed_options *o,
		       const struct parts *parts, struct kerntypes *types, struct error *err)
{
	struct waits_config config = config_of(o, types, f->feed.ring_bytes);
	struct sizes sizes = {f, parts, config.shorts, -1};
	const struct bpf_run_file file = {.bytes = waits_object,
					  .len = (size_t)(waits_object_end - waits_object),
					  .config = &config,
					  .config_size = sizeof(config),
					  .types = types,
					  .prepare = prepare,
					  .prepare_arg = &sizes};

	config.follow = parts->follow;
	config.sleeps = parts->sleeps && o->sleeps;
	config.users = parts->sleeps && o->user_ns;
	config.idle = parts->sleeps;
	int code = parts->sleeps || o->user_frames ? ns_own(&config.slept.ns, types, err) : 0;
	if (code < 0)
		return code;
	f->scope = (enum waits_scope)config.scope;
	f->releases =
		o->waits && o->releases && has_tracepoint(types, "btf_trace_contended_release");
	f->files = file_programs_fit(types);
	sizes.own = create_own(f, 0);
	if (sizes.own < 0)
		return bpf_run_error(sizes.own, err);
	code = bpf_run_load(&f->object, &file, err);
	close(sizes.own);
	return code;
}

static int load_parts(struct waitfeed *f, const struct waitfeed_options *o,
		      const struct parts *parts, struct kerntypes *types, struct error *err)
{
	enum sched_kind typed = needs(parts, SCHED_SHARED) ? SCHED_SHARED : SCHED_TYPED;
	bool follows_apart = needs(parts, SCHED_FOLLOW);
	int code = load_object(f, o, parts, types, err);

	if (code == 0 && parts->sleeps)
		code = sched_init(&f->typed, f->object, typed, err);
	if (code == 0 && parts->sleeps)
		code = idle_new(&f->idle, f->object, &f->typed, err);
	if (code == 0 && follows_apart)
		code = sched_init(&f->only_follow, f->object, SCHED_FOLLOW, err);
	if (code == 0 && parts->follow)
		code = follow_new(&f->follow, f->object,
				  follows_apart ? &f->only_follow : &f->typed, o->follow_ns, err);
	if (code == 0)
		return 0;
	idle_free(f->idle);
	f->idle = NULL;
	bpf_object__close(f->object);
	f->object = NULL;
	return code;
}

/* Kernels that have this accept contexts in global functions of typed programs: sched.bpf.c. */
static bool can_share(struct kerntypes *types)
{
	return kerntypes_find(types, "btf_arg_tag", BTF_KIND_ENUM) >= 0 ||
	       kerntypes_find(types, "btf_arg_tag", BTF_KIND_ENUM64) >= 0;
}

/*
 * If the kernel rejects the programs that follow holders, or those of sleeps, the others work
 * without them. Without rights it rejects all.
 */
static int load_programs(struct waitfeed *f, const struct waitfeed_options *o,
			 struct kerntypes *types, struct error *err)
{
	static const struct parts tries[] = {
		{.follow = true, .sleeps = true},
		{.follow = true, .sleeps = true, .apart = true},
		{.follow = true},
		{.sleeps = true},
	};
	static const struct parts none = {0};
	int code = 0;

	for (size_t i = 0; code != -EPERM && i < sizeof(tries) / sizeof(*tries); i++) {
		const struct parts *p = &tries[i];
		struct error why = {0};

		if ((p->follow && !o->follow_ns) || (p->sleeps && !o->sleeps && !o->user_ns) ||
		    (needs(p, SCHED_SHARED) && !can_share(types)))
			continue;
		code = load_parts(f, o, p, types, &why);
		f->sleeps = code == 0 && p->sleeps;
		if (p->follow)
			f->no_follow = why;
		if (p->sleeps)
			f->no_sleeps = why;
		if (code == 0)
			return 0;
	}
	return load_parts(f, o, &none, types, err);
}

static int load(struct waitfeed *f, const struct waitfeed_options *o, struct kerntypes *types,
		struct error *err)
{
	int code = prepare_own(f, o, err);

	code = code < 0 ? code : load_programs(f, o, types, err);
	if (code == 0 && wants_shorts(o))
		code = short_new(
			&f->shorts, f->object, f->n_cpus,
			&(const struct short_options){o->short_ns, o->cost_ppm, o->report_ns}, err);
	if (code == 0 && f->feed.frames)
		code = user_frames_new(&f->user_frames, f->object, err);
	if (code == 0 && o->why)
		code = why_new(&f->why, f->object,
			       &(const struct why_options){f->scope, f->feed.frames, frames_ns(o)},
			       types, err);
	if (code == 0)
		code = report_target(f, o->target, err);
	if (code < 0)
		return code;
	f->rings = map_of(f, "rings", err);
	f->maps = map_of(f, "own", err);
	f->file_states = map_of(f, "file_states", err);
	return f->rings < 0 || f->maps < 0 || f->file_states < 0 ? err->code : 0;
}

int waitfeed_new(struct waitfeed **ret, const struct waitfeed_options *o, struct kerntypes *types,
		 struct error *err)
{
	struct waitfeed *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return error_enomem(err, "the program of waits");
	f->feed.set = set_ring;
	f->feed.enable = enable;
	f->feed.ring = ring;
	f->feed.follow = follow;
	f->feed.shorts = shorts;
	f->feed.idle = idle;
	f->feed.waits = o->waits;
	f->feed.frames = o->user_frames && o->max_stack;
	f->feed.much = o->why;
	f->ns = o->ns;
	f->owners = o->owners;
	f->min_sleep_ns = o->min_sleep_ns;
	f->sums = o->sleeps;
	f->user_ns = o->user_ns;
	struct kerntypes *own, *types_or = kerntypes_or(types, &own, err);
	int code = types_or ? load(f, o, types_or, err) : err->code;
	kerntypes_free(own);
	if (code < 0) {
		waitfeed_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

struct feed *waitfeed_feed(struct waitfeed *f)
{
	return f ? &f->feed : NULL;
}

static int attach(struct waitfeed *f, const char *tracepoint, const char *program,
		  struct error *err)
{
	int prog = bpf_run_program(f->object, program, err);

	if (prog < 0)
		return prog;
	int link = bpf_raw_tracepoint_open(tracepoint, prog);
	if (link < 0)
		return error_errno(err, -errno, "Cannot attach to the tracepoint %s", tracepoint);
	f->links[f->n_links++] = link;
	return 0;
}

/* Follow the tasks outside of our PID namespace from here on. */
static int attach_names(struct waitfeed *f, struct error *err)
{
	int code = attach(f, "task_newtask", "see_new", err);

	code = code < 0 ? code : attach(f, "task_rename", "see_name", err);
	return code < 0 ? code : attach(f, "sched_process_exit", "see_exit", err);
}

static int attach_files(struct waitfeed *f, struct error *err)
{
	int code = 0;

	for (const struct file_program *p = file_programs; code == 0 && f->files && p->type; p++)
		code = attach(f, p->tracepoint, p->program, err);
	f->files_reported = code == 0 && f->files;
	return code;
}

int waitfeed_start(struct waitfeed *f, pid_t command, struct error *err)
{
	int code = start_own(f, err);

	if (command && code == 0)
		code = look_again(f, err);
	if (command && code == 0)
		code = report_id(f, (uint32_t)command, err);

	/* Must not miss tasks that start meanwhile, nor those that reuse a number. */
	if (code == 0 && f->scope == WAITS_PIDS)
		code = attach(f, "sched_process_free", "see_gone", err);
	if (code == 0 && f->scope == WAITS_PIDS)
		code = attach(f, "sched_process_fork", "see_fork", err);
	if (code == 0 && f->ns && f->scope != WAITS_PIDS && f->scope != WAITS_TIDS)
		code = attach_names(f, err);
	if (code == 0 && f->why)
		code = why_attach(f->why, err);
	if (code == 0 && f->idle)
		code = idle_start(f->idle, err);
	if (code == 0 && !f->feed.waits && !f->owners && !f->follow && !f->feed.frames)
		return 0;
	if (code == 0)
		code = attach_files(f, err);
	if (code == 0)
		code = attach(f, "contention_begin", "see_begin", err);
	if (code == 0 && (f->feed.waits || f->follow))
		code = attach(f, "contention_end", "see_end", err);
	if (code < 0 || !f->feed.waits)
		return code;
	code = !f->releases ? 0 : attach(f, "contended_release", "see_release", err);
	code = code < 0 ? code : attach(f, "contention_begin", "see_nested_begin", err);
	code = code < 0 ? code : attach(f, "contention_end", "see_nested_end", err);
	if (code < 0 || !f->releases)
		return code;
	return attach(f, "contended_release", "see_nested_release", err);
}

int waitfeed_can_follow(const struct waitfeed *f, struct error *err)
{
	if (f && f->follow)
		return 0;
	return error_set(err, -ENOTSUP, "%s",
			 f && f->no_follow.code ? f->no_follow.text
						: "Following holders of locks was not requested");
}

int waitfeed_follow(struct waitfeed *f, struct error *err)
{
	int code = waitfeed_can_follow(f, err);

	return code < 0 ? code : follow_start(f->follow, err);
}

bool waitfeed_files_wait(const struct waitfeed *f)
{
	const uint32_t first = 0;
	uint64_t n;

	return !f || !f->files_reported || bpf_map_lookup_elem(f->file_states, &first, &n) < 0 || n;
}

int waitfeed_can_sleep(const struct waitfeed *f, struct error *err)
{
	if (f->sleeps)
		return 0;
	return error_set(err, f->no_sleeps.code ? f->no_sleeps.code : -ENOTSUP, "%s",
			 f->no_sleeps.code ? f->no_sleeps.text
					   : "Measuring sleeps was not requested");
}

int waitfeed_sleeps(struct waitfeed *f, struct waitfeed_sleeps *ret, struct error *err)
{
	int code = waitfeed_can_sleep(f, err);

	if (code < 0)
		return code;
	*ret = (struct waitfeed_sleeps){f->object, &f->typed, f->sums, f->min_sleep_ns, f->user_ns};
	return 0;
}

bool waitfeed_sums_up(const struct waitfeed *f)
{
	return f && f->shorts;
}

int waitfeed_govern(struct waitfeed *f, struct error *err)
{
	int code = f && f->user_frames ? user_frames_start(f->user_frames, err) : 0;

	code = code == 0 && f && f->why ? why_start(f->why, err) : code;
	return code == 0 && f && f->shorts ? short_start(f->shorts, err) : code;
}

void waitfeed_report(struct waitfeed *f, uint64_t report_ns)
{
	if (f && f->shorts)
		short_report(f->shorts, report_ns);
}

void waitfeed_unfollow(struct waitfeed *f)
{
	if (!f)
		return;
	follow_stop(f->follow);
	short_stop(f->shorts);
	user_frames_stop(f->user_frames);
	why_stop(f->why);
}

void waitfeed_free(struct waitfeed *f)
{
	if (!f)
		return;
	follow_free(f->follow);
	why_free(f->why);
	short_free(f->shorts);
	user_frames_free(f->user_frames);
	idle_free(f->idle);
	/*
	 * If a tracepoint has two programs, the kernel removes the second at once, but the first
	 * only when no CPU can run it any more, which takes tens of milliseconds.
	 */
	while (f->n_links)
		close(f->links[--f->n_links]);
	close_own(f);
	for (uint32_t i = 0; f->own && i < f->n_cpus; i++)
		bpf_run_unmap(f->own[i].cpu, f->feed.cpu_bytes);
	bpf_object__close(f->object);
	mem_free(f->own);
	mem_free(f);
}
