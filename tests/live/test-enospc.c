// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend doctor --enospc` against the kernel itself. Its verdict on a breakpoint as such is that
 * of perf_event_open(), for every type, length and alignment. Its verdict on slots is whether the
 * kernel takes one more, in several states and for CPUs and threads. When all slots of a CPU are
 * taken it names the owners; when one is given back the breakpoint fits; the same without BPF.
 * Other programs may take and free slots meanwhile: a check that does not agree is repeated.
 *
 *     test-enospc KONTEND BP-HOLDER
 */
#include "holder.h"
#include "kontend/enospc.h"
#include "kontend/inspect.h"
#include "live.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TRIES = 300,
	PAUSE_US = 20000,
	MOST_SLOTS = 32,
};

struct test {
	const char *kontend, *program;
	struct holder holder;
	struct inspect *inspect;
	struct perfsnap snap;
	int failures;
	bool skipped;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static int try_open(const struct enospc_ask *ask)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = ask->rwx,
		.bp_addr = ask->addr,
		.bp_len = ask->len,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd, code = -ENOSPC;

	for (int i = 0; code == -ENOSPC && i < TRIES; i++) {
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		code = fd < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
		if (code == -ENOSPC)
			usleep(PAUSE_US);
	}
	return code;
}

static void check_rules(struct test *t)
{
	static const uint64_t lengths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 64};
	static _Alignas(128) char memory[256];
	struct enospc_machine m = enospc_machine();
	int tried = 0;

	for (uint32_t rwx = 1; rwx < 8 && m.arch != ENOSPC_OTHER; rwx++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
			for (uint64_t at = 0; at < 9; at++, tried++) {
				struct enospc_ask ask = {.addr = (uintptr_t)memory + at,
							 .len = lengths[i],
							 .has_addr = true,
							 .rwx = rwx};
				struct error err = {0};
				int said = enospc_check(&ask, &m, &err), does = try_open(&ask);
				CHECK(t, said == does, "rwx %u len %llu +%llu: %s, not %s", rwx,
				      (unsigned long long)ask.len, (unsigned long long)at,
				      strerror(-said), strerror(-does));
			}
	printf("%d breakpoints judged as the kernel does\n", tried);
}

/* Is the verdict what the kernel does? */
static bool agrees(struct test *t, const int32_t *tid, uint32_t cpu)
{
	struct enospc_ask ask = {.rwx = HW_BREAKPOINT_W, .len = 1, .cpus = &cpu, .n_cpus = 1};
	struct error err = {0};
	struct enospc r;

	if (tid) {
		ask.tids = tid;
		ask.n_tids = 1;
	}
	if (inspect_take(t->inspect, INSPECT_ALL, &t->snap, &err) < 0 ||
	    enospc_judge(&r, &t->snap, &ask) < 0)
		return false;
	uint32_t type = r.n_rows ? r.rows[0].type : SNAP_SLOT_ANY;
	int left = inspect_probe_free(type, tid ? *tid : -1, (int)cpu);
	const struct enospc_row *w = &r.rows[0];
	bool same = r.known && r.n_rows == 1 && left >= 0 && r.fits == (left > 0) &&
		    w->slots - w->cpu_pinned - w->task_pinned == left &&
		    r.fits == (r.n_closes == 0);
	enospc_deinit(&r);
	return same;
}

static void check_verdict(struct test *t, const char *state, const int32_t *tid, uint32_t cpu)
{
	bool same = false;

	for (int i = 0; !same && i < TRIES; i++) {
		same = agrees(t, tid, cpu);
		if (!same)
			usleep(PAUSE_US);
	}
	CHECK(t, same, "%s: cpu %u, thread %d: the kernel does otherwise", state, cpu,
	      tid ? *tid : -1);
}

/* A breakpoint of others: who then has what a holder needs. */
static const struct snap_event *find_others(struct test *t)
{
	struct error err = {0};

	if (!t->inspect || inspect_take(t->inspect, INSPECT_ALL, &t->snap, &err) < 0)
		return NULL;
	for (size_t i = 0; i < t->snap.n_events; i++)
		if (t->snap.events[i].type == PERF_TYPE_BREAKPOINT)
			return &t->snap.events[i];
	return NULL;
}

/* Waits until no other program has the slots that it needs; skips that part if they stay taken. */
static bool start(struct test *t, const char *const *kinds)
{
	if (holder_start(&t->holder, t->program, kinds) == 0)
		return true;
	const struct snap_event *other = find_others(t);
	if (!CHECK(t, other != NULL, "bp-holder could not make %s ...", kinds[0]))
		return false;
	printf("%s ... not tried: %s/%d has a breakpoint for %s/%d on CPU %d\n", kinds[0],
	       perfsnap_text(&t->snap, other->owner_comm), other->owner_pid,
	       perfsnap_text(&t->snap, other->target_comm), other->target_pid, other->cpu);
	t->skipped = true;
	return false;
}

static void check_verdicts(struct test *t)
{
	static const char *const states[][6] = {
		{"task", "cpu:0"}, {"cpu:0", "cpu:0", "fork"}, {"ptrace", "exited", "cpu:0"},
		{"four"},	   {"four", "four"},	       {"cpu:0", "cpu:0", "cpu:0", "cpu:0"},
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		if (!start(t, states[i]))
			continue;
		for (uint32_t cpu = 0; cpu < 2 && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
			check_verdict(t, states[i][0], NULL, cpu);
			for (size_t k = 0; k < t->holder.n; k++) {
				int32_t tid = t->holder.made[k].target;
				/* One that has exited takes no more. */
				if (tid && t->holder.made[k].state != SNAP_EXIT)
					check_verdict(t, states[i][0], &tid, cpu);
			}
		}
		holder_stop(&t->holder);
	}
}

/* Runs the doctor on CPU 0 for a breakpoint of @type; the exit status. */
static int run_report(struct test *t, const char *type, const char *option, struct json_doc *doc)
{
	const char *argv[] = {t->kontend, "doctor", "--enospc", "-C",	"0",
			      "--json",	  "--type", type,	option, NULL};
	struct live_run run;

	live_run_start(&run, argv);
	live_run_end(&run);
	int code = live_run_code(&run);
	if (code <= 2)
		live_run_json(&run, doc);
	CHECK(t, code <= 1, "exit status %d", code);
	live_run_deinit(&run);
	return code;
}

static void check_named(struct test *t, const struct json *root, int slots)
{
	const struct json *holders = json_get(root, "holders");
	int found = 0;

	for (size_t i = 0; i < json_len(holders); i++)
		for (size_t k = 0; k < t->holder.n; k++) {
			const struct json *h = json_at(holders, i);
			const struct bp_made *m = &t->holder.made[k];
			found += json_u64(json_get(h, "id")) == m->id &&
				 json_u64(json_get(h, "pid")) == (uint64_t)m->holder[0] &&
				 json_u64(json_get(h, "fd")) == (uint64_t)m->fd[0] &&
				 strtoull(json_text(json_get(h, "addr")), NULL, 16) == m->addr &&
				 strcmp(json_text(json_get(h, "kind")), "perf fd") == 0;
		}
	CHECK(t, found == slots && (int)json_len(holders) == slots,
	      "%zu holders, %d of them right, not %d", json_len(holders), found, slots);
	CHECK(t, json_len(json_get(root, "close")) == 1, "%zu to close, not one",
	      json_len(json_get(root, "close")));
}

/* How many slots a CPU has for @type, "w" or "x": one pool for both, or one each. */
static int count_slots(struct test *t, const char *type)
{
	const uint32_t pool = *type == 'x' ? SNAP_SLOT_EXEC : SNAP_SLOT_DATA;
	struct inspect_options o = {0};
	struct inspect *probe;
	struct perfsnap s = {0};
	struct error err = {0};
	int n = 0;

	if (inspect_probe_new(&probe, &o, &err) < 0)
		return 0;
	if (inspect_take(probe, INSPECT_ALL, &s, &err) == 0)
		for (size_t i = 0; i < s.n_slots; i++)
			if (s.slots[i].cpu == 0 &&
			    (s.slots[i].type == SNAP_SLOT_ANY || s.slots[i].type == pool))
				n = s.slots[i].slots;
	perfsnap_deinit(&s);
	inspect_free(probe);
	CHECK(t, n > 0 && n < MOST_SLOTS, "CPU 0 has %d slots for %s", n, type);
	return n < MOST_SLOTS ? n : MOST_SLOTS - 1;
}

/* All slots of CPU 0 for @type are taken; then one is given back. */
static void check_doctor(struct test *t, const char *type, const char *option, bool named)
{
	const char *kinds[MOST_SLOTS] = {0};
	struct json_doc doc;
	int code = 1, slots = count_slots(t, type);

	for (int i = 0; i < slots; i++)
		kinds[i] = *type == 'x' ? "cpu-exec:0" : "cpu:0";
	if (!slots || !start(t, kinds))
		return;
	CHECK(t, run_report(t, type, option, &doc) == 1, "%s %s: it fits into what is full", type,
	      option);
	if (named)
		check_named(t, json_root(&doc), slots);
	else
		CHECK(t,
		      !json_len(json_get(json_root(&doc), "holders")) &&
			      strcmp(json_text(json_get(json_root(&doc), "method")), "probe") == 0,
		      "%s: holders that cannot be known", option);
	json_deinit(&doc);
	CHECK(t, holder_since(&t->holder, "end", "ended", 0) == 0, "bp-holder does not answer");
	for (int i = 0; code == 1 && i < TRIES / 10; i++) {
		code = run_report(t, type, option, &doc);
		json_deinit(&doc);
	}
	CHECK(t, code == 0, "%s %s: it does not fit where a slot is free", type, option);
	holder_stop(&t->holder);
}

int main(int argc, char **argv)
{
	struct test t = {.kontend = argc > 1 ? argv[1] : "", .program = argc > 2 ? argv[2] : ""};
	struct inspect_options o = {0};
	struct error err = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	live_need_root();
	if (inspect_bpf_new(&t.inspect, &o, &err) < 0)
		printf("without BPF only: %s\n", err.text);
	check_rules(&t);
	check_doctor(&t, "w", "--no-bpf", false);
	check_doctor(&t, "x", "--no-bpf", false);
	if (t.inspect) {
		check_doctor(&t, "w", "-j", true);
		check_doctor(&t, "x", "-j", true);
		check_verdicts(&t);
	}
	inspect_free(t.inspect);
	perfsnap_deinit(&t.snap);
	printf("%d failures\n", t.failures);
	return t.failures ? 1 : t.skipped ? LIVE_SKIP : 0;
}
