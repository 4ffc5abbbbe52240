/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_ROTATION_INT_H
#define KONTEND_SRC_MODEL_ROTATION_INT_H

#include "kontend/rotation.h"

/* rotation-class.c: a duration to be classed when it is known which events were there. */
void rotation_sample_add(struct rotation *r, const struct rotation_sample *s);

#endif
