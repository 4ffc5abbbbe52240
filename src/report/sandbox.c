// SPDX-License-Identifier: GPL-2.0-only
/* With what rights a recording was read: whoever passes results on should be able to tell. */
#include "sandbox.h"

void report_sandbox_text(const struct engine *e, FILE *out)
{
	char buf[200];
	const char *note = sandbox_note(e->sandbox, buf, sizeof(buf));

	if (note)
		fprintf(out, "# %s\n", note);
}

void report_sandbox_json(const struct engine *e, struct jsonw *j)
{
	const char *name = sandbox_name(e->sandbox);

	if (name)
		jsonw_str(j, "sandbox", name);
	if (name && *e->sandbox->why)
		jsonw_str(j, "sandbox_lacks", e->sandbox->why);
}
