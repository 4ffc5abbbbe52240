// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend doctor --enospc`: would a breakpoint get a slot? Turns the command line into a question,
 * takes one snapshot, and lets enospc.c judge. Without BPF the threads' own breakpoints are
 * counted by opening more until the kernel refuses.
 */
#include "enospc-run.h"
#include "kontend/cmd.h"
#include "kontend/doctor.h"
#include "kontend/inspect.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/output.h"
#include "kontend/procfs.h"
#include "kontend/target.h"
#include "kontend/units.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <string.h>

static int parse_addr(struct enospc_run *c, const char *text, struct error *err)
{
	const char *at = text;

	c->ask.has_addr = true;
	if (number_take_hex(&at, &c->ask.addr) < 0 || *at)
		return error_set(err, -EINVAL,
				 "--addr '%s': give an address, like 0x55d0c0de; see 'kontend "
				 "doctor --help'",
				 text);
	return 0;
}

static int parse_breakpoint(struct enospc_run *c, struct error *err)
{
	const struct opts *o = c->opts;
	const char *type = o->type ? o->type : "w";

	c->ask.rwx |= strchr(type, 'r') ? HW_BREAKPOINT_R : 0;
	c->ask.rwx |= strchr(type, 'w') ? HW_BREAKPOINT_W : 0;
	c->ask.rwx |= strchr(type, 'x') ? HW_BREAKPOINT_X : 0;
	c->ask.len = c->ask.rwx == HW_BREAKPOINT_X ? sizeof(long) : 1;
	if (o->len && units_parse_count(o->len, &c->ask.len) < 0)
		return error_set(err, -EINVAL,
				 "--len '%s': give a number of bytes, like 4; see 'kontend doctor "
				 "--help'",
				 o->len);
	return o->addr ? parse_addr(c, o->addr, err) : 0;
}

/* Every thread of the processes: a tool that is given a process opens one breakpoint a thread. */
static int list_threads(struct target *t, struct error *err)
{
	pid_t *tids = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < t->n_ids; i++) {
		int code = procfs_tids("/proc", t->ids[i], &tids, &n, &cap);
		if (code < 0) {
			mem_free(tids);
			return error_errno(err, code, "Cannot list the threads of process %d",
					   (int)t->ids[i]);
		}
	}
	mem_free(t->ids);
	t->ids = tids;
	t->n_ids = n;
	return 0;
}

static int parse_targets(struct enospc_run *c, struct target *t, struct error *err)
{
	const struct opts *o = c->opts;
	int code = o->cpus ? target_parse_cpus(t, o->cpus, err) : 0;

	if (code == 0 && o->pids)
		code = target_parse_ids(t, TARGET_PIDS, o->pids, err);
	if (code == 0 && o->tids)
		code = target_parse_ids(t, TARGET_TIDS, o->tids, err);
	if (code == 0 && o->pids)
		code = list_threads(t, err);
	c->ask.cpus = t->cpus;
	c->ask.n_cpus = t->n_cpus;
	c->ask.tids = t->ids;
	c->ask.n_tids = t->n_ids;
	return code;
}

/* The breakpoints of thread @tid on @s's CPU: how many fewer fit than for a thread without any. */
static int count_own(struct enospc_run *c, const struct snap_slots *s, int32_t tid, size_t *n,
		     struct error *err)
{
	int left = inspect_probe_free(s->type, tid, (int)s->cpu);

	if (left == -ESRCH)
		return 0; /* it has exited */
	if (left < 0)
		return error_errno(err, left,
				   "Cannot open a breakpoint for thread %d (of another user's it "
				   "takes root, or CAP_PERFMON and CAP_SYS_PTRACE)",
				   (int)tid);
	c->counts[(*n)++] = (struct enospc_count){tid, s->cpu, s->slots - s->cpu_pinned - left};
	return 0;
}

static int count_threads(struct enospc_run *c, struct error *err)
{
	const struct perfsnap *s = &c->snap;
	size_t n = 0;
	int code = 0;

	c->counts = mem_calloc(s->n_slots * c->ask.n_tids + 1, sizeof(*c->counts));
	if (!c->counts)
		return error_enomem(err, "counting breakpoints");
	for (size_t i = 0; i < s->n_slots; i++)
		for (size_t k = 0; code == 0 && s->slots[i].slots >= 0 && k < c->ask.n_tids; k++)
			code = count_own(c, &s->slots[i], c->ask.tids[k], &n, err);
	c->ask.counts = c->counts;
	c->ask.n_counts = n;
	return code;
}

static int take_look(struct enospc_run *c, struct error *err)
{
	struct inspect_options io = {.no_bpf = c->opts->no_bpf, .probe_cpus = !c->ask.n_tids};
	struct inspect *i;
	int code = inspect_new(&i, &io, err);

	if (code < 0)
		return code;
	code = inspect_take(i, INSPECT_ALL, &c->snap, err);
	inspect_free(i);
	if (code == 0 && c->snap.head.missing & SNAP_NO_EVENTS && c->ask.n_tids)
		code = count_threads(c, err);
	if (code == 0 && enospc_judge(&c->result, &c->snap, &c->ask) < 0)
		code = error_enomem(err, "the arithmetic of slots");
	return code;
}

int enospc_run_status(const struct enospc_run *c)
{
	if (c->refusal.code)
		return ENOSPC_EXIT_NOT;
	if (!c->result.known)
		return ENOSPC_EXIT_UNKNOWN;
	return c->result.fits ? ENOSPC_EXIT_FITS : ENOSPC_EXIT_NOT;
}

static int print_answer(const struct enospc_run *c, FILE *out, struct error *err)
{
	struct output output;
	int status = enospc_run_status(c);

	if (output_open(&output, c->opts->output, out, err) < 0)
		return cmd_fail(ENOSPC_EXIT_UNKNOWN, err);
	if (c->opts->format && !strcmp(c->opts->format, "json"))
		enospc_run_put_json(output.file, c);
	else
		enospc_run_put_text(output.file, c);
	int code = output_commit(&output, err);
	if (code == -EPIPE)
		status = CMD_EXIT_SIGNAL + SIGPIPE;
	else if (code < 0)
		status = cmd_fail(ENOSPC_EXIT_UNKNOWN, err);
	output_close(&output);
	return status;
}

int doctor_enospc(const struct opts *o, FILE *out)
{
	struct enospc_run c = {.opts = o};
	struct enospc_machine machine = enospc_machine();
	struct target target = {0};
	struct error err = {0};
	int status, code = parse_breakpoint(&c, &err);

	code = code < 0 ? code : parse_targets(&c, &target, &err);
	if (code < 0) {
		status = cmd_fail(CMD_EXIT_USAGE, &err);
	} else {
		enospc_check(&c.ask, &machine, &c.refusal);
		code = take_look(&c, &err);
		status = code < 0 ? cmd_fail(ENOSPC_EXIT_UNKNOWN, &err)
				  : print_answer(&c, out, &err);
	}
	enospc_deinit(&c.result);
	perfsnap_deinit(&c.snap);
	mem_free(c.counts);
	target_deinit(&target);
	return status;
}
