/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PAPER_H
#define KONTEND_PAPER_H

#include "kontend/display.h"

/*
 * A display without a terminal and without keys: its cells are read from the app. 0 or
 * -ENOMEM; as any other one it ends by display->ops->free().
 */
int paper_new(struct display **ret, int w, int h, bool ascii);

#endif
