/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_JOURNAL_H
#define KONTEND_JOURNAL_H

#include <stdbool.h>

/* How much a line of the journal weighs, as syslog(3) has it. */
enum journal_level { JOURNAL_ERROR = 3, JOURNAL_WARNING, JOURNAL_NOTICE, JOURNAL_INFO };

/*
 * Does @fd lead to the journal, as JOURNAL_STREAM of the environment says? Lines there may begin
 * with their level, as in "<3>".
 */
bool journal_has(int fd);

#endif
