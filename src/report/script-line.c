// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line of text is built in memory and written in one piece. A text that is wider than its column
 * shifts the columns after it.
 */
#include "script-line.h"
#include "kontend/textbuf.h"

/* The width of each column. The text at the end may have any length. */
enum { TASK = 20, EVENT = 9, TYPE = 12, LOCK = 18, FLAGS = 12, WAIT = 7 };

static void put_column(struct textbuf *b, const char *s, size_t width)
{
	textbuf_left(b, s, width);
	textbuf_char(b, ' ');
}

static void put_time(struct textbuf *b, const struct event *ev)
{
	textbuf_seconds(b, ev->time, 6);
	textbuf_str(b, " [");
	textbuf_u64_zeros(b, ev->cpu, 3);
	textbuf_str(b, "] ");
}

static void hand_over(struct textbuf *b, FILE *out)
{
	textbuf_char(b, '\n');
	fwrite_unlocked(b->from, 1, textbuf_len(b), out);
}

const char *script_line_task(char buf[SCRIPT_LINE_TASK], const char *comm, int32_t tid)
{
	struct textbuf b = textbuf_make(buf, SCRIPT_LINE_TASK);
	char number[TASKID_TEXT];

	textbuf_str(&b, comm ? comm : "-");
	textbuf_char(&b, '/');
	textbuf_str(&b, taskid_text(number, tid));
	return textbuf_end(&b);
}

void script_line_head(FILE *out)
{
	fprintf(out, "#%15s %5s %-*s %-*s %-*s %-*s %-*s %*s  %s\n", "TIME", "CPU", TASK, "TASK",
		EVENT, "EVENT", TYPE, "TYPE", LOCK, "LOCK", FLAGS, "FLAGS", WAIT, "WAIT", "CALLER");
}

void script_line_put(const struct event *ev, const struct script_line *l, FILE *out)
{
	char line[EVENT_NAMES_LINE], task[SCRIPT_LINE_TASK];
	struct textbuf b = textbuf_make(line, sizeof(line));

	put_time(&b, ev);
	put_column(&b, script_line_task(task, l->comm, l->tid), TASK);
	put_column(&b, l->event, EVENT);
	put_column(&b, l->type, TYPE);
	put_column(&b, l->lock, LOCK);
	put_column(&b, l->flags, FLAGS);
	textbuf_right(&b, l->wait, WAIT);
	textbuf_str(&b, "  ");
	textbuf_str(&b, l->caller);
	hand_over(&b, out);
}

void script_line_say(const struct event *ev, const char *event, const char *words, FILE *out)
{
	char line[EVENT_NAMES_LINE];
	struct textbuf b = textbuf_make(line, sizeof(line));

	put_time(&b, ev);
	put_column(&b, "-", TASK);
	put_column(&b, event, EVENT);
	textbuf_str(&b, words);
	hand_over(&b, out);
}
