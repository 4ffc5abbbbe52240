// SPDX-License-Identifier: GPL-2.0-only
/* For builds without libmicrohttpd: no server. */
#include "kontend/mem.h"
#include "server.h"

#include <errno.h>

int metrics_server_new(struct metrics_server **ret, struct metrics_address *a, struct error *err)
{
	(void)ret;
	(void)a;
	return error_set(err, -ENOTSUP,
			 "kontend was built without libmicrohttpd, which --metrics needs");
}

int metrics_server_start(struct metrics_server *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

unsigned metrics_server_wanted(struct metrics_server *s)
{
	(void)s;
	return 0;
}

void metrics_server_publish(struct metrics_server *s, enum metrics_format f, char *text, size_t len)
{
	(void)s;
	(void)f;
	(void)len;
	mem_free(text);
}

bool metrics_server_asked(struct metrics_server *s, unsigned *ret_slot, struct asked *ret)
{
	(void)s;
	(void)ret_slot;
	(void)ret;
	return false;
}

bool metrics_server_has_left(struct metrics_server *s, unsigned slot)
{
	(void)s;
	(void)slot;
	return true;
}

void metrics_server_answer(struct metrics_server *s, unsigned slot, unsigned status, char *data,
			   size_t len)
{
	(void)s;
	(void)slot;
	(void)status;
	(void)len;
	mem_free(data);
}

void metrics_server_free(struct metrics_server *s)
{
	(void)s;
}
