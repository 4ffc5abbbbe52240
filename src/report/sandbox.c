// SPDX-License-Identifier: GPL-2.0-only
/* The rights with which a recording was read, for users who pass results on. */
#include "sandbox.h"

void report_sandbox_text(const struct sandbox *s, FILE *out)
{
	char buf[200];
	const char *note = sandbox_note(s, buf, sizeof(buf));

	if (note)
		fprintf(out, "# %s\n", note);
}

void report_sandbox_json(const struct sandbox *s, struct jsonw *j)
{
	const char *name = sandbox_name(s);

	if (name)
		jsonw_str(j, "sandbox", name);
	if (name && *s->why)
		jsonw_str(j, "sandbox_lacks", s->why);
}
