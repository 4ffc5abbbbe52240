/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PIDNS_H
#define KONTEND_PIDNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * PID namespaces by their inode numbers, as in /proc/PID/ns/pid. A recording from another namespace
 * than the initial one has that after the method: "perf ring in PID ns 4026532201".
 */
#define PIDNS_INITIAL 0xeffffffcu /* include/linux/proc_ns.h: PROC_PID_INIT_INO */

uint32_t pidns_own_mounts(void); /* mount namespace of this process; 0: not known */
uint32_t pidns_own(void);	 /* of this process; the initial one if not known */
bool pidns_is_inner(void);	 /* not in the initial one */
/* True in another user namespace than the initial one, where the kernel ignores capabilities. */
bool pidns_has_users(void);
/*
 * Text about missing processes, to append to a reason why there is no BPF in an inner namespace;
 * else "".
 */
const char *pidns_unseen(void);

/* Writes "METHOD", followed by the namespace if that is not the initial one. */
void pidns_say(char *ret, size_t size, const char *method);
/*
 * True if the PIDs of a stream with this method are those of /proc here. Recordings of perf lack
 * that.
 */
bool pidns_is_ours(const char *method);
uint32_t pidns_said(const char *method); /* as written by pidns_say(); PIDNS_INITIAL: none */

#endif
