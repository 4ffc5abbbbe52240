// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records that precede the stream, for a part that begins in the middle of it. Records that do
 * not change are kept. Symbols, names of tasks and cgroups, and mappings may have changed, so they
 * are read again. After the end of the stream nothing changes any more, while the remaining data
 * may fill many parts: then they are read only once.
 */
#include "file-int.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUN_BYTES = 65528 };

static int keep_record(struct part_prologue *a, const struct record *r)
{
	if (mem_grow(&a->kept, &a->cap_kept, a->n_kept, sizeof(*a->kept)))
		return -ENOMEM;
	void *data = mem_dup(r->data, r->len, 1);
	if (!data)
		return -ENOMEM;
	a->kept[a->n_kept++] = (struct record){r->kind, r->ring, data, r->len, NULL};
	return 0;
}

static void look_at_attr(struct part_prologue *a, const struct record *r)
{
	struct perf_event_attr attr = {0};
	size_t n = r->len < PERF_ATTR_SIZE_VER0 ? r->len : PERF_ATTR_SIZE_VER0;

	memcpy(&attr, r->data, n);
	if (attr.type != PERF_TYPE_SOFTWARE || attr.config != PERF_COUNT_SW_DUMMY ||
	    r->len < attr.size + sizeof(a->dummy_id))
		return;
	memcpy(&a->dummy_id, (const char *)r->data + attr.size, sizeof(a->dummy_id));
	a->maps = attr.mmap;
	a->data_maps = attr.mmap_data;
}

/* Snapshots that are taken again need not be kept. */
static bool comes_once(const struct record *r)
{
	struct record_snapshot head;

	return snapshot_parse(r->data, r->len, &head) &&
	       (head.kind == SNAPSHOT_MACHINE || head.kind == SNAPSHOT_EVENTS);
}

int part_prologue_note(struct part_prologue *a, const struct record *r)
{
	switch (r->kind) {
	case RECORD_ATTR:
		look_at_attr(a, r);
		return keep_record(a, r);
	case RECORD_HOST:
	case RECORD_FORMAT:
	case RECORD_CPU:
		return keep_record(a, r);
	case RECORD_SNAPSHOT:
		return comes_once(r) ? keep_record(a, r) : 0;
	case RECORD_KALLSYMS:
		a->has_symbols = true;
		return 0;
	case RECORD_PERF:
		if (!a->has_ring)
			a->first_ring = r->ring;
		a->has_ring = true;
		return 0;
	default:
		return 0;
	}
}

/* Writes the kept records, with the start time of this file in the host record. */
static int put_kept(struct writer *w, const struct record *r, struct error *err)
{
	struct record_host h;
	struct record now = *r;

	if (r->kind == RECORD_HOST && r->len == sizeof(h)) {
		memcpy(&h, r->data, sizeof(h));
		const struct clock_pair at = clock_pair();
		h.clock_ns = at.now_ns;
		h.wall_ns = at.wall_ns;
		now.data = &h;
	}
	return writer_put(w, &now, err);
}

static int read_symbols(struct part_prologue *a, struct error *err)
{
	if (a->settled && a->symbols)
		return 0;
	mem_free(a->symbols);
	a->symbols = NULL;
	a->symbols_len = 0;
	if (lseek(a->symbols_fd, 0, SEEK_SET) == 0 &&
	    fdio_read_rest(a->symbols_fd, &a->symbols, &a->symbols_len) == -ENOMEM)
		return error_enomem(err, "the recording");
	return 0;
}

static int put_symbols(struct part_prologue *a, struct writer *w, struct error *err)
{
	int e = a->has_symbols ? read_symbols(a, err) : 0;
	struct record r = {.kind = RECORD_KALLSYMS,
			   .data = a->symbols ? a->symbols : "",
			   .len = a->symbols_len};

	if (!a->has_symbols || e < 0)
		return e;
	e = writer_put(w, &r, err);
	if (!a->settled) {
		mem_free(a->symbols);
		a->symbols = NULL;
	}
	return e;
}

static int scan(struct part_prologue *a, struct sideband *s)
{
	char mount[CGROUP_PATH];
	int r = procfs_comms_all("/proc", s);

	if (r == 0 && a->names)
		r = a->names->put(a->names, s);
	if (r == 0 && a->maps)
		r = procfs_maps_all("/proc", s, &a->left);
	if (r == 0 && a->cgroups && cgroup_search("/proc/self/mounts", mount, sizeof(mount)) == 0)
		r = cgroup_walk(mount, s);
	return r;
}

static int read_tasks(struct part_prologue *a, struct error *err)
{
	if (a->settled && a->has_tasks)
		return 0;
	sideband_deinit(&a->tasks);
	a->tasks = (struct sideband){.id = a->dummy_id, .data_maps = a->data_maps};
	int r = scan(a, &a->tasks);
	a->has_tasks = a->settled && r == 0;
	return r < 0 ? error_errno(err, r, "Cannot read the tasks from /proc") : 0;
}

static int put_left(const struct part_prologue *a, struct writer *w, struct error *err)
{
	char body[PROCFS_NOTE];
	struct record r = {.kind = RECORD_NOTE, .ring = a->first_ring, .data = body};

	if (!a->left)
		return 0;
	r.len = procfs_maps_note(a->left, body);
	return writer_put(w, &r, err);
}

static int put_tasks(struct part_prologue *a, struct writer *w, const char *path, struct error *err)
{
	struct sideband *s = &a->tasks;
	int e = read_tasks(a, err);

	for (size_t at = 0, n; e == 0 && at < s->len; at += n) {
		struct record r = {.kind = RECORD_PERF, .ring = a->first_ring};

		n = sideband_run(s, at, RUN_BYTES);
		r.data = s->data + at;
		r.len = n;
		e = writer_put(w, &r, err);
	}
	if (!a->settled)
		sideband_deinit(s);
	e = e ? e : put_left(a, w, err);
	if (e == WRITER_FULL)
		e = error_set(
			err, -EFBIG,
			"The names of all tasks do not fit into '%s': give a larger --max-size",
			path);
	return e;
}

int part_prologue_put(struct part_prologue *a, struct writer *w, const char *path,
		      struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n_kept; i++) {
		r = put_kept(w, &a->kept[i], err);
		if (r == 0 && a->kept[i].kind == RECORD_HOST)
			r = put_symbols(a, w, err);
	}
	if (r == 0)
		r = put_tasks(a, w, path, err);
	return r < 0 ? r : writer_flush(w, err);
}

void part_prologue_init(struct part_prologue *a, const struct sideband_source *names, bool cgroups)
{
	*a = (struct part_prologue){.names = names, .cgroups = cgroups};
	a->symbols_fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
}

void part_prologue_deinit(struct part_prologue *a)
{
	for (size_t i = 0; i < a->n_kept; i++)
		mem_free((void *)(uintptr_t)a->kept[i].data);
	if (a->symbols_fd >= 0)
		close(a->symbols_fd);
	mem_free(a->kept);
	mem_free(a->symbols);
	sideband_deinit(&a->tasks);
}
