// SPDX-License-Identifier: GPL-2.0-only
/*
 * When incidents begin and end. A trigger that fires again and again would make a file as long as
 * the storm: so an incident ends at the latest ten times the post-trigger time after it fired. The
 * rate of files is limited, too: each uses a part of an hourly allowance, which never exceeds a few
 * files.
 */
#include "incident-open.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

#include <errno.h>

enum { LONGEST = 10, AT_ONCE = 10 };

static const uint64_t NAME_NS = 2000000000, PRE_NS = 10000000000, POST_NS = 2000000000,
		      FILE_NS = 30000000000;

void incident_open_init(struct incident_open *o, uint64_t pre_ns, uint64_t post_ns)
{
	*o = (struct incident_open){.pre_ns = pre_ns ? pre_ns : PRE_NS,
				    .post_ns = post_ns ? post_ns : POST_NS};
}

void incident_open_post(struct incident_open *o, uint64_t post_ns)
{
	o->post_ns = post_ns ? post_ns : POST_NS;
}

/*
 * Each file costs 30 s of allowance; unused allowance is limited to ten files. The time starts
 * before boot: right after boot there is as much allowance as later.
 */
static bool may_begin(struct incident_open *o, uint64_t now_ns)
{
	const uint64_t least = now_ns, most = now_ns + AT_ONCE * FILE_NS;

	if (o->tokens_ns < least)
		o->tokens_ns = least;
	if (o->tokens_ns + FILE_NS > most)
		return false;
	o->tokens_ns += FILE_NS;
	return true;
}

static void begin(struct incident_open *o, const struct incident *in)
{
	o->is_open = true;
	o->is_begun = o->is_asked = false;
	o->others = 0;
	o->incident = *in;
	o->incident.from_ns = in->begin_ns > o->pre_ns ? in->begin_ns - o->pre_ns : 0;
	o->incident.to_ns = in->fired_ns + o->post_ns;
	o->most_ns = in->fired_ns + LONGEST * o->post_ns;
}

static void go_on(struct incident_open *o, uint64_t until_ns)
{
	if (until_ns > o->most_ns)
		until_ns = o->most_ns;
	if (until_ns > o->incident.to_ns)
		o->incident.to_ns = until_ns;
}

void incident_open_add(struct incident_open *o, struct source *backlog, const struct incident *in)
{
	if (o->is_open) {
		o->others++;
		go_on(o, in->fired_ns + o->post_ns);
		return;
	}
	if (!may_begin(o, in->fired_ns)) {
		o->left_out++;
		return;
	}
	begin(o, in);
	backlog_hold(backlog, o->incident.from_ns);
}

void incident_open_follow(struct incident_open *o, struct source *backlog, bool goes_on)
{
	struct backlog_stat st;

	backlog_stat(backlog, &st);
	if (goes_on || o->incident.end_ns)
		go_on(o, (goes_on ? st.stream_ns : o->incident.end_ns) + o->post_ns);
}

bool incident_open_is_whole(struct incident_open *o, struct source *backlog)
{
	struct backlog_stat st;

	backlog_stat(backlog, &st);
	/* The next snapshot may have the name of the lock, which the file is then to contain. */
	if (st.stream_ns < o->incident.to_ns + (o->is_named ? 0 : NAME_NS))
		return false;
	if (!o->has_sums || st.tick_ns == st.stream_ns)
		return true;
	if (!o->is_asked)
		source_tick_now(backlog);
	o->is_asked = true;
	return false;
}

/* Limits the range to what the backlog has. */
static void clamp(struct incident *in, const struct backlog_stat *st, uint64_t begin_ns)
{
	uint64_t from = begin_ns > st->begin_ns ? begin_ns : st->begin_ns;

	if (in->from_ns < from) {
		in->from_ns = from;
		in->flags |= INCIDENT_SHORT;
	}
	in->to_ns = st->stream_ns;
	if (in->to_ns < in->from_ns)
		in->to_ns = in->from_ns;
	if (!in->end_ns)
		in->flags |= INCIDENT_GOES_ON;
}

/* Takes everything that has come by now. */
static int take_backlog(const struct incident_open *o, struct source *backlog,
			struct incident_job **ret, struct error *err)
{
	struct incident_job *j = mem_calloc(1, sizeof(*j));
	const struct clock_pair at = clock_pair();
	uint64_t now = at.now_ns, wall = at.wall_ns;
	struct backlog_stat st;

	if (!j)
		return error_enomem(err, "an incident");
	backlog_stat(backlog, &st);
	j->incident = o->incident;
	j->incident.more += o->others;
	/* Everything has come that the incident waited for. */
	clamp(&j->incident, &st, o->start_ns);
	j->wall_ns = wall - (now - j->incident.fired_ns);
	int r = backlog_take(backlog, j->incident.from_ns, wall - (now - j->incident.from_ns),
			     &j->taken, err);
	if (r < 0) {
		incident_job_free(j);
		return r;
	}
	if (j->taken.lacks)
		error_set(&j->note, -ENOMEM,
			  "this file lacks names of functions, tasks or locks, as there was no "
			  "memory to keep them");
	*ret = j;
	return 0;
}

int incident_open_begin(struct incident_open *o, struct source *backlog, struct incident_job **ret,
			struct error *err)
{
	o->is_begun = true;
	int r = take_backlog(o, backlog, ret, err);
	if (r == 0)
		(*ret)->goes_on = true;
	return r;
}

int incident_open_take(struct incident_open *o, struct source *backlog, struct incident_job **ret,
		       struct error *err)
{
	o->is_open = false;
	int r = take_backlog(o, backlog, ret, err);
	backlog_hold(backlog, 0);
	return r;
}
