/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_MACHINE_H
#define KONTEND_RECORD_MACHINE_H

#include <stddef.h>

enum { RECORD_MACHINE_VERSION = 1 };

/*
 * The payload of SNAPSHOT_MACHINE, once per recording: it identifies the machine and its boot, and
 * how the measurement was made. Texts end in a NUL; "": not known. Recordings of 1.0.0 end after
 * `kontend`; later members come last, and readers take those that they find.
 */
struct record_machine {
	char host[65];	   /* uname -n */
	char id[33];	   /* see machineid.h: not that of /etc/machine-id */
	char boot[40];	   /* the kernel's boot id */
	char kontend[38];  /* version that recorded */
	char refused[400]; /* see run_waits_new() */
};

enum { RECORD_MACHINE_LEAST = offsetof(struct record_machine, refused) };

#endif
