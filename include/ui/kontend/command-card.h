/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_COMMAND_CARD_H
#define KONTEND_COMMAND_CARD_H

#include "kontend/command.h"

enum { COMMAND_CARD_LINE = 81 };

/* The card of keys, line by line from 0 on, in up to 80 columns of ASCII; false: there are no more.
 */
bool command_card_line(unsigned line, char ret[COMMAND_CARD_LINE]);

#endif
