/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_OWNER_SHARED_H
#define KONTEND_INSPECT_OWNER_SHARED_H

/* Whose waits the program of owners tells of. Included by the program, too: plain C types only. */
enum { OWNER_CPUS = 8192, OWNER_TIDS = 1024 };

struct owner_config {
	unsigned int by_cpu; /* only on the CPUs of the mask */
	unsigned int by_tid; /* only of the threads in the map `tids` */
	unsigned long long cpus[OWNER_CPUS / 64];
};

#endif
