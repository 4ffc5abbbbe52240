/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PAPER_H
#define KONTEND_PAPER_H

#include "kontend/display.h"

/*
 * A display that nobody looks at and that has no keys: what is drawn is taken from the app. 0 or
 * -ENOMEM; as any other one it ends by display->ops->free().
 */
int paper_new(struct display **ret, int w, int h, bool ascii);

#endif
