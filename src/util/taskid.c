// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/taskid.h"

#include <inttypes.h>
#include <stdio.h>

const char *taskid_text(char buf[TASKID_TEXT], int32_t id)
{
	bool outside = taskid_is_outside(id);

	snprintf(buf, TASKID_TEXT, "%" PRId32 "%s", outside ? -taskid_number(id) : id,
		 outside ? "@host" : "");
	return buf;
}
