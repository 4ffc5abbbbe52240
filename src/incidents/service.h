/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_SERVICE_H
#define KONTEND_INCIDENTS_SERVICE_H

#include "kontend/notify.h"
#include "kontend/opts.h"
#include "options/config.h"

/*
 * The service side of a recorder: it reports its state to the service manager, gives signs of life,
 * and reads its configuration again. Without --service all of it does nothing.
 */
struct service {
	const struct opts *first; /* as it was started; never changed */
	struct service_config {
		struct opts opts;
		struct options_config file;
	} * config, *before; /* read again, and the one that it replaces; NULL: none */
	struct opts opts;
	struct notify notify;
	uint64_t said_ns;
	char said[256];
};

/* Where files of incidents go: --output, or what the manager has made for them. */
const char *service_dir(const struct opts *o, char *buf, size_t size);

/* Before signals are blocked: SIGHUP does not end it any more. 0 or negative. */
int service_begin(struct service *s, const struct opts *o, struct error *err);
/* Options as they are now: what a configuration that was read again has changed, too. */
const struct opts *service_opts(const struct service *s);
/* Measuring has begun. */
void service_ready(struct service *s);
/* At a tick of the stream: all goes well. @status is a sentence, sent when it has changed. */
void service_round(struct service *s, const char *status);
/*
 * Reads the configuration again and reports that. @check may refuse it. A refused one changes
 * nothing: negative. Texts of the options before are valid until service_reloaded().
 */
int service_reload(struct service *s, int (*check)(const struct opts *o, struct error *err));
/* Nothing of the options before is in use any more. */
void service_reloaded(struct service *s);
void service_stopping(struct service *s);
void service_end(struct service *s); /* `= {.notify = {.fd = -1}}` is fine */

#endif
