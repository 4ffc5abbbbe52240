// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the stacks of tasks that sleep, or could run and have no CPU: of the latter BPF alone has
 * the registers. A stack counts if its task has had no CPU since before it was read. Runs of an
 * interpreter's own function stand for the functions that it runs, as the data of the interpreter
 * have them: from the innermost run outwards, each for those up to the one that machine code has
 * called.
 */
#include "stacks-pass.h"
#include "../runtimes/runtimes.h"
#include "kontend/clock.h"
#include "kontend/number.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"
#include "kontend/unwind.h"
#include "users-class.h"
#include "users-pass.h"
#include "users-process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { SMALL = 128, SCRIPT_CALLS = 64, CALLS_MOST = 128 };
static const uint64_t PASS_NS = 50000000; /* then the others are left for the next one */

_Static_assert((int)UNWIND_ENDS < (int)LOCKSNAP_STACK_ENDS, "a stack says why it ends");

/* "38609 11370350 2": the third. */
uint64_t stacks_runs(const char *proc, int32_t pid, int32_t tid)
{
	char path[PATH_MAX], text[SMALL];
	const char *at = text;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "%s/%d/task/%d/schedstat", proc, pid, tid);
	if (sysinfo_read(path, text, sizeof(text)) <= 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (number_take(&at, UINT64_MAX, &n) < 0 || *at++ != ' ')
			return 0;
	return number_take(&at, UINT64_MAX, &n) == 0 ? n : 0;
}

int stacks_copy(const struct locksnap *from, const struct locksnap_stack *t, struct locksnap *to)
{
	struct locksnap_stack copy = *t;
	int code = 0;

	copy.call = (uint32_t)to->n_calls;
	for (uint32_t i = 0; code == 0 && i < t->n_calls; i++) {
		struct locksnap_call c = from->calls[t->call + i];
		c.function = locksnap_add_text(to, locksnap_text(from, c.function));
		c.file = locksnap_add_text(to, locksnap_text(from, c.file));
		code = locksnap_add_call(to, &c);
	}
	return code < 0 ? code : locksnap_add_stack(to, &copy);
}

/* Functions that an interpreter runs, and the machine code that does. */
struct script {
	struct runtime_call calls[SCRIPT_CALLS];
	size_t n, next;
	uint64_t code, code_size;
};

static int add_script(struct locksnap *to, struct script *s)
{
	bool is_entry = false;
	int code = 0;

	while (code == 0 && s->next < s->n && !is_entry) {
		const struct runtime_call *c = &s->calls[s->next++];
		char function[RUNTIME_TEXT + 1], file[RUNTIME_TEXT + 1];
		const struct locksnap_call call = {
			.function = locksnap_add_text(
				to, text_clean(function, sizeof(function), c->function)),
			.file = locksnap_add_text(to, text_clean(file, sizeof(file), c->file)),
			.line = c->line,
		};
		code = locksnap_add_call(to, &call);
		is_entry = c->is_entry;
	}
	return code;
}

static int add_calls(struct locksnap *to, const struct sleepstack_chain *c, struct script *s)
{
	size_t first = to->n_calls;
	int code = 0;

	for (size_t i = 0; code == 0 && i < c->n && to->n_calls - first < CALLS_MOST; i++) {
		const struct locksnap_call call = {.ip = c->ips[i]};
		bool runs = s->next < s->n && c->ips[i] - s->code < s->code_size;
		code = runs ? add_script(to, s) : locksnap_add_call(to, &call);
	}
	return code;
}

static int find_chain(struct stacks_pass *r, struct users_process *p,
		      const struct sleepstack_registers *regs, struct sleepstack_chain *ret)
{
	const struct users_place place = {p->proc, p->pid, users_process_read, users_process_maps,
					  p};

	*ret = (struct sleepstack_chain){.end = UNWIND_32BIT};
	return users_process_is_32bit(p) ? 0 : users_classes_chain(r->classes, &place, regs, ret);
}

/* Numbers of perf. */
#ifdef __aarch64__
enum { SP_BIT = 31, IP_BIT };
#else
enum { SP_BIT = 7, IP_BIT };
#endif

static bool register_of(const struct snapshot_registers *r, unsigned bit, uint64_t *ret)
{
	if (!(r->mask >> bit & 1))
		return false;
	*ret = r->of[__builtin_popcountll(r->mask & ((UINT64_C(1) << bit) - 1))];
	return true;
}

/* By /proc a task that could run is running, and its registers are not shown. */
static bool find_place(const struct users_process *p, const struct stacks_task *t,
		       const struct snapshot_registers *known, char line[USERS_LINE],
		       struct sleepstack_registers *regs)
{
	static const char running[] = "running";

	if (users_process_place(p, t->tid, line, &regs->sp, &regs->ip))
		return true;
	return !strncmp(line, running, strlen(running)) && t->runs &&
	       register_of(known, SP_BIT, &regs->sp) && register_of(known, IP_BIT, &regs->ip);
}

static bool is_same_place(const struct users_process *p, const struct stacks_task *t,
			  const struct snapshot_registers *known, const char *line)
{
	struct sleepstack_registers regs;
	char now[USERS_LINE] = "";

	return find_place(p, t, known, now, &regs) && !strcmp(now, line) &&
	       stacks_runs(p->proc, p->pid, t->tid) == t->runs;
}

/* Without the frames that were not there all the time. */
static void take_back(struct locksnap *to, size_t calls)
{
	to->n_calls = calls;
}

static int read_task(struct stacks_pass *r, struct users_process *p, const struct stacks_task *t)
{
	const struct runtime_process of = users_runtime_process(p);
	struct locksnap *to = &r->found;
	struct locksnap_stack stack = {
		.pid = t->pid, .tid = t->tid, .call = (uint32_t)to->n_calls, .ran_ns = t->ran_ns};
	struct sleepstack_chain chain;
	struct script s = {.n = 0};
	const struct snapshot_registers *known = &r->registers[t - r->tasks];
	struct sleepstack_registers regs = {.mask = known->mask, .of = known->of};
	char line[USERS_LINE] = "";

	if (!find_place(p, t, known, line, &regs))
		return 0;
	int code = find_chain(r, p, &regs, &chain);
	if (code < 0 || chain.pending)
		return code;
	if (chain.n)
		s.n = runtimes_calls(r->runtimes, &of, t->tid, s.calls, SCRIPT_CALLS, &s.code,
				     &s.code_size);
	code = add_calls(to, &chain, &s);
	if (code < 0 || !is_same_place(p, t, known, line)) {
		take_back(to, stack.call);
		return code;
	}
	stack.n_calls = (uint32_t)to->n_calls - stack.call;
	stack.end = chain.end;
	return locksnap_add_stack(to, &stack);
}

void stacks_read(struct left_work *work)
{
	struct stacks_pass *r = (struct stacks_pass *)work;
	struct users_process p = {.mem = -1};
	uint64_t from = clock_now_ns();

	users_classes_begin(r->classes, false);
	for (size_t i = 0; r->code == 0 && i < r->n && clock_now_ns() - from < PASS_NS; i++) {
		r->work.pid = r->tasks[i].pid;
		if (p.pid != r->tasks[i].pid) {
			users_process_close(&p);
			users_process_open(&p, r->proc, r->tasks[i].pid);
		}
		r->code = read_task(r, &p, &r->tasks[i]);
	}
	users_process_close(&p);
}
