/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PRIVS_H
#define KONTEND_PRIVS_H

#include "kontend/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Capabilities: opening takes more of them than measuring. Those that measuring may need later are
 * kept, if the process had them: for events of CPUs that come online, larger rings, a real-time
 * share for the collector, /proc of others, files in folders of others, and ending the command.
 */

/* Capabilities that measuring takes, for setcap(8); SECURITY in kontend(1) explains each. */
#define PRIVS_SETCAP                                                                               \
	"cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_sys_ptrace,cap_ipc_lock+ep"

/* Which of @have are kept, bit n for capability n; @paranoid: kernel.perf_event_paranoid. */
uint64_t privs_to_keep(uint64_t have, int paranoid);
/* Those that the calling thread may use. */
uint64_t privs_now(void);
/*
 * Gives up all others for the calling thread and those that it will start, for good: what they
 * execute cannot get any back. Processes that were forked before keep theirs. 0 or a negative
 * errno.
 */
int privs_drop(struct error *err);

/* "perfmon ipc_lock" of a set; into @buf. */
const char *privs_text(uint64_t set, char *buf, size_t size);

#endif
