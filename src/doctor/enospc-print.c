// SPDX-License-Identifier: GPL-2.0-only
/* Results of `kontend doctor --enospc`, as text and as JSON (kontend.enospc/1). */
#include "enospc-run.h"
#include "kontend/jsonw.h"

#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

static const char *const rwx_names[] = {"-", "r", "w", "rw", "x", "rx", "wx", "rwx"};
static const char *const pool_names[] = {"any", "exec", "data"};

/* The task that would have to close an event. */
struct keeper {
	const char *kind, *comm;
	int32_t pid, fd; /* 0 and -1: not known, none */
	uint32_t others; /* processes that have a descriptor of it, too */
};

static void find_holders(const struct perfsnap *s, uint32_t event, struct keeper *k)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->n_holders; i++) {
		if (s->holders[i].event != event + 1 || n++)
			continue;
		k->pid = s->holders[i].pid;
		k->fd = s->holders[i].fd;
		k->comm = perfsnap_text(s, s->holders[i].comm);
	}
	k->others = n ? n - 1 : 0;
}

static uint32_t root_of(const struct perfsnap *s, uint32_t event)
{
	for (size_t i = 0; s->events[event].parent && i < s->n_events; i++)
		if (s->events[i].id == s->events[event].parent)
			return (uint32_t)i;
	return event;
}

static struct keeper keeper_of(const struct perfsnap *s, uint32_t event)
{
	const struct snap_event *e = &s->events[event];
	struct keeper k = {"perf fd", "", 0, -1, 0};

	if (e->flags & SNAP_PTRACE)
		return (struct keeper){"ptrace", perfsnap_text(s, e->tracer_comm), e->tracer_pid,
				       -1, 0};
	if (e->flags & SNAP_KERNEL)
		return (struct keeper){"kernel", "", 0, -1, 0};
	find_holders(s, root_of(s, event), &k);
	if (e->flags & SNAP_CHILD)
		k.kind = "inherited";
	else if (!k.pid)
		k = (struct keeper){"no fd", perfsnap_text(s, e->owner_comm), e->owner_pid, -1, 0};
	return k;
}

static const char *state_of(int32_t state)
{
	return state >= SNAP_ACTIVE	? "active"
	       : state == SNAP_INACTIVE ? "inactive"
	       : state == SNAP_OFF	? "off"
	       : state == SNAP_EXIT	? "exited"
					: "error";
}

static void put_bound(FILE *out, const struct snap_event *e)
{
	char text[32] = "";

	if (e->target_tid && e->cpu >= 0)
		snprintf(text, sizeof(text), "tid %" PRId32 " cpu %" PRId32, e->target_tid, e->cpu);
	else if (e->target_tid)
		snprintf(text, sizeof(text), "tid %" PRId32, e->target_tid);
	else
		snprintf(text, sizeof(text), "cpu %" PRId32, e->cpu);
	fprintf(out, "%-18s", text);
}

static void put_holder(FILE *out, const struct perfsnap *s, uint32_t event)
{
	const struct snap_event *e = &s->events[event];
	struct keeper k = keeper_of(s, event);
	char who[40], fd[16] = "-";

	snprintf(who, sizeof(who), k.pid ? "%s/%" PRId32 : "%s-", k.comm, k.pid);
	if (k.fd >= 0)
		snprintf(fd, sizeof(fd), "%" PRId32, k.fd);
	fprintf(out, "  %-22s %4s  %-9s  ", who, fd, k.kind);
	put_bound(out, e);
	fprintf(out, " 0x%-16" PRIx64 " %3" PRIu64 " %-3s %-8s %s\n", e->bp_addr, e->bp_len,
		rwx_names[e->bp_type & 7], state_of(e->state), perfsnap_text(s, e->where));
}

/* Instructions for one event, in words that a user can follow. */
static void put_close(FILE *out, const struct perfsnap *s, uint32_t event)
{
	const struct snap_event *e = &s->events[event];
	struct keeper k = keeper_of(s, event);

	if (e->flags & SNAP_PTRACE)
		fprintf(out,
			"  delete the watchpoint at 0x%" PRIx64 " in %s/%" PRId32
			", which traces %s/%" PRId32 "\n",
			e->bp_addr, k.comm, k.pid, perfsnap_text(s, e->target_comm), e->target_tid);
	else if (k.fd >= 0)
		fprintf(out, "  close fd %" PRId32 " of %s/%" PRId32 ", or end that process%s\n",
			k.fd, k.comm, k.pid,
			k.others ? "; others have it open, too: see holder_pids in --json" : "");
	else if (k.pid)
		fprintf(out,
			"  end %s/%" PRId32 ", which opened event %" PRIu64
			" and has no descriptor of it any more\n",
			k.comm, k.pid, e->id);
	else
		fprintf(out,
			"  event %" PRIu64 ", of which no process has a descriptor: it is "
			"mapped, or under way in a socket\n",
			e->id);
}

static void put_question(FILE *out, const struct enospc_run *c)
{
	static const char *const verdicts[] = {"fits.", "would be refused.", "cannot be judged."};
	const struct opts *o = c->opts;

	fprintf(out, "A breakpoint of %" PRIu64 " byte%s (%s)", c->ask.len,
		c->ask.len == 1 ? "" : "s", rwx_names[c->ask.rwx]);
	if (c->ask.has_addr)
		fprintf(out, " at 0x%" PRIx64, c->ask.addr);
	if (o->pids && c->ask.n_tids > 1)
		fprintf(out, " for each of the %zu threads of process %s", c->ask.n_tids, o->pids);
	else if (o->pids)
		fprintf(out, " for the one thread of process %s", o->pids);
	else if (o->tids)
		fprintf(out, " for thread %s", o->tids);
	if (o->cpus)
		fprintf(out, " on CPU %s", o->cpus);
	else if (!c->ask.n_tids)
		fprintf(out, " on every CPU");
	fprintf(out, " %s\n\n", verdicts[enospc_run_status(c)]);
	if (c->refusal.code)
		fprintf(out, "%s.\n\n", c->refusal.text);
}

static void put_rows(FILE *out, const struct enospc_run *c)
{
	fprintf(out, "  CPU  TYPE  SLOTS  OF THE CPU  %s  FREE\n",
		c->ask.n_tids ? "OF THE THREAD" : "OF ONE THREAD");
	for (size_t i = 0; i < c->result.n_rows; i++) {
		const struct enospc_row *r = &c->result.rows[i];
		int32_t left = r->slots - r->cpu_pinned - r->task_pinned;
		char task[24] = "?", more[24] = "";

		if (r->task_pinned >= 0)
			snprintf(task, sizeof(task), "%" PRId32, r->task_pinned);
		if (r->task_pinned >= 0 && r->slots >= 0)
			snprintf(more, sizeof(more), "%" PRId32, left > 0 ? left : 0);
		fprintf(out, "  %3" PRIu32 "  %-4s  %5" PRId32 "  %10" PRId32 "  %13s  %4s", r->cpu,
			r->type < 3 ? pool_names[r->type] : "?", r->slots, r->cpu_pinned, task,
			*more ? more : "?");
		if (r->tid && r->task_pinned > 0)
			fprintf(out, "  thread %" PRId32, r->tid);
		if (r->tied > 1 && r->task_pinned > 0)
			fprintf(out, " and %" PRIu32 " more that have as many", r->tied - 1);
		fputc('\n', out);
	}
}

/* How it was found out, and what that leaves open. */
static void put_method(FILE *out, const struct enospc_run *c)
{
	const struct snap_head *h = &c->snap.head;
	const char *reason = perfsnap_text(&c->snap, h->reason);

	if (h->method == SNAP_BPF)
		fprintf(out, "\nRead from the kernel by BPF%s%s.\n", *reason ? ": " : "", reason);
	else
		fprintf(out,
			"\nCounted by opening breakpoints until the kernel refused. Their holders "
			"are not known\nthat way: %s.\n"
			"With BPF (CAP_BPF and CAP_PERFMON, or root) the holders would be named.\n",
			reason);
	if (h->incomplete)
		fprintf(out, "Some lists changed while they were read: a holder may be missing.\n");
}

void enospc_run_put_text(FILE *out, const struct enospc_run *c)
{
	const struct enospc *r = &c->result;

	put_question(out, c);
	put_rows(out, c);
	if (r->n_holders)
		fprintf(out,
			"\nWho takes the slots where it does not fit:\n  %-22s %4s  %-9s  "
			"%-18s %-18s LEN RWX %-8s WHERE\n",
			"HOLDER", "FD", "KIND", "FOR", "ADDRESS", "STATE");
	for (size_t i = 0; i < r->n_holders; i++)
		put_holder(out, &c->snap, r->holders[i]);
	if (r->n_closes)
		fprintf(out, "\nTo make it fit:\n");
	for (size_t i = 0; i < r->n_closes; i++)
		put_close(out, &c->snap, r->closes[i]);
	if (r->helpless)
		fprintf(out, "  The holders of some of it are not known.\n");
	put_method(out, c);
}

static void json_holder(struct jsonw *j, const struct perfsnap *s, uint32_t event)
{
	const struct snap_event *e = &s->events[event];
	struct keeper k = keeper_of(s, event);
	uint32_t root = root_of(s, event);

	jsonw_begin(j, NULL, '{', true);
	jsonw_u64(j, "id", e->id);
	jsonw_str(j, "kind", k.kind);
	k.pid ? jsonw_i64(j, "pid", k.pid) : jsonw_null(j, "pid");
	jsonw_str(j, "comm", k.pid ? k.comm : NULL);
	k.fd >= 0 ? jsonw_i64(j, "fd", k.fd) : jsonw_null(j, "fd");
	jsonw_begin(j, "holder_pids", '[', true);
	for (size_t i = 0; i < s->n_holders; i++)
		if (s->holders[i].event == root + 1)
			jsonw_i64(j, NULL, s->holders[i].pid);
	jsonw_end(j, ']');
	jsonw_hex(j, "addr", e->bp_addr);
	jsonw_str(j, "where", *perfsnap_text(s, e->where) ? perfsnap_text(s, e->where) : NULL);
	jsonw_u64(j, "len", e->bp_len);
	jsonw_str(j, "bp_type", rwx_names[e->bp_type & 7]);
	e->cpu >= 0 ? jsonw_i64(j, "cpu", e->cpu) : jsonw_null(j, "cpu");
	e->target_tid ? jsonw_i64(j, "target_tid", e->target_tid) : jsonw_null(j, "target_tid");
	jsonw_str(j, "state", state_of(e->state));
	jsonw_end(j, '}');
}

static void json_rows(struct jsonw *j, const struct enospc *r)
{
	jsonw_begin(j, "cpus", '[', false);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct enospc_row *w = &r->rows[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "cpu", w->cpu);
		jsonw_str(j, "type", w->type < 3 ? pool_names[w->type] : "?");
		jsonw_i64(j, "slots", w->slots);
		jsonw_i64(j, "cpu_pinned", w->cpu_pinned);
		w->task_pinned >= 0 ? jsonw_i64(j, "task_pinned", w->task_pinned)
				    : jsonw_null(j, "task_pinned");
		w->tid ? jsonw_i64(j, "tid", w->tid) : jsonw_null(j, "tid");
		w->known ? jsonw_bool(j, "fits", w->fits) : jsonw_null(j, "fits");
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void json_events(struct jsonw *j, const char *key, const struct perfsnap *s,
			const uint32_t *events, size_t n)
{
	jsonw_begin(j, key, '[', false);
	for (size_t i = 0; i < n; i++)
		json_holder(j, s, events[i]);
	jsonw_end(j, ']');
}

void enospc_run_put_json(FILE *out, const struct enospc_run *c)
{
	struct jsonw j = {.out = out};
	const struct enospc *r = &c->result;
	int status = enospc_run_status(c);
	const char *reason = perfsnap_text(&c->snap, c->snap.head.reason);

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.enospc/1");
	status == ENOSPC_EXIT_UNKNOWN ? jsonw_null(&j, "fits")
				      : jsonw_bool(&j, "fits", status == ENOSPC_EXIT_FITS);
	jsonw_str(&j, "refusal", c->refusal.code ? c->refusal.text : NULL);
	jsonw_str(&j, "method", c->snap.head.method == SNAP_BPF ? "bpf" : "probe");
	jsonw_str(&j, "reason", *reason ? reason : NULL);
	jsonw_begin(&j, "breakpoint", '{', true);
	c->ask.has_addr ? jsonw_hex(&j, "addr", c->ask.addr) : jsonw_null(&j, "addr");
	jsonw_u64(&j, "len", c->ask.len);
	jsonw_str(&j, "bp_type", rwx_names[c->ask.rwx]);
	jsonw_u64(&j, "threads", c->ask.n_tids);
	jsonw_end(&j, '}');
	json_rows(&j, r);
	json_events(&j, "holders", &c->snap, r->holders, r->n_holders);
	json_events(&j, "close", &c->snap, r->closes, r->n_closes);
	jsonw_bool(&j, "complete", !r->helpless && !c->snap.head.incomplete);
	jsonw_end(&j, '}');
}
