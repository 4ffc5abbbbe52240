// SPDX-License-Identifier: GPL-2.0-only
/* Messages of `kontend record` while it records, and at the end. */
#include "record-say.h"
#include "kontend/units.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

struct cmd_record_say cmd_record_say_of(const struct opts *o)
{
	return (struct cmd_record_say){.o = o, .path = o->output ? o->output : "kontend.data"};
}

const char *cmd_record_say_name(const struct cmd_record_say *s)
{
	return strcmp(s->path, "-") ? s->path : "standard output";
}

void cmd_record_say_clear(struct cmd_record_say *s)
{
	if (s->line)
		fputs("\r\033[K", stderr);
	s->line = false;
}

/* Of holders and tasks, and samples: they are no events. */
static void put_others(char *buf, size_t size, uint64_t n)
{
	char count[UNITS_BUF];

	if (n)
		snprintf(buf, size, "; %s other records lost", units_count(count, n));
}

void cmd_record_say_so_far(struct cmd_record_say *s, const struct record_file *f,
			   const struct record_said *so_far, bool end)
{
	struct writer_stat st;
	char time[UNITS_BUF], bytes[UNITS_BUF], events[UNITS_BUF], lost[UNITS_BUF];
	char files[96], others[UNITS_BUF + 32] = "";

	record_file_stat(f, &st);
	units_ns(time, so_far->ns);
	units_bytes(bytes, so_far->bytes + st.bytes);
	units_count(events, so_far->tally->samples);
	units_count(lost, so_far->tally->lost + so_far->tally->dropped);
	cmd_record_say_clear(s);
	if (!end) {
		fprintf(stderr, "recording %s: %s, %s events, %s lost", time, bytes, events, lost);
		s->line = true;
		return;
	}
	record_parts_text(record_file_parts(f), files, sizeof(files));
	put_others(others, sizeof(others), so_far->tally->lost_others);
	cmd_say(s->o, "recorded %s to %s%s: %s, %s events, %s lost%s", time, cmd_record_say_name(s),
		files, bytes, events, lost, others);
	if (strcmp(s->path, "-") != 0)
		cmd_say(s->o, "look: kontend replay %s", s->path);
}
