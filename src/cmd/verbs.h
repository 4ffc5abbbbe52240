/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_VERBS_H
#define KONTEND_CMD_VERBS_H

#include "kontend/cmd.h"
#include "kontend/opts.h"

/* One function a verb, each in its own file; the answer is the exit status. */
int cmd_live(const struct opts *o);
int cmd_replay(const struct opts *o);
int cmd_report(const struct opts *o);
int cmd_why(const struct opts *o);
int cmd_script(const struct opts *o);
int cmd_diff(const struct opts *o);
int cmd_merge(const struct opts *o);
int cmd_export(const struct opts *o);
int cmd_record(const struct opts *o);
int cmd_cut(const struct opts *o);
int cmd_recover(const struct opts *o);
int cmd_incidents(const struct opts *o);
int cmd_demo(const struct opts *o);
int cmd_tour(const struct opts *o);
int cmd_story(const struct opts *o);
int cmd_screenshot(const struct opts *o);
int cmd_bench(const struct opts *o);
int cmd_doctor(const struct opts *o);
int cmd_help(const struct opts *o);
int cmd_version(const struct opts *o);
int cmd_dump(const struct opts *o);

/* A picture of the recording of o->story, with callouts, by @take. */
int cmd_story_screenshot(const struct opts *o, int (*take)(const struct opts *o));

struct filter_options;
/* `kontend export --format ndjson`: the exit status. @only: which waits. */
int cmd_export_rows(const struct opts *o, const struct filter_options *only);

struct table_def;
/* The table of a view of the user interface that --sort and --filter are about; NULL: of the first
 * one. */
const struct table_def *cmd_table_of(const char *view);

/*
 * Checks --sort and --filter against @table, NULL where there is none that takes them, and writes
 * the filter in our own words into
 * @ret_filter (OPTS_FILTER bytes). -EINVAL with @err: a usage error.
 */
int cmd_check_rows(const struct opts *o, const struct table_def *table, char *ret_filter,
		   struct error *err);

#endif
