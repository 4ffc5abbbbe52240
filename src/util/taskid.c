// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/taskid.h"
#include "kontend/textbuf.h"

const char *taskid_text(char buf[TASKID_TEXT], int32_t id)
{
	struct textbuf b = textbuf_make(buf, TASKID_TEXT);
	bool outside = taskid_is_outside(id);

	textbuf_i64(&b, outside ? -taskid_number(id) : id);
	if (outside)
		textbuf_str(&b, "@host");
	return textbuf_end(&b);
}
