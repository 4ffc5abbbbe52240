/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PIDNS_H
#define KONTEND_PIDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PID namespaces by their inode numbers, as /proc/PID/ns/pid has them. A recording that was made in
 * another one than the initial says so behind the method: "perf ring in PID ns 4026532201".
 */
#define PIDNS_INITIAL 0xeffffffcu /* include/linux/proc_ns.h: PROC_PID_INIT_INO */

uint32_t pidns_own_mounts(void); /* the mount namespace of this process; 0: /proc does not say */
uint32_t pidns_own(void);  /* of this process; that of the initial one where /proc does not say */
bool pidns_is_inner(void); /* is it not the initial one? */
/* Is the user namespace another one than the initial, where capabilities are none for the kernel?
 */
bool pidns_has_users(void);
/* What is missing where there is no BPF in an inner one, to be put behind a reason; else "". */
const char *pidns_unseen(void);

/* "METHOD", and where it is not the initial one, in which. */
void pidns_say(char *ret, size_t size, const char *method);
/* Are the numbers of a stream with this method those that /proc has here? Of perf's nobody says. */
bool pidns_is_ours(const char *method);
uint32_t pidns_said(const char *method); /* as pidns_say() wrote it; PIDNS_INITIAL: none */

#endif
