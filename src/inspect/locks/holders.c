// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions in which holders of locks of files and programs sleep. /proc has their state, and
 * the innermost function of those that sleep, which is no secret to who may read their memory; all
 * calls of a thread take CAP_SYS_ADMIN. A snapshot has addresses, so names are searched in
 * /proc/kallsyms; new ones are rare.
 */
#include "kontend/mem.h"
#include "kontend/snapshot-holders.h"
#include "kontend/sysinfo.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOLDERS_MOST = 64, NAME = 128 };

struct snapshot_holders {
	const char *proc;
	int kallsyms; /* descriptor; -1: none */
	struct tasks_symbols symbols;
	struct holder {
		size_t queue;
		char in[NAME];
	} of[HOLDERS_MOST];
	size_t n;
};

struct snapshot_holders *snapshot_holders_new(const char *proc, const char *kallsyms)
{
	struct snapshot_holders *h = mem_calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->proc = proc;
	h->kallsyms = open(kallsyms, O_RDONLY | O_CLOEXEC);
	return h;
}

void snapshot_holders_free(struct snapshot_holders *h)
{
	if (!h)
		return;
	tasks_symbols_deinit(&h->symbols);
	if (h->kallsyms >= 0)
		close(h->kallsyms);
	mem_free(h);
}

/* False: it is awake, or that may not be known. */
static bool read_function(const struct snapshot_holders *h, const struct locksnap_queue *q,
			  char ret[NAME])
{
	char path[80];

	snprintf(path, sizeof(path), "%s/%d/task/%d/wchan", h->proc, q->holder_pid, q->holder_tid);
	return sysinfo_read(path, ret, NAME) > 0 && *ret && strcmp(ret, "0") != 0;
}

static int add_frame(const struct snapshot_holders *h, const struct holder *of, struct locksnap *s)
{
	unsigned long long frames[RAW_BLOCKED_FRAMES];
	struct locksnap_queue *q = &s->queues[of->queue];

	if (!tasks_symbols_frames(&h->symbols, of->in, frames))
		return 0;
	const uint64_t in = frames[0];
	q->holder_frame = (uint32_t)s->n_frames;
	q->holder_n_frames = 1;
	return locksnap_add_frame(s, &in);
}

int snapshot_holders_add(struct snapshot_holders *h, struct locksnap *s)
{
	int code = 0;

	h->n = 0;
	for (size_t i = 0; code == 0 && i < s->n_queues && h->n < HOLDERS_MOST; i++) {
		const struct locksnap_queue *q = &s->queues[i];
		struct holder *of = &h->of[h->n];
		if (q->holder_state != LOCKSNAP_ASLEEP || q->holder_n_frames ||
		    q->holder_pid <= 0 || q->holder_tid <= 0 || !read_function(h, q, of->in))
			continue;
		of->queue = i;
		h->n++;
		code = tasks_symbols_want(&h->symbols, of->in);
	}
	code = code < 0 ? code : tasks_symbols_search(&h->symbols, h->kallsyms);
	for (size_t i = 0; code == 0 && i < h->n; i++)
		code = add_frame(h, &h->of[i], s);
	return code;
}
