// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the source of waits. Verbs that show waits get them from BPF; a recording has perf's own
 * events, which perf can read. Without BPF all waits come from perf and cost more; the header names
 * the method.
 *
 * Owners at the begin of waits are recorded for --owner, or to show them. If this kernel or user
 * cannot have them, a verb whose options ask for them fails, rather than show a table without
 * owners.
 *
 * Holders are followed where that is available, in recordings too, unless an option says otherwise.
 */
#include "kontend/ending.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/opts.h"
#include "kontend/pidns.h"
#include "kontend/query.h"
#include "kontend/waitrec.h"
#include "run-parts.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static const uint64_t FOLLOW_NS = 1000000; /* by default */

static bool wants_owners(const struct opts *o)
{
	return o->owner || (o->by && strcmp(o->by, query_by_name(BY_OWNER)) == 0);
}

static bool is_shown(const struct opts *o)
{
	return o->verb == VERB_LIVE || o->verb == VERB_REPORT || o->verb == VERB_EXPORT;
}

/* Options that perf's events cannot fulfil: a recording with them has BPF events. */
static bool wants_sums(const struct waitfeed_options *w)
{
	return w->short_ns || w->cost_ppm;
}

/* Fails if the options ask for sums explicitly; a report of long waits can do without. */
static int check_sums(const struct opts *o, const struct waitfeed_options *w, const char *why,
		      struct error *err)
{
	const char *name = w->cost_ppm ? "--max-overhead" : "--min-wait";

	if (!wants_sums(w) || (!w->cost_ppm && (o->verb == VERB_REPORT || o->verb == VERB_EXPORT)))
		return 0;
	/* By default it is held where it can be. */
	if (!w->short_ns && !o->max_overhead)
		return 0;
	return error_set(err, -ENOTSUP, "Cannot sum up waits in the kernel (%s) without BPF: %s",
			 name, o->no_bpf ? "it is switched off (--no-bpf)" : why);
}

void run_waits_refused(struct error *refused, bool inner, const struct error *why)
{
	if (why->code && why->code != -ENOTSUP)
		error_set(refused, why->code,
			  "BPF does not report waits%s, so most holders are not known: %s",
			  inner ? " in this PID namespace" : "", why->text);
}

/* It is the cheaper way, and not the only one: no failure ends the session. */
static int waits_and_owners(struct waitfeed **ret, const struct opts *o, struct waitfeed_options *w,
			    struct kerntypes *types, struct error *ret_why, struct error *err)
{
	struct error why = {.text = "not for such a target, or so long call chains"};

	w->max_stack = live_max_stack(o->no_stack, (uint32_t)o->max_stack);
	if (wants_sums(w) && w->max_stack > WAITREC_FRAMES && !o->max_stack)
		w->max_stack = WAITREC_FRAMES;
	w->waits = !o->no_bpf && (is_shown(o) || wants_sums(w)) && waitfeed_covers(w);
	if (w->waits && waitfeed_new(ret, w, types, &why) < 0)
		*ret = NULL;
	w->waits = false;
	*ret_why = why;
	return *ret ? 0 : check_sums(o, w, why.text, err);
}

/* Perf reports waits, but not the names of tasks outside of our PID namespace. */
static int only_names(struct waitfeed **ret, struct waitfeed_options *w, struct kerntypes *types)
{
	struct error why = {0};

	if (w->ns && waitfeed_new(ret, w, types, &why) < 0)
		*ret = NULL;
	return 0;
}

/* Not the programs alone that report sleeps for locks of programs. */
static void say_users_refused(struct error *refused, const struct waitfeed *f)
{
	struct error why = {0};

	if (f && waitfeed_can_sleep(f, &why) < 0 && why.code != -ENOTSUP)
		error_set(
			refused, why.code,
			"BPF reports no waits for locks of programs, so only those that snapshots "
			"see are known: %s",
			why.text);
}

/* @no_waits, @no_follow: of a failure to load the programs that do that; code 0: they were not
 * tried. */
static void say_refused(struct error *refused, struct waitfeed *f, const struct error *no_waits,
			const struct error *no_follow)
{
	const struct feed *feed = waitfeed_feed(f);
	struct error why = *no_follow;

	if (!why.code && waitfeed_can_follow(f, &why) == 0) {
		if (no_waits->code)
			error_set(
				refused, no_waits->code,
				"BPF does not report waits, so perf's events do, at a higher cost: "
				"%s",
				no_waits->text);
		else
			say_users_refused(refused, f);
		return;
	}
	run_waits_refused(refused, false, no_waits);
	if (f || why.code != -ENOTSUP)
		error_set(refused, why.code, "BPF does not follow holders, so %s are not known: %s",
			  feed && feed->waits ? "their states while others wait" : "most",
			  why.text);
}

/* Fails if the options ask for it explicitly. */
static int check_follow(const struct waitfeed *f, const struct opts *o, struct error *err)
{
	struct error why = {0};

	if (!o->follow_ns || waitfeed_can_follow(f, &why) == 0)
		return 0;
	return error_set(err, -ENOTSUP, "Cannot follow holders of locks (--follow): %s",
			 o->no_bpf ? "BPF is switched off (--no-bpf)" : why.text);
}

/* There is no other way. @why: of a failure; its text may be "". */
static int check_why(const struct waitfeed *f, const struct opts *o, const struct error *why,
		     struct error *err)
{
	if (!o->why || f)
		return 0;
	return error_set(err, -ENOTSUP, "Cannot follow what tasks do (--why)%s%s",
			 o->no_bpf    ? ": BPF is switched off (--no-bpf)"
			 : *why->text ? ": "
				      : "",
			 o->no_bpf ? "" : why->text);
}

static uint64_t follow_ns(const struct opts *o, const struct waitfeed_options *w)
{
	if (o->no_follow || o->no_bpf || (!w->ns && pidns_is_inner()))
		return 0;
	return o->follow_ns ? o->follow_ns : FOLLOW_NS;
}

/* Perf reports waits. */
static int without_waits(struct waitfeed **ret, const struct opts *o, struct waitfeed_options *w,
			 struct kerntypes *types, struct error *ret_why, struct error *err)
{
	struct error why = {0};

	if (!w->owners && !w->follow_ns && !((w->sleeps || w->user_ns || w->why) && !o->no_bpf))
		return only_names(ret, w, types);
	if (w->owners && o->no_bpf)
		return error_set(
			err, -ENOTSUP,
			"Cannot record owners of locks (%s): BPF is switched off (--no-bpf)",
			o->owner ? "--owner" : "--by owner");
	int code = waitfeed_new(ret, w, types, &why);
	if (code < 0)
		*ret = NULL;
	if (code < 0 && w->owners)
		return error_set(err, code, "Cannot record owners of locks (%s): %s",
				 o->owner ? "--owner" : "--by owner", why.text);
	*ret_why = why;
	return 0;
}

/*
 * Below what the kernel sums up waits. A report of who had the locks needs all of them one by one,
 * and leaves the short ones out itself.
 */
static uint64_t sums_below(const struct opts *o, const struct waitfeed_options *w)
{
	bool is_written = o->verb == VERB_REPORT || o->verb == VERB_EXPORT;

	return o->verb == VERB_SCRIPT || (is_written && (w->owners || w->holders)) ? 0
										   : o->min_wait_ns;
}

int run_waits_new(struct waitfeed **ret, const struct opts *o, struct waitfeed_options w,
		  struct kerntypes *types, struct error *refused, struct error *err)
{
	struct error no_waits = {0}, no_follow = {0};

	*ret = NULL;
	w.owners = wants_owners(o);
	w.follow_ns = follow_ns(o, &w);
	w.short_ns = sums_below(o, &w);
	int code = opts_overhead(o, &w.cost_ppm, err);

	code = code < 0 ? code : waits_and_owners(ret, o, &w, types, &no_waits, err);
	w.short_ns = w.cost_ppm = 0;
	code = code < 0 || *ret ? code : without_waits(ret, o, &w, types, &no_follow, err);
	code = code < 0 ? code : check_why(*ret, o, no_follow.code ? &no_follow : &no_waits, err);
	if (code == 0 && w.follow_ns)
		say_refused(refused, *ret, &no_waits, &no_follow);
	else if (code == 0)
		run_waits_refused(refused, false, &no_waits);
	return code < 0 ? code : check_follow(*ret, o, err);
}

struct run_attach {
	struct waitfeed *waits;
	pid_t command;
	pthread_t thread;
	bool started;
	struct error err; /* code 0: they are attached */
};

static void *attach_all(void *arg)
{
	struct run_attach *a = arg;

	waitfeed_start(a->waits, a->command, &a->err);
	return NULL;
}

int run_attach_new(struct run_attach **ret, struct waitfeed *w, pid_t command, struct error *err)
{
	struct run_attach *a = mem_calloc(1, sizeof(*a));

	if (!a)
		return error_enomem(err, "the programs of waits");
	a->waits = w;
	a->command = command;
	a->started = ending_thread(&a->thread, attach_all, a) == 0;
	if (!a->started)
		attach_all(a);
	*ret = a;
	return 0;
}

int run_attach_end(struct run_attach *a, struct error *err)
{
	if (!a)
		return 0;
	if (a->started)
		pthread_join(a->thread, NULL);
	int code = a->err.code;
	if (code && err)
		*err = a->err;
	mem_free(a);
	return code;
}
