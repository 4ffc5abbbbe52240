/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SETTINGS_H
#define KONTEND_SETTINGS_H

#include "kontend/config.h"
#include "kontend/opts.h"

/*
 * Options that a configuration sets: in [options] for every verb that has them, in the section of a
 * verb for that one, which goes before. What the command line says goes before both.
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

/* The verb whose section is called so, VERBS for "options"; -EINVAL: there is none. */
int settings_section(const char *name);

/*
 * Adds a setting of such a section, if its value is one for each verb that it is for: -EINVAL with
 * @err if not, or if nothing is called so, or it has been set there before and is no list.
 */
int settings_add(struct settings *s, const struct config_line *l, struct error *err);

/*
 * Sets in @o, whose command line has been read, what that leaves open; what makes no sense together
 * with the command line gives way to it. Texts are borrowed from @s.
 */
void settings_apply(const struct settings *s, struct opts *o);

/* A line a setting: NAME, ARG, and a field for each verb, separated by tabs. */
void settings_dump(FILE *out);

#endif
