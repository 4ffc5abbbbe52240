/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_SAMPLE_H
#define KONTEND_CMD_SAMPLE_H

#include "kontend/error.h"

enum { SAMPLE_PATH = 4096 };

/* A name by which the sample recording can be read while this process lives. */
int sample_path(char ret[SAMPLE_PATH], struct error *err);

#endif
