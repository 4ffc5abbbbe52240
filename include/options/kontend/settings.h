/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SETTINGS_H
#define KONTEND_SETTINGS_H

#include "kontend/config.h"
#include "kontend/error.h"
#include "kontend/opts.h"

/*
 * Options set by a configuration: in [options] for every verb that has them, in the section of a
 * verb for that verb, which takes precedence. The command line takes precedence over both.
 */
enum { SETTINGS_MOST = 256, SETTING_VALUE = 160 };

struct settings {
	struct setting {
		enum opts_verb section; /* VERBS: [options] */
		const char *name;	/* of the option */
		char value[SETTING_VALUE];
	} list[SETTINGS_MOST];
	unsigned n;
};

/* The verb of this section, VERBS for "options"; -EINVAL: none. */
int settings_section(const char *name);

/*
 * Adds a setting of a section if its value is valid for each verb that it is for. -EINVAL with @err
 * otherwise, or if there is no such setting, or it is set already and is no list.
 */
int settings_add(struct settings *s, const struct config_line *l, struct error *err);

/*
 * Sets options in @o that its command line leaves open; settings that exclude each other with the
 * command line yield. Texts are borrowed from @s.
 */
void settings_apply(const struct settings *s, struct opts *o);

/* Prints a line per setting: NAME, ARG, and a field for each verb, separated by tabs. */
void settings_dump(FILE *out);

/*
 * Sets the columns of a table in the configuration at @path, which need not exist; @keys NULL: the
 * built-in ones. All other lines stay. 0, -EINVAL for an empty text, or another negative errno,
 * with @err.
 */
int settings_keep_columns(const char *path, const char *table, const char *keys, struct error *err);

#endif
