// SPDX-License-Identifier: GPL-2.0-only
/* SCHED_FIFO for who drains rings, where it was asked for: at the lowest priority that there is. */
#include "kontend/realtime.h"
#include "kontend/pidns.h"
#include "kontend/privs.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIORITY = 1 };

/* By the system call itself: musl's function of that name does nothing. */
static int set_policy(int policy, int priority)
{
	const struct sched_param p = {.sched_priority = priority};

	return syscall(SYS_sched_setscheduler, 0, policy, &p) < 0 ? -errno : 0;
}

/* May the user? If so and the kernel refuses, the cgroup is why. */
static bool user_may(void)
{
	struct rlimit most;

	if (privs_now() >> CAP_SYS_NICE & 1 && !pidns_has_users())
		return true;
	return getrlimit(RLIMIT_RTPRIO, &most) == 0 && most.rlim_cur >= PRIORITY;
}

static const char *remedy(int code)
{
	if (code != -EPERM)
		return "leave the option out";
	if (user_may())
		return "give the cgroup of kontend a share of real-time (cpu.rt_runtime_us), or "
		       "start it "
		       "from the root cgroup";
	return "run as root outside of user namespaces, or with CAP_SYS_NICE or RLIMIT_RTPRIO "
	       "(ulimit -r 1)";
}

int realtime_try(struct error *err)
{
	int code = set_policy(SCHED_FIFO, PRIORITY);

	if (code < 0)
		return error_set(err, code, "The kernel refuses --realtime (%s): %s",
				 strerror(-code), remedy(code));
	(void)set_policy(SCHED_OTHER, 0);
	return 0;
}

void realtime_begin(void)
{
	(void)set_policy(SCHED_FIFO | SCHED_RESET_ON_FORK, PRIORITY);
}
