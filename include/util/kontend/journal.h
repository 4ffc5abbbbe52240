/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_JOURNAL_H
#define KONTEND_JOURNAL_H

#include <stdbool.h>

/* Priority of a line in the journal, as in syslog(3). */
enum journal_level { JOURNAL_ERROR = 3, JOURNAL_WARNING, JOURNAL_NOTICE, JOURNAL_INFO };

/*
 * True if @fd leads to the journal, according to JOURNAL_STREAM. Lines there may begin with their
 * priority, as in "<3>".
 */
bool journal_has(int fd);

#endif
