/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_MACHINE_H
#define KONTEND_RECORD_MACHINE_H

enum { RECORD_MACHINE_VERSION = 1 };

/*
 * The payload of SNAPSHOT_MACHINE, once a recording: by what to tell machines, and their boots,
 * apart. Texts end in a NUL; "": not known.
 */
struct record_machine {
	char host[65];	  /* uname -n */
	char id[33];	  /* see machineid.h: not that of /etc/machine-id */
	char boot[40];	  /* what the kernel calls this boot */
	char kontend[38]; /* the version that recorded it */
};

#endif
