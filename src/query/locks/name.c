// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks by what they belong to, from lock snapshots: "mmap_lock mm/5214", "i_rwsem
 * /var/x.img", "pipe->mutex sh/612", "rq_lock cpu 1". A lock with only a known slab cache has its
 * name before the address.
 */
#include "../internal.h"
#include "../names/names.h"
#include "kontend/engine.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"
#include "kontend/query-load.h"
#include "kontend/usersyms.h"

#include <inttypes.h>
#include <string.h>

static const char *prefix(enum locksnap_kind kind)
{
	static const char *const names[LOCKSNAP_KINDS] = {
		[LOCKSNAP_MMAP] = "mmap_lock",
		[LOCKSNAP_INODE] = "i_rwsem",
		[LOCKSNAP_IMMAP] = "i_mmap_rwsem",
		[LOCKSNAP_POS] = "f_pos_lock",
		[LOCKSNAP_PIPE] = "pipe->mutex",
		[LOCKSNAP_INVALIDATE] = "invalidate_lock",
		[LOCKSNAP_FILE] = "file",
		[LOCKSNAP_BPF_MAP] = "BPF map",
		[LOCKSNAP_VMA] = "vma",
		[LOCKSNAP_XFS] = "i_lock",
		[LOCKSNAP_EXT4] = "i_data_sem",
	};

	return names[kind];
}

static const char *percpu_name(struct query *q, const struct lockname *n)
{
	if (strcmp(n->text, "runqueues") == 0 && !n->offset)
		return arena_printf(&q->arena, "rq_lock cpu %" PRId32, n->cpu);
	if (!n->offset)
		return arena_printf(&q->arena, "%s cpu %" PRId32, n->text, n->cpu);
	return arena_printf(&q->arena, "%s+0x%" PRIx32 " cpu %" PRId32, n->text, n->offset, n->cpu);
}

/* Before an mmap_lock of one process there was that of another one at its place. */
const struct lockname *query_lock_object(const struct query *q, uint64_t addr, uint64_t time_ns)
{
	static const struct lockname some_mm = {.kind = LOCKSNAP_OBJECT,
						.cpu = -1,
						.comm = "",
						.text = "",
						.what = "mmap_lock",
						.site = "mm_struct"};
	const struct lockname_set *s = q->model->lock_names;
	const struct lockname *n = s ? lockname_at(s, addr, time_ns) : NULL;
	const struct lockname *latest = s && !n ? lockname_get(s, addr) : NULL;

	return latest && latest->kind == LOCKSNAP_MMAP ? &some_mm : n;
}

const struct lockname *query_lock_place(struct query *q, uint64_t addr, uint64_t time_ns)
{
	const struct lockname_set *s = q->model->lock_names;
	const struct lockname *known = query_lock_object(q, addr, time_ns);
	const struct lockname *later = s && !known ? lockname_get(s, addr) : NULL;
	struct lockname n, *copy;

	if (known || !s)
		return known;
	/* Of a task that had that memory before: which lock it was is known. */
	if (later && later->kind == LOCKSNAP_OBJECT && later->pid) {
		n = *later;
		n.pid = 0;
		n.comm = "";
	} else if (!lockname_percpu(s, addr, &n)) {
		return NULL;
	}
	copy = arena_alloc(&q->arena, sizeof(*copy));
	if (copy)
		*copy = n;
	return copy;
}

const char *query_object_kind(const struct lockname *n)
{
	const char *name = prefix((enum locksnap_kind)n->kind);

	if (n->kind == LOCKSNAP_PERCPU && !n->offset && strcmp(n->text, "runqueues") == 0)
		return "rq_lock";
	if (n->kind == LOCKSNAP_OBJECT)
		return n->what;
	return name ? name : *n->text ? n->text : NULL;
}

/* " 100-199", " 100-EOF": bytes, as /proc/locks has them; "": the whole file, or not known. */
static const char *part_of(struct query *q, const struct lockname *n)
{
	const char *text = "";

	if (n->past == FILELOCK_EOF && n->start)
		text = arena_printf(&q->arena, " %" PRIu64 "-EOF", n->start);
	else if (n->past && n->past != FILELOCK_EOF)
		text = arena_printf(&q->arena, " %" PRIu64 "-%" PRIu64, n->start, n->past - 1);
	return text ? text : "";
}

/* "app" of "/usr/bin/app", "heap" of "[heap]"; cut: a name may have neither. */
static const char *short_name(struct query *q, const char *text)
{
	const char *slash = strrchr(text, '/');

	/* The kernel's file for memory that processes share. */
	if (!strcmp(text, "/dev/zero (deleted)"))
		return "shared memory";
	if (slash)
		return slash + 1;
	return *text == '[' ? arena_printf(&q->arena, "%.*s", (int)strcspn(text + 1, "]"), text + 1)
			    : text;
}

/* Digits of an address by which a lock of a process is known. */
enum { SHORT_END = 4, LONG_END = 8 };
static const uint32_t TWO = UINT32_MAX;

static uint64_t end_of(const struct lockname *n)
{
	return hash_u64((uint64_t)(uint32_t)n->pid << 4 * SHORT_END |
			(n->start & (((uint64_t)1 << 4 * SHORT_END) - 1)));
}

static bool is_named_by_end(const struct lockname *n)
{
	return n->kind == LOCKSNAP_USER && *n->text != '/';
}

/* False: another lock of the process has that end. Ends change where more of a lock gets known. */
static bool add_end(struct query *q, const struct lockname *n)
{
	const uint32_t *known = map64_get(&q->ends.by_end, end_of(n));
	uint32_t own = (uint32_t)(n->addr % TWO), value = !known || *known == own ? own : TWO;

	q->cache->failed |= map64_put(&q->ends.by_end, end_of(n), value) < 0;
	return value != TWO;
}

/* Names are only added; where old ones were forgotten all are read again. */
static bool has_own_end(struct query *q, const struct lockname *n)
{
	const struct lockname_set *s = q->model->lock_names;
	struct query_ends *e = &q->ends;

	if (s->n < e->n)
		map64_clear(&e->by_end);
	for (e->n = s->n < e->n ? 0 : e->n; e->n < s->n; e->n++)
		if (is_named_by_end(&s->names[e->n]))
			add_end(q, &s->names[e->n]);
	return add_end(q, n);
}

/*
 * "hot_mutex", "server.conn.lock", "libx.so:lock"; without a symbol the call that waits, with the
 * end of the address, "mutex in work ..62a0"; else "app+0x4060", "heap+0x2a0", or the address. The
 * program itself need not be named, as its process is. @everywhere: without that end, which is
 * another one in each run.
 */
static const char *variable_of(struct query *q, const struct lockname *n, bool everywhere)
{
	const char *in = short_name(q, n->text), *text = query_variable(q, n, NULL);

	if (text) {
		bool own = !in || !*n->comm || !strncmp(in, n->comm, strlen(n->comm));
		text = arena_printf(&q->arena, "%s%s%s", own ? "" : in, own ? "" : ":", text);
	} else if (n->site && *n->text != '/' && everywhere) {
		text = arena_printf(&q->arena, "%s in %s", n->what, n->site);
	} else if (n->site && *n->text != '/') {
		int digits = has_own_end(q, n) ? SHORT_END : LONG_END;
		text = arena_printf(&q->arena, "%s in %s ..%0*" PRIx64, n->what, n->site, digits,
				    n->start & (((uint64_t)1 << 4 * digits) - 1));
	} else if (in && *in) {
		text = arena_printf(&q->arena, "%s+0x%" PRIx64, in, n->start);
	} else {
		text = arena_printf(&q->arena, "0x%" PRIx64, n->start);
	}
	return text ? text : "";
}

static const char *map_name(struct query *q, const struct lockname *n)
{
	const char *name = arena_printf(&q->arena, "%s %s%s(id %" PRIu32 ")", prefix(n->kind),
					n->text, *n->text ? " " : "", n->offset);

	return name && n->start ? arena_printf(&q->arena, "%s bucket %" PRIu64, name, n->start - 1)
				: name;
}

/* "pi_lock sh/612", "zone->lock node 0 Normal"; of an unknown object "pi_lock (task_struct)". */
static const char *field_name(struct query *q, const struct lockname *n, bool everywhere)
{
	const char *type = n->site ? n->site : "";

	if (*n->text)
		return arena_printf(&q->arena, "%s %s", n->what, n->text);
	if (!n->pid)
		return arena_printf(&q->arena, "%s (%s)", n->what, type);
	return arena_printf(&q->arena, "%s %s", n->what,
			    everywhere ? (*n->comm ? n->comm : "-")
				       : query_slash(&q->arena, n->comm, n->pid, "-"));
}

const char *query_object_name(struct query *q, const struct lockname *n)
{
	switch (n->kind) {
	case LOCKSNAP_PERCPU:
		return percpu_name(q, n);
	case LOCKSNAP_INODE:
	case LOCKSNAP_IMMAP:
	case LOCKSNAP_POS:
	case LOCKSNAP_INVALIDATE:
	case LOCKSNAP_XFS:
	case LOCKSNAP_EXT4:
		if (*n->text)
			return arena_printf(&q->arena, "%s %s", prefix(n->kind), n->text);
		break;
	case LOCKSNAP_FILE:
		return *n->text ? arena_printf(&q->arena, "%s%s", n->text, part_of(q, n)) : NULL;
	case LOCKSNAP_BPF_MAP:
		return map_name(q, n);
	case LOCKSNAP_OBJECT:
		return field_name(q, n, false);
	case LOCKSNAP_USER:
		return arena_printf(&q->arena, "%s %s", variable_of(q, n, false),
				    query_slash(&q->arena, n->comm, n->pid, "-"));
	case LOCKSNAP_RUNTIME:
		return arena_printf(&q->arena, "%s %s", n->text,
				    query_slash(&q->arena, n->comm, n->pid, "-"));
	case LOCKSNAP_VMA:
		return arena_printf(&q->arena, "%s %" PRIx64 "-%" PRIx64,
				    query_slash(&q->arena, n->comm, n->pid, "-"), n->start,
				    n->past);
	case LOCKSNAP_MMAP:
	case LOCKSNAP_PIPE:
		break;
	default:
		return NULL;
	}
	return arena_printf(&q->arena, "%s %s", prefix(n->kind),
			    query_slash(&q->arena, n->comm, n->pid, "-"));
}

const char *query_object_everywhere(struct query *q, const struct lockname *n)
{
	if (n->kind == LOCKSNAP_PERCPU)
		return n->offset ? arena_printf(&q->arena, "%s+0x%" PRIx32, n->text, n->offset)
				 : query_object_kind(n);
	if (n->kind == LOCKSNAP_USER)
		return arena_printf(&q->arena, "%s %s", variable_of(q, n, true),
				    *n->comm ? n->comm : "-");
	if (n->kind == LOCKSNAP_RUNTIME)
		return arena_printf(&q->arena, "%s %s", n->text, *n->comm ? n->comm : "-");
	if (n->kind == LOCKSNAP_OBJECT)
		return field_name(q, n, true);
	if (query_object_has_path(n) && *n->text)
		return query_object_name(q, n);
	if (!prefix((enum locksnap_kind)n->kind))
		return NULL;
	return arena_printf(&q->arena, "%s %s", prefix((enum locksnap_kind)n->kind),
			    n->kind == LOCKSNAP_BPF_MAP && *n->text ? n->text
			    : *n->comm				    ? n->comm
								    : "-");
}

bool query_object_has_path(const struct lockname *n)
{
	return n->kind == LOCKSNAP_INODE || n->kind == LOCKSNAP_IMMAP || n->kind == LOCKSNAP_POS ||
	       n->kind == LOCKSNAP_INVALIDATE || n->kind == LOCKSNAP_FILE ||
	       n->kind == LOCKSNAP_XFS || n->kind == LOCKSNAP_EXT4 ||
	       (n->kind == LOCKSNAP_OBJECT && *n->text == '/');
}
