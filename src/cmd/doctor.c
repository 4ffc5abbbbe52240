// SPDX-License-Identifier: GPL-2.0-only
/* `kontend doctor`: the answers of doctor_run() as text or JSON. Exit 1 when the main job cannot
 * run. */
#include "kontend/doctor.h"
#include "kontend/jsonw.h"
#include "kontend/mux.h"
#include "kontend/output.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void put_item(FILE *out, const struct doctor_item *i)
{
	fprintf(out, "  %-12s %-8s %s\n", i->name, doctor_status_name(i->status), i->help);
	if (i->status != DOCTOR_WORKS && *i->found)
		fprintf(out, "  %-12s why: %s\n", "", i->found);
	if (*i->fix)
		fprintf(out, "  %-12s fix: %s\n", "", i->fix);
}

static void put_view(FILE *out, const struct doctor_item *v)
{
	fprintf(out, "  %-12s %-8s %s", v->name, doctor_status_name(v->status), v->help);
	if (v->cause && v->status != DOCTOR_ABSENT)
		fprintf(out, "; see %s", v->cause);
	else if (*v->found)
		fprintf(out, "; %s", v->found);
	fputc('\n', out);
}

/* The view whose failing means that nothing can be measured. */
static const struct doctor_item *main_view(const struct doctor *d)
{
	for (size_t i = 0; i < d->n_views; i++)
		if (d->views[i].status == DOCTOR_FAILS && d->views[i].cause)
			return &d->views[i];
	return NULL;
}

/* The check that has it fail; NULL: kontend works, or nothing says why. */
static const struct doctor_item *main_cause(const struct doctor *d)
{
	const struct doctor_item *v = d->works ? NULL : main_view(d);

	return v ? doctor_check(d, v->cause) : NULL;
}

/* Prints the fix first, before all that was tried: users look for it. */
static void put_remedy(FILE *out, const struct doctor *d)
{
	const struct doctor_item *c = main_cause(d);

	if (!c)
		return;
	fprintf(out, "kontend cannot measure here: %s\n", *c->found ? c->found : c->help);
	if (*c->fix)
		fprintf(out, "fix: %s\n", c->fix);
	fputc('\n', out);
}

static bool same_failure(const struct doctor_item *a, const struct doctor_item *b)
{
	return b && a->status == DOCTOR_FAILS && a->cause && !strcmp(a->cause, b->cause);
}

/* Views that fail for one reason are one line, unless each is asked for. */
static void put_views(FILE *out, const struct opts *o, const struct doctor *d)
{
	const struct doctor_item *v = d->works || o->verbose ? NULL : main_view(d);
	size_t n = 0;

	for (size_t i = 0; i < d->n_views; i++)
		n += same_failure(&d->views[i], v);
	for (size_t i = 0; i < d->n_views; i++) {
		if (!same_failure(&d->views[i], v))
			put_view(out, &d->views[i]);
		else if (&d->views[i] == v)
			fprintf(out, "  %-12s %-8s %s and %zu other views; see %s\n", v->name,
				doctor_status_name(v->status), v->help, n - 1, v->cause);
	}
}

/* Those that this kernel does not have are for -v. */
static void put_gaps(FILE *out, const struct opts *o, const struct doctor *d)
{
	fprintf(out, "\nwaits that this kernel does not report, and what kontend shows of them\n");
	for (size_t i = 0; i < d->n_gaps; i++) {
		const struct doctor_gap *g = &d->gaps[i];

		if (!g->here && !o->verbose)
			continue;
		fprintf(out, "  %-13s %-8s %s\n", g->name, doctor_gap_state(g), g->waits);
		if (g->here)
			fprintf(out, "  %-13s shown: %s\n", "", g->instead);
		if (g->here < 0 || o->verbose)
			fprintf(out, "  %-13s found: %s\n", "", g->found);
	}
}

static void put_config(FILE *out, const struct opts *o)
{
	if (!o->config_path)
		fputs("configuration: none\n", out);
	else
		fprintf(out, "configuration: %s%s\n", o->config_path,
			o->config_absent ? " (there is none)" : "");
}

static void put_text(FILE *out, const struct opts *o, const struct doctor *d)
{
	bool all_well = true;
	char memory[200];

	fprintf(out, "kontend %s on Linux %s %s, %u CPUs, user %s (%u)\n\n", KONTEND_VERSION,
		d->kernel, d->machine, d->cpus, d->user, d->uid);
	put_remedy(out, d);
	fprintf(out, "views\n");
	put_views(out, o, d);
	fprintf(out, "\nchecks\n");
	for (size_t i = 0; i < d->n_checks; i++) {
		const struct doctor_item *c = &d->checks[i];

		put_item(out, c);
		if (o->verbose && c->status == DOCTOR_WORKS && *c->found)
			fprintf(out, "  %-12s found: %s\n", "", c->found);
		all_well = all_well && (c->status == DOCTOR_WORKS || c->status == DOCTOR_ABSENT);
	}
	put_gaps(out, o, d);
	fprintf(out, "\nkernel memory while it measures: %s\n",
		doctor_memory_text(&d->memory, memory, sizeof(memory)));
	put_config(out, o);
	if (d->works)
		fprintf(out, "kontend works here%s.\n", all_well ? "" : ", with limits");
}

static void put_text_or_null(struct jsonw *j, const char *key, const char *value)
{
	jsonw_str(j, key, value && *value ? value : NULL);
}

static void put_items(struct jsonw *j, const char *key, const struct doctor_item *items, size_t n)
{
	jsonw_begin(j, key, '[', false);
	for (size_t i = 0; i < n; i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "name", items[i].name);
		jsonw_str(j, "status", doctor_status_name(items[i].status));
		jsonw_str(j, "help", items[i].help);
		put_text_or_null(j, "cause", items[i].cause);
		put_text_or_null(j, "found", items[i].found);
		put_text_or_null(j, "fix", items[i].fix);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_gaps_json(struct jsonw *j, const struct doctor *d)
{
	jsonw_begin(j, "gaps", '[', false);
	for (size_t i = 0; i < d->n_gaps; i++) {
		const struct doctor_gap *g = &d->gaps[i];

		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "name", g->name);
		jsonw_str(j, "state", doctor_gap_state(g));
		jsonw_str(j, "waits", g->waits);
		jsonw_str(j, "instead", g->instead);
		jsonw_str(j, "found", g->found);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_json(FILE *out, const struct opts *o, const struct doctor *d)
{
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.doctor/1");
	jsonw_str(&j, "version", KONTEND_VERSION);
	put_text_or_null(&j, "kernel", d->kernel);
	put_text_or_null(&j, "machine", d->machine);
	put_text_or_null(&j, "user", d->user);
	put_text_or_null(&j, "config", o->config_absent ? NULL : o->config_path);
	jsonw_u64(&j, "uid", d->uid);
	jsonw_u64(&j, "cpus", d->cpus);
	jsonw_bool(&j, "works", d->works);
	put_items(&j, "views", d->views, d->n_views);
	put_items(&j, "checks", d->checks, d->n_checks);
	put_gaps_json(&j, d);
	jsonw_begin(&j, "memory", '{', true);
	jsonw_u64(&j, "perf_rings_bytes", d->memory.perf_rings);
	jsonw_u64(&j, "bpf_rings_bytes", d->memory.bpf_rings);
	jsonw_u64(&j, "bpf_maps_bytes", d->memory.bpf_maps);
	jsonw_end(&j, '}');
	jsonw_end(&j, '}');
}

/* `doctor --repair`: a line for each setting that is back. */
static int repair(const struct opts *o)
{
	struct mux_left left[MUX_MOST];
	size_t n = mux_find_left(&mux_system, left, MUX_MOST);
	struct error err = {0};
	int status = CMD_EXIT_OK;

	for (size_t i = 0; i < n; i++, err = (struct error){0}) {
		if (mux_repair(&mux_system, &left[i], &err) < 0)
			status = cmd_fail(CMD_EXIT_FAILURE, &err);
		else
			printf("%s rotates every %u ms again, and not %u\n", left[i].pmu,
			       left[i].before_ms, left[i].now_ms);
	}
	if (!n)
		cmd_say(o, "there is nothing to repair");
	return cmd_flush(status);
}

/* The exit status; the reason is on standard error, wherever the findings go. */
static int conclude(const struct doctor *d)
{
	const struct doctor_item *c = main_cause(d);
	struct error err = {0};

	if (d->works)
		return CMD_EXIT_OK;
	error_set(&err, -ENODEV, "cannot measure here: %s%s%s; then run the doctor again",
		  !c	      ? "a check fails, which the findings name"
		  : *c->found ? c->found
			      : c->help,
		  c && *c->fix ? "; fix: " : "", c ? c->fix : "");
	return cmd_fail(CMD_EXIT_FAILURE, &err);
}

int cmd_doctor(const struct opts *o)
{
	struct output output;
	struct doctor d;
	struct error err = {0};
	int status;

	if (o->enospc)
		return doctor_enospc(o, stdout);
	if (o->repair)
		return repair(o);
	if (output_open(&output, o->output, stdout, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	doctor_run(&d);
	if (o->format && !strcmp(o->format, "json"))
		put_json(output.file, o, &d);
	else
		put_text(output.file, o, &d);
	int r = output_commit(&output, &err);
	if (r == -EPIPE)
		status = CMD_EXIT_SIGNAL + SIGPIPE;
	else
		status = r < 0 ? cmd_fail(CMD_EXIT_FAILURE, &err) : conclude(&d);
	output_close(&output);
	return status;
}
