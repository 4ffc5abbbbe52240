/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PRIVS_H
#define KONTEND_PRIVS_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Capabilities: opening needs more of them than measuring. The process keeps those that it has and
 * that measuring may need later: for events of CPUs that come online, larger rings, real-time
 * priority of the collector, /proc and folders of other users, and for ending the command.
 */

/* Capabilities that measuring needs, for setcap(8); SECURITY in kontend(1) explains each. */
#define PRIVS_SETCAP                                                                               \
	"cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_sys_ptrace,cap_ipc_lock+ep"

/* Which of @have are kept, bit n for capability n; @paranoid: kernel.perf_event_paranoid. */
uint64_t privs_to_keep(uint64_t have, int paranoid);
/* Those that the calling thread may use. */
uint64_t privs_now(void);
/*
 * Drops all others, for the calling thread and those that it will start, for good: programs that
 * they execute cannot get them back. Processes that were forked earlier keep theirs. 0 or a
 * negative errno.
 */
int privs_drop(struct error *err);
/* The same, but keeps those of @also that it has: for one thread that needs them. */
int privs_drop_but(uint64_t also, struct error *err);

/* "perfmon ipc_lock" of a set; into @buf. */
const char *privs_text(uint64_t set, char *buf, size_t size);

#endif
