/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_NS_H
#define KONTEND_INSPECT_NS_H

#include "kontend/error.h"
#include "ns-shared.h"

struct kerntypes;

/* The PID namespace of this process, as BPF programs know it. 0 or what the kernel said. */
int ns_own(struct ns_config *ret, struct kerntypes *types, struct error *err);

#endif
