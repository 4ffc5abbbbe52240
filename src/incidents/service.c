// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service side of a recorder, whose loop calls this; util/notify.c sends the messages to the
 * manager. A sign of life is given only when a tick of the stream has come out of the engine: a
 * loop that still turns while the collector of the rings is stuck is not alive.
 *
 * A configuration that is read again is a second set of options beside the first, which is never
 * changed: of the new ones only those that may change while it runs are taken over, by a column of
 * the table of options. Their texts are borrowed from the configuration they come from, so that is
 * kept until the next one is in use.
 */
#include "service.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

/* The manager writes each sentence down. */
static const uint64_t STATUS_NS = 2 * SECOND;
static const char default_dir[] = "/var/lib/kontend";

const char *service_dir(const struct opts *o, char *buf, size_t size)
{
	const char *made = getenv("STATE_DIRECTORY"); /* several are separated by colons */

	if (o->output)
		return o->output;
	if (!o->service)
		return ".";
	if (!made || *made != '/')
		return default_dir;
	snprintf(buf, size, "%.*s", (int)strcspn(made, ":"), made);
	return buf;
}

int service_begin(struct service *s, const struct opts *o, struct error *err)
{
	*s = (struct service){.first = o, .notify = {.fd = -1}};
	s->opts = *o;
	if (!o->service)
		return 0;
	/* Ignored signals are none that end a program (ending.h); blocked ones can be read still.
	 */
	signal(SIGHUP, SIG_IGN);
	return notify_open(&s->notify, err);
}

const struct opts *service_opts(const struct service *s)
{
	return &s->opts;
}

void service_ready(struct service *s)
{
	if (s->first->service && notify_ready(&s->notify) < 0)
		cmd_say_as(s->first, JOURNAL_WARNING,
			   "cannot notify the service manager that measuring has begun");
}

void service_round(struct service *s, const char *status)
{
	uint64_t now = clock_now_ns();

	if (!s->first->service)
		return;
	notify_alive(&s->notify, now);
	if (now - s->said_ns < STATUS_NS || strcmp(status, s->said) == 0 ||
	    notify_status(&s->notify, status) < 0)
		return;
	s->said_ns = now;
	snprintf(s->said, sizeof(s->said), "%s", status);
}

static int count(char **argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static int read_again(struct service_config *c, const struct opts *first,
		      int (*check)(const struct opts *o, struct error *err), struct error *err)
{
	int r = opts_parse(&c->opts, count(first->argv), first->argv, err);

	c->opts.config_again = true;
	r = r ? r : options_config_read(&c->opts, &c->file, err);
	r = r ? r : opts_check(&c->opts, err);
	return r ? r : check(&c->opts, err);
}

static void take_over(struct service *s, struct service_config *c)
{
	char rest[200];

	opts_reload(&s->opts, &c->opts, rest, sizeof(rest));
	s->before = s->config;
	s->config = c;
	cmd_say(s->first, "the configuration %s has been read again",
		c->opts.config_path ? c->opts.config_path : "(none)");
	if (*rest)
		cmd_say_as(s->first, JOURNAL_WARNING, "changes of %s take effect after a restart",
			   rest);
}

int service_reload(struct service *s, int (*check)(const struct opts *o, struct error *err))
{
	struct service_config *c = mem_calloc(1, sizeof(*c));
	struct error err = {0};
	int r;

	notify_reloading(&s->notify, clock_now_ns());
	r = c ? read_again(c, s->first, check, &err) : error_enomem(&err, "the configuration");
	if (r == 0) {
		take_over(s, c);
		return 0;
	}
	mem_free(c);
	cmd_say_as(s->first, JOURNAL_ERROR, "%s: all stays as it was", err.text);
	notify_ready(&s->notify);
	return r;
}

void service_reloaded(struct service *s)
{
	mem_free(s->before);
	s->before = NULL;
	notify_ready(&s->notify);
}

void service_stopping(struct service *s)
{
	notify_stopping(&s->notify);
}

void service_end(struct service *s)
{
	notify_close(&s->notify);
	mem_free(s->before);
	mem_free(s->config);
}
