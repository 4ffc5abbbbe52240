/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SRCLINES_JAIL_H
#define KONTEND_SYM_SRCLINES_JAIL_H

/*
 * Gives up, for good, whatever the process that reads debug information does not need: other
 * descriptors than standard streams and @fd, capabilities, another user than nobody where that may
 * be chosen, memory without bounds, and nearly all system calls. 0 or a negative errno, after which
 * nothing must be read.
 */
int srclines_jail(int fd);
/* Before each question: from now on the process may use so much, else the kernel ends it. */
void srclines_jail_budget(unsigned cpu_s, unsigned wall_s);

/*
 * For a process that needs the network and files of its user: other descriptors than standard
 * streams and @fd are closed, capabilities dropped; it ends with who began it.
 */
int srclines_jail_rights(int fd);
/* Where the kernel can see to it: nothing is run, and nothing written to but below folder @path. */
int srclines_jail_writes(const char *path);

#endif
