// SPDX-License-Identifier: GPL-2.0-only
/* Built without libcurl: nothing is sent. */
#include "kontend/send.h"

#include <errno.h>
#include <strings.h>

bool send_is_address(const char *to)
{
	return to && (strncasecmp(to, "http://", 7) == 0 || strncasecmp(to, "https://", 8) == 0);
}

int send_check(struct error *err)
{
	return error_set(
		err, -ENOTSUP,
		"kontend was built without libcurl, which sending needs: write a file, and "
		"send that by curl(1)");
}

int send_profile(int fd, const char *to, struct error *err)
{
	(void)fd;
	(void)to;
	return send_check(err);
}
