// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state before the log: the model of an engine of its own. As chunks leave the log, the engine
 * gets only their records of names (of tasks, cgroups and mappings) and snapshots. So the same code
 * as everywhere decides which name replaces which, which task inherits one and which task has
 * ended, by time across rings; and it limits their number. The state is written as such records
 * again, with times before the session.
 */
#include "backlog-int.h"
#include "kontend/limits.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/mmlock.h"
#include "kontend/profile.h"
#include "kontend/task.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* The model has no waits, and of what has ended only that of which late records may come. */
static const struct model_limits limits = {
	.locks = 64, .stacks = 64, .tasks = 65536, .ended = 1024, .cells = 64, .hist_groups = 64};

struct feed {
	struct source source;
	struct record *records; /* the bytes are owned until they are given back */
	size_t n, cap, at;
};

static struct feed *feed_of(struct source *s)
{
	return (struct feed *)s;
}

static int feed_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct feed *f = feed_of(s);

	(void)timeout_ms;
	(void)err;
	if (f->at == f->n) {
		f->at = f->n = 0;
		return SOURCE_IDLE;
	}
	*ret = f->records[f->at++];
	return 0;
}

static void feed_release(struct source *s, struct record *r)
{
	(void)s;
	mem_free(r->owner);
	r->owner = NULL;
}

static void feed_free(struct source *s)
{
	struct feed *f = feed_of(s);

	while (f->at < f->n)
		mem_free(f->records[f->at++].owner);
	mem_free(f->records);
	mem_free(f);
}

static const struct source_ops feed_ops = {
	.next = feed_next, .release = feed_release, .free = feed_free};

/* Takes over @bytes. */
static int feed_put(struct feed *f, const struct record *r, void *bytes)
{
	if (!bytes || mem_grow(&f->records, &f->cap, f->n, sizeof(*f->records))) {
		mem_free(bytes);
		return -ENOMEM;
	}
	f->records[f->n++] = (struct record){
		.kind = r->kind, .ring = r->ring, .data = bytes, .len = r->len, .owner = bytes};
	return 0;
}

static int feed_copy(struct feed *f, const struct record *r)
{
	return feed_put(f, r, mem_dup(r->data, r->len, 1));
}

static bool gives_name(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_KSYMBOL:
		return true;
	default:
		return false;
	}
}

/* Copies such records of a run to @to, unless it is NULL. Returns their bytes. */
static size_t pick(const struct record *run, uint8_t *to)
{
	const uint8_t *p = run->data;
	struct perf_event_header h;
	size_t n = 0;

	for (size_t at = 0; run->len - at >= sizeof(h); at += h.size) {
		memcpy(&h, p + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > run->len - at)
			break;
		if (!gives_name(h.type))
			continue;
		if (to)
			memcpy(to + n, p + at, h.size);
		n += h.size;
	}
	return n;
}

static int feed_names(struct backlog_known *k, struct feed *f, const struct record *r)
{
	struct record names = *r;
	uint8_t *bytes;

	names.len = pick(r, NULL);
	if (!names.len)
		return 0;
	bytes = mem_calloc(names.len, 1);
	if (bytes)
		pick(r, bytes);
	k->ring = r->ring;
	return feed_put(f, &names, bytes);
}

/* Keeps whether a CPU is offline, by its last record. */
static int note_cpu(struct backlog_known *k, const struct record *r)
{
	enum { MOST_CPUS = 1 << 16 };
	struct record_cpu c;

	if (r->len != sizeof(c))
		return 0;
	memcpy(&c, r->data, sizeof(c));
	if (c.cpu >= MOST_CPUS)
		return 0;
	if (c.cpu >= k->n_offline) {
		uint8_t *more = mem_resize(k->offline, c.cpu + 1, 1);

		if (!more)
			return -ENOMEM;
		memset(more + k->n_offline, 0, c.cpu + 1 - k->n_offline);
		k->offline = more;
		k->n_offline = c.cpu + 1;
	}
	k->offline[c.cpu] = c.online == RECORD_CPU_OFFLINE;
	return 0;
}

/* Passes a tick on as a round: there are no sums, so there is no bucket to close. */
static int feed_time(struct backlog_known *k, struct feed *f, const struct record *r)
{
	struct record round = *r;
	uint64_t t;

	if (r->len != sizeof(t))
		return 0;
	memcpy(&t, r->data, sizeof(t));
	if (t > k->until_ns)
		k->until_ns = t;
	round.kind = RECORD_ROUND;
	return feed_copy(f, &round);
}

static int feed_record(struct backlog_known *k, struct feed *f, const struct record *r)
{
	switch (r->kind) {
	case RECORD_PERF:
		return feed_names(k, f, r);
	case RECORD_ROUND:
	case RECORD_TICK:
		return feed_time(k, f, r);
	case RECORD_SNAPSHOT:
	case RECORD_START:
		return feed_copy(f, r);
	case RECORD_CPU:
		return note_cpu(k, r);
	default:
		return 0;
	}
}

static int apply_events(struct backlog_known *k, struct error *err)
{
	int r;

	do {
		r = engine_pump(&k->engine, 0, err);
	} while (r >= 0 && r != ENGINE_IDLE);
	return r < 0 ? r : 0;
}

int backlog_known_feed(struct backlog_known *k, const struct recordlog_chunk *c, struct error *err)
{
	const uint8_t *raw = recordlog_reader_load(&k->reader, c);
	struct record r;
	size_t at = 0;
	int e = raw ? 0 : -ENOMEM;

	while (!e && recordlog_next(raw, c->raw_len, &at, &r))
		e = feed_record(k, feed_of(k->feed), &r);
	if (e)
		return error_enomem(err, "the names from before");
	return apply_events(k, err);
}

/*
 * The event whose records report changes of tasks. Written records must be of an event that the
 * reader knows.
 */
static void learn_id(struct backlog_known *k, const struct record *r)
{
	struct perf_event_attr attr = {0};
	size_t n = r->len < PERF_ATTR_SIZE_VER0 ? r->len : PERF_ATTR_SIZE_VER0;

	memcpy(&attr, r->data, n);
	if (attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY &&
	    r->len >= attr.size + sizeof(k->id))
		memcpy(&k->id, (const char *)r->data + attr.size, sizeof(k->id));
}

int backlog_known_head(struct backlog_known *k, const struct record *r, struct error *err)
{
	if (r->kind == RECORD_ATTR)
		learn_id(k, r);
	if (feed_copy(feed_of(k->feed), r))
		return error_enomem(err, "the names from before");
	return apply_events(k, err);
}

int backlog_known_init(struct backlog_known *k, struct error *err)
{
	struct feed *f = mem_calloc(1, sizeof(*f));

	*k = (struct backlog_known){0};
	if (!f)
		return error_enomem(err, "the names from before");
	f->source.ops = &feed_ops;
	int r = engine_init(&k->engine, &f->source, &limits, err);
	if (r) {
		mem_free(f);
		return r;
	}
	k->feed = &f->source;
	k->is_open = true;
	return 0;
}

void backlog_known_deinit(struct backlog_known *k)
{
	if (k->is_open)
		engine_deinit(&k->engine);
	mem_free(k->offline);
	recordlog_reader_deinit(&k->reader);
	*k = (struct backlog_known){0};
}

static int put_tasks(const struct task_table *t, struct sideband *ret)
{
	int r = 0;

	for (size_t i = 1; !r && i < t->n; i++) {
		const struct task *task = &t->tasks[i];

		if (task->alive && task->tid && task->pid >= 0 && task->comm && *task->comm)
			r = sideband_comm(ret, task->pid, task->tid, task->comm);
	}
	return r;
}

static int put_cgroups(const struct task_table *t, struct sideband *ret)
{
	int r = 0;

	for (size_t i = 0; !r && t->cgroups.slots && i <= t->cgroups.mask; i++) {
		const struct map64_slot *s = &t->cgroups.slots[i];

		if (s->used)
			r = sideband_cgroup(ret, s->key, t->cgroup_paths[s->value]);
	}
	return r;
}

static int put_space(const struct map_spaces *s, int32_t pid, struct sideband *ret)
{
	const struct map_space *space = map_spaces_of(s, pid);
	int r = 0;

	for (size_t i = 0; !r && space && i < space->n; i++) {
		const struct map_range *m = &space->ranges[i];
		const struct map_object *o = map_object_get(s->objects, m->object);
		const struct sideband_mmap map = {
			.pid = pid,
			.start = m->start,
			.len = m->end - m->start,
			.pgoff = m->pgoff,
			.maj = o ? o->maj : 0,
			.min = o ? o->min : 0,
			.ino = o ? o->ino : 0,
			.readable = true,
			.code = true,
			.path = o ? o->path : NULL,
		};

		if (map.path)
			r = sideband_mmap(ret, &map);
	}
	return r;
}

static int put_maps(const struct map_spaces *s, struct sideband *ret)
{
	int r = 0;

	for (size_t i = 0; !r && s->by_pid.slots && i <= s->by_pid.mask; i++)
		if (s->by_pid.slots[i].used)
			r = put_space(s, (int32_t)s->by_pid.slots[i].key, ret);
	return r;
}

static int put_ksyms(const struct ksyms *k, struct sideband *ret)
{
	int r = 0;

	for (size_t i = 0; !r && i < k->n; i++) {
		const struct ksym_range *at = &k->ranges[i];
		const struct ksym *s = ksyms_get(k, map_ksym_frame(at->number, 0));

		if (s)
			r = sideband_ksymbol(ret, map_kernel_address(at->start),
					     (uint32_t)(at->end - at->start), s->is_bpf, s->name);
	}
	return r;
}

int backlog_known_put(const struct backlog_known *k, struct sideband *ret)
{
	const struct model *m = k->engine.model;

	*ret = (struct sideband){.id = k->id};
	int r = put_tasks(m->tasks, ret);
	r = r ? r : put_cgroups(m->tasks, ret);
	r = r ? r : put_maps(&m->profile->spaces, ret);
	r = r ? r : put_ksyms(&m->profile->ksyms, ret);
	if (r)
		sideband_deinit(ret);
	return r;
}

/* If an address belongs to another lock now, only the present name is taken. */
static int add_names(const struct lockname_set *from, struct locksnap *to)
{
	int r = 0;

	for (size_t i = 0; !r && i < from->n; i++) {
		const struct lockname *n = &from->names[i];
		const struct locksnap_name name = {
			.addr = n->addr,
			.kind = n->kind,
			.cpu = n->cpu,
			.pid = n->pid,
			.comm = locksnap_add_text(to, n->comm),
			.text = locksnap_add_text(to, n->text),
			.offset = n->offset,
			.since_ns = n->from_ns,
		};

		if (!n->to_ns)
			r = locksnap_add_name(to, &name);
	}
	return r;
}

static int add_percpu(const struct lockname_set *from, struct locksnap *to)
{
	int r = 0;

	for (size_t i = 0; !r && i < from->n_areas; i++)
		r = locksnap_add_area(to, &from->areas[i]);
	for (size_t i = 0; !r && i < from->n_vars; i++) {
		const struct locksnap_var v = {.offset = (uint32_t)from->vars[i].offset,
					       .size = from->vars[i].size,
					       .name = locksnap_add_text(to, from->vars[i].name)};

		r = locksnap_add_var(to, &v);
	}
	return r;
}

int backlog_known_names(const struct backlog_known *k, void **ret, size_t *ret_len)
{
	const struct model *m = k->engine.model;
	const struct record_snapshot head = {
		.kind = SNAPSHOT_LOCKS, .version = LOCKSNAP_VERSION, .time_ns = k->until_ns};
	struct locksnap s = {
		.head = {.time_ns = k->until_ns, .mmap_offset = (uint32_t)m->mmlocks->lock_offset}};
	int r = add_names(m->lock_names, &s);

	r = r ? r : add_percpu(m->lock_names, &s);
	*ret_len = sizeof(head) + locksnap_size(&s);
	*ret = r ? NULL : mem_calloc(*ret_len, 1);
	if (*ret) {
		memcpy(*ret, &head, sizeof(head));
		locksnap_encode(&s, (uint8_t *)*ret + sizeof(head));
	}
	locksnap_deinit(&s);
	return *ret ? 0 : -ENOMEM;
}

size_t backlog_known_bytes(const struct backlog_known *k)
{
	return model_bytes(k->engine.model) + k->n_offline + k->reader.cap;
}
