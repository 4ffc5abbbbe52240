// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses in words: how much was lost, and how that affects the figures.
 */
#include "format.h"
#include "kontend/units.h"

void report_text_lost(const struct model_damage *d, const struct query_loss *loss, FILE *out)
{
	char buf[UNITS_BUF];

	fprintf(out, "lost %s", units_count(buf, d->lost + d->dropped));
	if (loss->lost_pct > 0)
		fprintf(out, " (%s%%)", units_pct(buf, loss->lost_pct));
}

void report_text_at_least(const struct query_loss *loss, const char *front, FILE *out)
{
	char n[UNITS_BUF], pct[UNITS_BUF];

	if (!loss->at_least)
		return;
	fprintf(out, "%sfigures are lower bounds: ", front);
	if (loss->counted)
		fprintf(out, "up to %s waits (%s%%) are missing\n",
			units_count(n, loss->missing_most), units_pct(pct, loss->missing_pct));
	else
		fputs("it is not known how many waits are missing\n", out);
}
