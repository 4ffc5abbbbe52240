// SPDX-License-Identifier: GPL-2.0-only
/*
 * All probes, from three lists: tracefs has those in uprobe_events and their hits; the walk through
 * the tasks finds the perf events that count uprobes, with the tasks that opened them; the list of
 * BPF links has the others. A tracer opens an event for each CPU or thread: those of one process at
 * one place are one probe. An event of a probe in uprobe_events shows which task uses it.
 */
#include "internal.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/uprobe-attach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t snapshot_uprobes_hash(uint64_t from, const char *text)
{
	return hash_text(from ^ HASH_START, text);
}

static const struct probe_past *find_past(const struct pasts *p, uint64_t id)
{
	for (size_t i = 0; i < p->n_probes; i++)
		if (p->probes[i].id == id)
			return &p->probes[i];
	return NULL;
}

static int remember(struct snapshot_uprobes *u, const struct found_probe *f,
		    const struct upsnap_probe *p)
{
	struct pasts *all = &u->pasts;
	const struct probe_past *before = find_past(all, p->id);
	struct probe_past past = {.id = p->id,
				  .first_hits = p->first_hits,
				  .first_ns = p->first_ns,
				  .hits = p->hits,
				  .shared = before && before->shared,
				  .is_exact = f->is_exact};

	if (f->cpu_hits)
		memcpy(past.cpu_hits, f->cpu_hits, sizeof(past.cpu_hits));
	if (mem_grow(&all->probes_next, &all->cap_probes_next, all->n_probes_next, sizeof(past)) <
	    0)
		return -ENOMEM;
	all->probes_next[all->n_probes_next++] = past;
	return 0;
}

static void fill_rates(struct snapshot_uprobes *u, const struct probe_past *past,
		       struct upsnap_probe *p)
{
	bool was = past && past->hits <= p->hits;

	p->flags |= was ? 0 : UPSNAP_NEW;
	p->first_ns = was ? past->first_ns : u->now_ns;
	p->first_hits = was ? past->first_hits : p->hits;
	p->new_hits = was ? p->hits - past->hits : 0;
	/* The beginning of kontend's own probes is known. */
	if (!past && u->own && p->flags & UPSNAP_OWN) {
		p->first_ns = u->own_ns;
		p->first_hits = 0;
	}
}

static int add_cpu_hits(struct upsnap *s, const struct found_probe *f,
			const struct probe_past *past)
{
	int code = 0;

	for (uint32_t cpu = 0; f->cpu_hits && code == 0 && cpu < f->n_cpus; cpu++) {
		uint64_t n = f->cpu_hits[cpu], old = past ? past->cpu_hits[cpu] : n;
		struct upsnap_hits h = {.hits = n,
					.new_hits = n >= old ? n - old : 0,
					.probe = (uint32_t)s->n_probes,
					.cpu = cpu};
		if (n)
			code = upsnap_add_hits(s, &h);
	}
	return code;
}

static void fill_place(struct snapshot_uprobes *u, struct upsnap *s, const struct place *at,
		       struct upsnap_probe *p)
{
	bool back = (p->flags & UPSNAP_RETURN) != 0;

	p->class_ = at->verdict.class_;
	p->n_bytes = at->n_bytes;
	memcpy(p->bytes, at->bytes, sizeof(p->bytes));
	p->binary = upsnap_add_text(s, at->path);
	p->symbol = upsnap_add_text(s, at->symbol);
	p->reason = upsnap_add_text(s, at->verdict.reason);
	p->hint = upsnap_add_text(s, back ? "" : at->hint);
	p->flags |= at->debug ? UPSNAP_DEBUG_INFO : 0;
	if (u->has_costs)
		p->cost_ns = u->costs.ns[p->class_][back];
}

static int add_probe(struct snapshot_uprobes *u, struct upsnap *s, const struct found_probe *f)
{
	const struct probe_past *past = find_past(&u->pasts, f->id);
	const struct place *at = snapshot_uprobes_place(u, f);
	struct upsnap_probe p = {.id = f->id,
				 .offset = f->offset,
				 .ref_ctr = f->ref_ctr,
				 .hits = f->hits == UINT64_MAX ? 0 : f->hits,
				 .misses = f->misses == UINT64_MAX ? 0 : f->misses,
				 .owner_pid = f->owner_pid,
				 .filter_pid = f->filter_pid,
				 .source = f->source,
				 .flags = f->flags};

	if (!at)
		return -ENOMEM;
	p.flags |= f->hits != UINT64_MAX ? UPSNAP_HITS : 0;
	p.flags |= f->misses != UINT64_MAX ? UPSNAP_MISSES : 0;
	p.owner_comm = upsnap_add_text(s, f->comm);
	p.name = upsnap_add_text(s, f->name);
	fill_rates(u, past, &p);
	fill_place(u, s, at, &p);
	int code = upsnap_add_probe(s, &p);
	code = code < 0 ? code : add_cpu_hits(s, f, past);
	return code < 0 ? code : remember(u, f, &p);
}

/* Is it the event of a probe in uprobe_events? Then the probe has that name. */
static const struct up_event *find_user(const struct snapshot_uprobes *u,
					const struct uprobe_line *l)
{
	for (uint32_t i = 0; i < snapshot_uprobes_n_events(u); i++) {
		const struct up_event *e = snapshot_uprobes_event(u, i);
		if (!(e->flags & UP_LOCAL) && !strncmp(e->group, l->group, sizeof(e->group) - 1) &&
		    !strncmp(e->name, l->event, sizeof(e->name) - 1))
			return e;
	}
	return NULL;
}

static int add_line(struct snapshot_uprobes *u, struct upsnap *s, const struct uprobe_line *l,
		    uint64_t hits)
{
	const struct up_event *user = find_user(u, l);
	char name[160];
	struct found_probe f = {.offset = l->offset,
				.ref_ctr = l->ref_ctr,
				.hits = hits,
				.misses = UINT64_MAX,
				.source = UPSNAP_TRACEFS,
				.flags = l->is_return ? UPSNAP_RETURN : 0,
				.comm = "",
				.path = l->path,
				.name = name,
				.n_cpus = UP_EVENT_CPUS};

	snprintf(name, sizeof(name), "%s/%s", l->group, l->event);
	f.id = snapshot_uprobes_hash(UPSNAP_TRACEFS, name);
	if (user) {
		f.owner_pid = user->owner_pid;
		f.filter_pid = user->target_pid;
		f.comm = user->comm;
		f.ino = user->ino;
		f.dev = user->dev;
		f.cpu_hits = user->cpu_hits;
	} else if (!snapshot_uprobes_line_enabled(u, l)) {
		f.flags |= UPSNAP_DISABLED;
	}
	return add_probe(u, s, &f);
}

/* Events of one process at one place are one probe. */
static uint64_t event_id(const struct up_event *e)
{
	char text[128];

	snprintf(text, sizeof(text), "%d %d %d %" PRIx64 " %d ", UPSNAP_PERF, e->owner_pid,
		 e->target_pid, (uint64_t)e->offset, (int)(e->flags & UP_RETURN));
	return snapshot_uprobes_hash(snapshot_uprobes_hash(0, text), e->path);
}

static bool is_first(const struct snapshot_uprobes *u, uint32_t index, uint64_t id)
{
	for (uint32_t i = 0; i < index; i++)
		if (snapshot_uprobes_event(u, i)->flags & UP_LOCAL &&
		    event_id(snapshot_uprobes_event(u, i)) == id)
			return false;
	return true;
}

/* Each event of a probe counts the same hits: the greatest count is complete. */
static const struct up_event *most_hit(const struct snapshot_uprobes *u, uint32_t first,
				       uint64_t id)
{
	const struct up_event *most = snapshot_uprobes_event(u, first);

	for (uint32_t i = first + 1; i < snapshot_uprobes_n_events(u); i++) {
		const struct up_event *e = snapshot_uprobes_event(u, i);
		if (e->flags & UP_LOCAL && e->hits > most->hits && event_id(e) == id)
			most = e;
	}
	return most;
}

/* Of a probe of kontend that a program counts: its hits, and those by CPU, which stay in @e. */
static void take_own(const struct snapshot_uprobes *u, const struct up_event *e,
		     struct found_probe *f)
{
	const struct up_own *o = snapshot_uprobes_own_count(u, e);

	if (!o)
		return;
	f->hits = 0;
	for (uint32_t cpu = 0; cpu < UP_CPUS; cpu++)
		f->hits += o->hits[cpu];
	f->cpu_hits = o->hits;
	f->name = "";
	f->is_exact = true;
}

static int add_event(struct snapshot_uprobes *u, struct upsnap *s, uint32_t index, uint64_t id)
{
	const struct up_event *e = most_hit(u, index, id);
	const struct up_holder *h = e->owner_pid ? NULL : snapshot_uprobes_holder(u, e->event, 0);
	struct found_probe f = {.id = id,
				.offset = e->offset,
				.ref_ctr = e->ref_ctr,
				.hits = e->hits,
				.misses = UINT64_MAX,
				.owner_pid = h ? h->pid : e->owner_pid,
				.filter_pid = e->target_pid,
				.source = UPSNAP_PERF,
				.flags = e->flags & UP_RETURN ? UPSNAP_RETURN : 0,
				.comm = h ? h->comm : e->comm,
				.ino = e->ino,
				.dev = e->dev,
				.path = e->path,
				.name = e->flags & UP_BPF ? "bpf" : "",
				.cpu_hits = e->cpu_hits,
				.n_cpus = UP_EVENT_CPUS};

	f.flags |= f.owner_pid == getpid() ? UPSNAP_OWN : 0;
	take_own(u, e, &f);
	return add_probe(u, s, &f);
}

static int add_events(struct snapshot_uprobes *u, struct upsnap *s)
{
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < snapshot_uprobes_n_events(u); i++) {
		if (!(snapshot_uprobes_event(u, i)->flags & UP_LOCAL))
			continue;
		uint64_t id = event_id(snapshot_uprobes_event(u, i));
		if (is_first(u, i, id))
			code = add_event(u, s, i, id);
	}
	return code;
}

/* Adds the probes that kontend has placed itself: they are known without BPF as well. */
static int add_own(struct snapshot_uprobes *u, struct upsnap *s)
{
	const struct uprobe_attach_probe *p;
	int code = 0;

	for (size_t i = 0; code == 0 && (p = uprobe_attach_get(u->own, i)); i++) {
		struct found_probe f = {.offset = p->offset,
					.misses = UINT64_MAX,
					.owner_pid = getpid(),
					.filter_pid = p->pid,
					.source = UPSNAP_PERF,
					.flags = UPSNAP_OWN | (p->is_return ? UPSNAP_RETURN : 0),
					.comm = program_invocation_short_name,
					.path = p->path,
					.name = "",
					.is_exact = true};
		char text[64];
		if (!uprobe_attach_hits(u->own, i, &f.hits))
			f.hits = UINT64_MAX;
		snprintf(text, sizeof(text), "own %zu", i);
		f.id = snapshot_uprobes_hash(0, text);
		code = add_probe(u, s, &f);
	}
	return code;
}

struct linking {
	struct snapshot_uprobes *u;
	struct upsnap *s;
};

static int add_link(void *arg, const struct up_link *l)
{
	const struct linking *k = arg;
	const struct up_holder *h = snapshot_uprobes_holder(k->u, 0, l->id);
	char text[64], name[64];
	struct found_probe f = {.offset = l->offset,
				.ref_ctr = l->ref_ctr,
				.hits = UINT64_MAX,
				.misses = UINT64_MAX,
				.ino = l->ino,
				.dev = l->dev,
				.owner_pid = h ? h->pid : 0,
				.filter_pid = l->pid,
				.source = UPSNAP_LINK,
				.flags = l->is_return ? UPSNAP_RETURN : 0,
				.comm = h ? h->comm : "",
				.path = l->path,
				.name = name};

	snprintf(name, sizeof(name), "link %" PRIu32 " %s", l->id, l->program);
	snprintf(text, sizeof(text), "%d %" PRIu32 " %" PRIx64, UPSNAP_LINK, l->id, l->offset);
	f.id = snapshot_uprobes_hash(0, text);
	return add_probe(k->u, k->s, &f);
}

static int add_links(struct snapshot_uprobes *u, struct upsnap *s)
{
	struct linking k = {u, s};
	int code = up_links_walk(u->links, add_link, &k);

	if (code < 0 && code != -ENOMEM) {
		s->head.missing |= UPSNAP_NO_LINKS;
		code = 0;
	}
	return code;
}

/* Is there a probe for others at the place of @p? */
static bool has_others(const struct upsnap *s, const struct upsnap_probe *p)
{
	for (size_t i = 0; i < s->n_probes; i++) {
		const struct upsnap_probe *o = &s->probes[i];
		if (o->offset == p->offset && o->filter_pid != p->filter_pid &&
		    !(o->flags & UPSNAP_DISABLED) &&
		    !strcmp(upsnap_text(s, o->binary), upsnap_text(s, p->binary)))
			return true;
	}
	return false;
}

/*
 * The kernel's count of a probe for one process includes all processes that hit it. That is this
 * process alone as long as there is no other probe at the place. The snapshot has the probes of the
 * cache.
 */
static void mark_shared(struct snapshot_uprobes *u, struct upsnap *s)
{
	for (size_t i = 0; i < s->n_probes && i < u->pasts.n_probes_next; i++) {
		struct probe_past *past = &u->pasts.probes_next[i];
		struct upsnap_probe *p = &s->probes[i];
		if (!p->filter_pid || !(p->flags & UPSNAP_HITS) || past->is_exact)
			continue;
		past->shared |= has_others(s, p);
		p->flags |= past->shared ? UPSNAP_SHARED : 0;
	}
}

static void turn_pasts(struct pasts *p)
{
	struct probe_past *probes = p->probes;
	size_t cap = p->cap_probes;

	p->probes = p->probes_next;
	p->n_probes = p->n_probes_next;
	p->cap_probes = p->cap_probes_next;
	p->probes_next = probes;
	p->cap_probes_next = cap;
	p->n_probes_next = 0;
}

int snapshot_uprobes_probes(struct snapshot_uprobes *u, struct upsnap *s)
{
	int code = snapshot_uprobes_lines(u, s, add_line);

	if (code == -ENOENT) {
		s->head.missing |= UPSNAP_NO_TRACEFS;
		code = 0;
	}
	if (u->has_bpf) {
		code = code < 0 ? code : add_events(u, s);
		code = code < 0 ? code : add_links(u, s);
	} else {
		code = code < 0 ? code : add_own(u, s);
	}
	mark_shared(u, s);
	turn_pasts(&u->pasts);
	return code;
}
