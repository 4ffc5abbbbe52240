// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lists of probes: uprobe_events of tracefs, with uprobe_profile line by line in the same
 * order; the perf events that the walk through the tasks found; and those to which only a
 * descriptor leads, since the task that opened them has exited, as of the last walk through
 * descriptors.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096 };

/* Is it switched on as an event of ftrace? */
bool snapshot_uprobes_line_enabled(const struct snapshot_uprobes *u, const struct uprobe_line *l)
{
	char path[512], state = '0';

	snprintf(path, sizeof(path), "%.200s/events/%s/%s/enable", u->tracefs, l->group, l->event);
	FILE *f = fopen(path, "re");
	if (f && fread(&state, 1, 1, f) != 1)
		state = '0';
	if (f)
		fclose(f);
	return state != '0';
}

static FILE *open_list(const struct snapshot_uprobes *u, const char *name)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", u->tracefs, name);
	return fopen(path, "re");
}

/* The count in the next line of uprobe_profile, whose lines are in the order of the probes. */
static uint64_t read_hits(FILE *f, const char *event)
{
	char line[LINE_SIZE];
	uint64_t n;

	if (!f || !fgets(line, sizeof(line), f) || !uprobe_profile_parse(line, event, &n))
		return UINT64_MAX;
	return n;
}

int snapshot_uprobes_lines(struct snapshot_uprobes *u, struct upsnap *s,
			   int (*add)(struct snapshot_uprobes *u, struct upsnap *s,
				      const struct uprobe_line *l, uint64_t hits))
{
	FILE *list = *u->tracefs ? open_list(u, "uprobe_events") : NULL;
	FILE *profile = list ? open_list(u, "uprobe_profile") : NULL;
	char line[LINE_SIZE];
	struct uprobe_line l;
	int code = 0;

	if (!list)
		return -ENOENT;
	while (code == 0 && fgets(line, sizeof(line), list))
		if (uprobe_line_parse(line, &l))
			code = add(u, s, &l, read_hits(profile, l.event));
	if (profile)
		fclose(profile);
	fclose(list);
	return code;
}

static uint32_t n_walked(const struct snapshot_uprobes *u)
{
	uint32_t n = u->has_bpf ? u->bpf.state->n_events : 0;

	return n < UP_EVENTS ? n : UP_EVENTS;
}

uint32_t snapshot_uprobes_n_events(const struct snapshot_uprobes *u)
{
	return n_walked(u) + (uint32_t)u->n_orphans;
}

const struct up_event *snapshot_uprobes_event(const struct snapshot_uprobes *u, uint32_t i)
{
	uint32_t n = n_walked(u);

	return i < n ? &u->bpf.events[i] : &u->orphans[i - n];
}

const struct up_holder *snapshot_uprobes_holder(const struct snapshot_uprobes *u, uint64_t event,
						uint32_t link)
{
	for (uint32_t i = 0; u->has_bpf && i < u->bpf.state->n_holders && i < UP_HOLDERS; i++) {
		const struct up_holder *h = &u->bpf.holders[i];
		if (event ? h->event == event : !h->event && h->link == link)
			return h;
	}
	return NULL;
}

static bool is_among(const struct up_event *list, size_t n, uint64_t event)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].event == event)
			return true;
	return false;
}

int snapshot_uprobes_walk_files(struct snapshot_uprobes *u)
{
	uint32_t before = n_walked(u);
	int code = up_bpf_walk_files(&u->bpf);

	u->n_orphans = 0;
	for (uint32_t i = before; code == 0 && i < n_walked(u); i++) {
		const struct up_event *e = &u->bpf.events[i];
		if (is_among(u->bpf.events, before, e->event) ||
		    is_among(u->orphans, u->n_orphans, e->event))
			continue;
		code = mem_grow(&u->orphans, &u->cap_orphans, u->n_orphans, sizeof(*u->orphans));
		if (code == 0)
			u->orphans[u->n_orphans++] = *e;
	}
	u->bpf.state->n_events = before;
	return code;
}
