/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MACHINEID_H
#define KONTEND_MACHINEID_H

enum { MACHINEID = 33 };

/*
 * kontend's id of this machine: 32 hex digits derived from /etc/machine-id, which itself must not
 * leave the machine (machine-id(5)) and cannot be computed from it. "" if there is none. The same
 * as `systemd-id128 machine-id --app-specific=MACHINEID_APP`. 0 or a negative errno.
 */
#define MACHINEID_APP "bd5a8a4e3b0d4c5c9a0a7d1f2c6e4b90"
int machineid(char ret[MACHINEID]);
/* The same from the text of such a file; -EINVAL: invalid text. */
int machineid_of(const char *text, char ret[MACHINEID]);

#endif
