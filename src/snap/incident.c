// SPDX-License-Identifier: GPL-2.0-only
/* Incidents may come from files: nothing in them is trusted. Later versions may be longer. */
#include "kontend/incident.h"

#include <string.h>

static void clean(char *text, size_t size)
{
	text[size - 1] = 0;
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

bool incident_decode(const void *data, size_t len, struct incident *ret)
{
	if (len < sizeof(*ret))
		return false;
	memcpy(ret, data, sizeof(*ret));
	clean(ret->expr, sizeof(ret->expr));
	clean(ret->fired, sizeof(ret->fired));
	clean(ret->lock_name, sizeof(ret->lock_name));
	clean(ret->task, sizeof(ret->task));
	clean(ret->because, sizeof(ret->because));
	return ret->fired_ns && ret->begin_ns <= ret->fired_ns && ret->from_ns <= ret->to_ns &&
	       (!ret->end_ns || ret->end_ns >= ret->begin_ns);
}
