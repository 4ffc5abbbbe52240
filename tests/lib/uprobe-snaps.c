// SPDX-License-Identifier: GPL-2.0-only
#include "uprobe-snaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 31, WAITERS = 3 };

static const uint64_t SECOND = 1000000000;

static uint32_t text(struct upsnap *s, const char *t)
{
	return upsnap_add_text(s, t);
}

/* Ten seconds ago, unless the clock is younger. */
static uint64_t first_look(uint64_t t)
{
	return t > 10 * SECOND ? t - 10 * SECOND : t / 2;
}

/* The hits of a probe, of which there were @rate in the last second. */
static struct upsnap_probe probe(uint64_t id, uint64_t offset, uint64_t hits, uint64_t rate,
				 uint64_t t)
{
	return (struct upsnap_probe){.id = id,
				     .offset = offset,
				     .hits = hits,
				     .new_hits = rate,
				     .first_hits = hits > 10 * rate ? hits - 10 * rate : 0,
				     .first_ns = first_look(t),
				     .flags = UPSNAP_HITS};
}

static void add_tracefs(struct upsnap *s, uint64_t t)
{
	struct upsnap_probe p = probe(11, 0x9bd70, 120000, 1200, t);

	p.source = UPSNAP_TRACEFS;
	p.class_ = UPSNAP_EMULATED;
	p.cost_ns = 1100;
	p.owner_pid = 901;
	p.owner_comm = text(s, "perf");
	p.binary = text(s, "/usr/lib/libc.so.6");
	p.symbol = text(s, "malloc");
	p.name = text(s, "probe_libc/malloc");
	p.reason = text(s, "push %rbp: the kernel does it, one trap");
	p.n_bytes = 1;
	p.bytes[0] = 0x55;
	upsnap_add_probe(s, &p);
	upsnap_add_hits(s, &(struct upsnap_hits){.hits = 80000, .new_hits = 800, .probe = 1});
	upsnap_add_hits(
		s, &(struct upsnap_hits){.hits = 40000, .new_hits = 400, .probe = 1, .cpu = 1});
	p = probe(12, 0x1234, 0, 0, t);
	p.source = UPSNAP_TRACEFS;
	p.flags |= UPSNAP_DISABLED;
	p.class_ = UPSNAP_CLASS_UNKNOWN;
	p.binary = text(s, "/opt/gone");
	p.name = text(s, "probe_gone/main");
	p.reason = text(s, "the binary cannot be read any more");
	upsnap_add_probe(s, &p);
}

static void add_others(struct upsnap *s, uint64_t t)
{
	struct upsnap_probe p = probe(13, 0x41a0, 1030000, 103000, t);

	p.source = UPSNAP_PERF;
	p.class_ = UPSNAP_OUT_OF_LINE;
	p.flags |= UPSNAP_RETURN;
	p.cost_ns = 5200;
	p.owner_pid = 411;
	p.owner_comm = text(s, "agent");
	p.binary = text(s, "/usr/bin/app");
	p.symbol = text(s, "parse");
	p.reason = text(s, "endbr64: takes a slot on each hit, two traps");
	p.n_bytes = 4;
	memcpy(p.bytes, "\xf3\x0f\x1e\xfa", 4);
	upsnap_add_probe(s, &p);
	p.id = 14;
	p.flags = UPSNAP_HITS | UPSNAP_OF_TARGET;
	p.filter_pid = 7301;
	p.offset += 0x4c;
	p.hits = p.new_hits = p.first_hits = 0;
	p.symbol = text(s, "parse+0x4c");
	p.reason = text(s, "mov: takes a slot on each hit, two traps");
	p.hint = text(s, "+3 is a push %rbx: emulated");
	upsnap_add_probe(s, &p);
	p = probe(15, 0x5000, 0, 0, t);
	p.source = UPSNAP_LINK;
	p.class_ = UPSNAP_OPTIMIZED;
	p.flags = UPSNAP_MISSES;
	p.ref_ctr = 0x8010;
	p.owner_pid = 500;
	p.owner_comm = text(s, "bpftrace");
	p.binary = text(s, "/usr/bin/app");
	p.symbol = text(s, "serve+0x10");
	p.name = text(s, "link 7 serve");
	p.reason = text(s, "nop of 5 bytes: the kernel makes a call of it, no trap");
	upsnap_add_probe(s, &p);
}

static void add_areas(struct upsnap *s, uint64_t t, bool bpf)
{
	struct upsnap_area a = {.mm = 0xffff888100000000,
				.pid = 7301,
				.comm = text(s, "app"),
				.slots = SLOTS,
				.used = bpf ? SLOTS : -1};

	if (bpf) {
		a.max_used = SLOTS;
		a.samples = 10;
		a.sum_used = 64;
		a.waiting = WAITERS;
		a.single_step = 1;
		a.returns = 4;
		a.depth = 2;
		a.n_recent = 10;
		for (int i = 0; i < 10; i++)
			a.recent[i] = (uint16_t)(i < 7 ? i : SLOTS);
	}
	upsnap_add_area(s, &a);
	a = (struct upsnap_area){.mm = 0xffff888100001000,
				 .pid = 812,
				 .comm = text(s, "idle"),
				 .slots = SLOTS,
				 .used = bpf ? 0 : -1,
				 .samples = bpf ? 10 : 0};
	upsnap_add_area(s, &a);
	struct upsnap_task k = {.since_ns = t - SECOND,
				.offset = 0x41a0,
				.area = 1,
				.tid = 7302,
				.comm = text(s, "worker"),
				.state = UPSNAP_STEP,
				.slot = 5,
				.depth = 2};
	if (bpf)
		upsnap_add_task(s, &k);
	for (int i = 0; bpf && i < WAITERS; i++) {
		k = (struct upsnap_task){.since_ns = t - (uint64_t)i * SECOND,
					 .offset = UINT64_MAX,
					 .area = 1,
					 .tid = 7310 + i,
					 .comm = text(s, "worker"),
					 .state = UPSNAP_WAIT,
					 .slot = -1};
		upsnap_add_task(s, &k);
	}
}

static void make_first(struct upsnap *s, uint64_t t)
{
	s->head.interval_ns = 0;
	s->head.first_ns = t;
	for (size_t i = 0; i < s->n_probes; i++) {
		struct upsnap_probe *p = &s->probes[i];
		p->flags |= UPSNAP_NEW;
		p->new_hits = 0;
		p->first_hits = p->hits;
		p->first_ns = t;
	}
	for (int32_t i = 0; i < 3; i++) {
		struct upsnap_area a = {.mm = 0xffff888100002000 + (uint64_t)i * 0x1000,
					.pid = 900 + i,
					.comm = text(s, "sleeper"),
					.slots = SLOTS,
					.samples = 1};
		upsnap_add_area(s, &a);
	}
}

void uprobe_snap_make(struct upsnap *ret, const char *name, uint64_t t)
{
	bool bpf = strcmp(name, "proc") != 0;

	upsnap_clear(ret);
	ret->head = (struct upsnap_head){.time_ns = t,
					 .interval_ns = SECOND,
					 .cost_ns = 120000,
					 .walk_ns = 80000,
					 .first_ns = first_look(t),
					 .method = bpf ? UPSNAP_BPF : UPSNAP_PROC};
	if (!bpf) {
		ret->head.missing =
			UPSNAP_NO_SLOTS | UPSNAP_NO_TASKS | UPSNAP_NO_PERF | UPSNAP_NO_LINKS;
		ret->head.reason = text(ret, "BPF was switched off (--no-bpf)");
	}
	if (strcmp(name, "none") == 0) {
		ret->head.missing = UPSNAP_NO_COSTS;
		return;
	}
	add_tracefs(ret, t);
	if (bpf)
		add_others(ret, t);
	add_areas(ret, t, bpf);
	if (strcmp(name, "first") == 0)
		make_first(ret, t);
}

void uprobe_snap_put(struct synth *s, const struct upsnap *snap)
{
	struct record_snapshot head = {
		.kind = SNAPSHOT_UPROBES, .version = UPSNAP_VERSION, .time_ns = snap->head.time_ns};
	size_t len = sizeof(head) + upsnap_size(snap);
	char *body = calloc(1, len);

	if (!body)
		abort();
	memcpy(body, &head, sizeof(head));
	upsnap_encode(snap, body + sizeof(head));
	synth_record(s, RECORD_SNAPSHOT, 0, body, len);
	free(body);
}

void uprobe_snap_emit(struct synth *s, const char *name, uint64_t t)
{
	struct upsnap snap = {0};

	uprobe_snap_make(&snap, name, t);
	uprobe_snap_put(s, &snap);
	upsnap_deinit(&snap);
}
