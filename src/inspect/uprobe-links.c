// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF links that have placed uprobes, by walking the ids of all links. A link of many uprobes
 * (uprobe-multi, kernel 6.6; it tells what they are since 6.8) has one program with one counter, so
 * that hits of one of several are not known; of a single one they are when the kernel counts runs
 * of programs (sysctl kernel.bpf_stats_enabled).
 */
#include "kontend/mem.h"
#include "uprobe-bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_PERF_EVENT = 7, TYPE_UPROBE_MULTI = 12 }; /* enum bpf_link_type */
enum { PERF_UPROBE = 1, PERF_URETPROBE = 2 };	      /* enum bpf_perf_event_type */
enum { MULTI_RETURN = 1, PATH_SIZE = 4096, COUNT_MAX = 4096 };

/* struct bpf_link_info as of 6.8, as far as it is about uprobes. */
struct link_info {
	uint32_t type, id, prog_id, pad;
	union {
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies;
			uint32_t path_size, count, flags, pid;
		} multi;
		struct {
			uint32_t type, pad;
			uint64_t file_name;
			uint32_t name_len, offset;
			uint64_t cookie;
		} perf;
	};
	uint64_t rest[8];
};

struct walker {
	int (*found)(void *arg, const struct up_link *l);
	void *arg;
	char path[PATH_SIZE];
	uint64_t *offsets, *ref_ctrs;
};

static int read_info(int fd, struct link_info *info)
{
	uint32_t len = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &len) < 0 ? -errno : 0;
}

/* How often its program was run, where the kernel counts that. */
static void read_runs(struct up_link *l, char *name, size_t size)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(l->prog_id);

	l->hits = l->misses = UINT64_MAX;
	*name = '\0';
	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0) {
		size_t n = strnlen(info.name, sizeof(info.name));
		n = n < size ? n : size - 1;
		memcpy(name, info.name, n);
		name[n] = '\0';
		if (info.run_cnt)
			l->hits = info.run_cnt;
		l->misses = info.recursion_misses;
	}
	close(fd);
}

static int tell_multi(struct walker *w, int fd, struct link_info *info)
{
	char name[32];
	struct up_link l = {.id = info->id, .prog_id = info->prog_id};

	memset(&info->multi, 0, sizeof(info->multi));
	info->multi.path = (uintptr_t)w->path;
	info->multi.path_size = sizeof(w->path);
	info->multi.offsets = (uintptr_t)w->offsets;
	info->multi.ref_ctr_offsets = (uintptr_t)w->ref_ctrs;
	info->multi.count = COUNT_MAX;
	int code = read_info(fd, info);
	if (code < 0 && code != -ENOSPC)
		return 0; /* it has gone meanwhile, or the kernel is too old to tell */
	read_runs(&l, name, sizeof(name));
	l.path = w->path;
	l.program = name;
	l.pid = (int32_t)info->multi.pid;
	l.is_return = (info->multi.flags & MULTI_RETURN) != 0;
	uint32_t n = info->multi.count < COUNT_MAX ? info->multi.count : COUNT_MAX;
	if (n != 1)
		l.hits = l.misses = UINT64_MAX;
	for (uint32_t i = 0; i < n && code != -ENOMEM; i++) {
		l.offset = w->offsets[i];
		l.ref_ctr = w->ref_ctrs[i];
		code = w->found(w->arg, &l);
	}
	return code == -ENOMEM ? code : 0;
}

static int tell_perf(struct walker *w, int fd, struct link_info *info)
{
	char name[32];
	struct up_link l = {.id = info->id, .prog_id = info->prog_id, .of_event = true};

	memset(&info->perf, 0, sizeof(info->perf));
	info->perf.file_name = (uintptr_t)w->path;
	info->perf.name_len = sizeof(w->path);
	if (read_info(fd, info) < 0 ||
	    (info->perf.type != PERF_UPROBE && info->perf.type != PERF_URETPROBE))
		return 0;
	read_runs(&l, name, sizeof(name));
	l.path = w->path;
	l.program = name;
	l.offset = info->perf.offset;
	l.is_return = info->perf.type == PERF_URETPROBE;
	return w->found(w->arg, &l);
}

static int tell(struct walker *w, uint32_t id)
{
	struct link_info info = {0};
	int fd = bpf_link_get_fd_by_id(id), code = 0;

	if (fd < 0)
		return fd == -EPERM ? fd : 0;
	if (read_info(fd, &info) == 0 && info.type == TYPE_UPROBE_MULTI)
		code = tell_multi(w, fd, &info);
	else if (info.type == TYPE_PERF_EVENT)
		code = tell_perf(w, fd, &info);
	close(fd);
	return code;
}

int up_links(int (*found)(void *arg, const struct up_link *l), void *arg)
{
	struct walker *w = mem_calloc(1, sizeof(*w));
	uint32_t id = 0;
	int code = 0;

	if (!w)
		return -ENOMEM;
	w->found = found;
	w->arg = arg;
	w->offsets = mem_calloc(COUNT_MAX, sizeof(*w->offsets));
	w->ref_ctrs = mem_calloc(COUNT_MAX, sizeof(*w->ref_ctrs));
	if (!w->offsets || !w->ref_ctrs)
		code = -ENOMEM;
	while (code == 0) {
		if (bpf_link_get_next_id(id, &id) < 0) {
			code = errno == ENOENT ? 1 : -errno;
			break;
		}
		code = tell(w, id);
	}
	mem_free(w->offsets);
	mem_free(w->ref_ctrs);
	mem_free(w);
	return code < 0 ? code : 0;
}
