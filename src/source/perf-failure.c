// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns an errno of perf_event_open(), mmap() or the ioctls into a sentence that helps. The kernel
 * uses few codes for many reasons, so the text depends on the step, the target, the user and the
 * sysctl. All of these are in struct perf_failure, and explaining is a pure function: each sentence
 * has a test.
 */
#include "perf-failure.h"
#include "kontend/pidns.h"
#include "kontend/privs.h"
#include "kontend/sysinfo.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PARANOID_ROOT_ONLY = 3, PARANOID_UNKNOWN = 99 };

static const char *paranoid_meaning(int level)
{
	if (level >= 3)
		return "no perf events at all for users";
	if (level == 2)
		return "no kernel profiling for users";
	if (level == 1)
		return "no CPU-wide events for users";
	if (level == 0)
		return "no raw tracepoints for users";
	return "everything is allowed";
}

/* A level that only Debian and Ubuntu have, at which CAP_PERFMON does not help either. */
static bool for_root_only(const struct perf_failure *f)
{
	return f->paranoid >= PARANOID_ROOT_ONLY && f->paranoid != PARANOID_UNKNOWN;
}

static int explain_paranoid(const struct perf_failure *f, struct error *err)
{
	if (f->perfmon && for_root_only(f))
		return error_set(err, f->code,
				 "The kernel refuses %s (%s): while kernel.perf_event_paranoid is "
				 "%d, this distribution's kernel lets only root in, whatever "
				 "capabilities others have: 'sudo sysctl "
				 "kernel.perf_event_paranoid=2', or run as root",
				 f->event, strerror(-f->code), f->paranoid);
	return error_set(
		err, f->code,
		"The kernel refuses %s (%s): kernel.perf_event_paranoid is %d (%s): run as "
		"root, or once 'sudo setcap " PRIVS_SETCAP " %s'%s",
		f->event, strerror(-f->code), f->paranoid, paranoid_meaning(f->paranoid), f->exe,
		for_root_only(f) ? " and 'sudo sysctl kernel.perf_event_paranoid=2'" : "");
}

static int explain_eperm(const struct perf_failure *f, struct error *err)
{
	if (!strcmp(f->lockdown, "confidentiality"))
		return error_set(err, f->code,
				 "The kernel is locked down (confidentiality) and refuses %s (%s): "
				 "boot with lockdown=integrity or none",
				 f->event, strerror(-f->code));
	if (f->root && f->users)
		return error_set(err, f->code,
				 "The kernel refuses %s to root of a user namespace (%s): it asks "
				 "for capabilities in the initial one; run outside of it, or in a "
				 "container without user namespaces",
				 f->event, strerror(-f->code));
	if (f->root)
		return error_set(err, f->code,
				 "The kernel refuses %s to root (%s): a container or security "
				 "module forbids it; run on the host, or give the container "
				 "CAP_PERFMON and a seccomp profile with perf_event_open",
				 f->event, strerror(-f->code));
	if (f->paranoid == PARANOID_UNKNOWN)
		return error_set(err, f->code, "The kernel refuses %s (%s): run as root", f->event,
				 strerror(-f->code));
	return explain_paranoid(f, err);
}

/* Other descriptors that are open at the same time: of programs, files, and files being read. */
enum { SPARE_FDS = 128 };

static int explain_emfile(const struct perf_failure *f, struct error *err)
{
	if (f->code == -ENFILE)
		return error_set(err, f->code,
				 "The system is out of open files (%s; %" PRIu64 " are needed): "
				 "raise it with 'sudo sysctl fs.file-max=N', or measure fewer CPUs "
				 "with -C",
				 strerror(-f->code), f->fds);
	return error_set(err, f->code,
			 "%" PRIu64 " events are to be opened, more than the limit of %" PRIu64
			 " open files leaves (%s): raise it with 'ulimit -n %" PRIu64
			 "', or measure fewer CPUs with -C",
			 f->fds, f->fd_limit, strerror(-f->code), f->fds + f->fd_limit + SPARE_FDS);
}

static int explain_einval(const struct perf_failure *f, struct error *err)
{
	if (f->kind == TARGET_CGROUP)
		return error_set(err, f->code,
				 "The kernel cannot count %s by cgroup %s (%s): it needs "
				 "CONFIG_CGROUP_PERF and a cgroup of perf's hierarchy",
				 f->event, f->cgroup, strerror(-f->code));
	return error_set(
		err, f->code,
		"The kernel does not understand the event %s on CPU %d (%s): it is too old, "
		"Linux 5.19 or newer is needed",
		f->event, f->cpu, strerror(-f->code));
}

static int explain_enoent(const struct perf_failure *f, struct error *err)
{
	if (f->kind == TARGET_CGROUP)
		return error_set(err, f->code,
				 "The kernel counts no events by cgroup %s (%s): it is not one of "
				 "perf's hierarchy, or no controller was ever switched on; try "
				 "'echo +cpu >/sys/fs/cgroup/cgroup.subtree_control'",
				 f->cgroup, strerror(-f->code));
	return error_set(err, f->code,
			 "The kernel has no event %s (%s): use a kernel of 5.19 or newer with "
			 "CONFIG_EVENT_TRACING",
			 f->event, strerror(-f->code));
}

/*
 * There is no PMU, or a clock in its place, or a PMU whose CPU keeps no stack of calls: only those
 * of Intel do.
 */
static int explain_lbr(const struct perf_failure *f, struct error *err)
{
	const char *why =
		f->clock ? "a clock has none; leave out --event cpu-clock, or"
		: f->code == -ENOENT
			? "this machine shows no PMU, as many virtual ones do not;"
			: "it needs an Intel CPU, and a virtual machine that exposes its LBR;";

	return error_set(err, f->code,
			 "The kernel cannot sample the last branch records of the CPU, LBR (%s): "
			 "%s give --call-graph fp or dwarf",
			 strerror(-f->code), why);
}

static int explain_open(const struct perf_failure *f, struct error *err)
{
	if (f->lbr && (f->code == -EOPNOTSUPP || f->code == -EINVAL || f->code == -ENOENT))
		return explain_lbr(f, err);
	switch (-f->code) {
	case EPERM:
	case EACCES:
		return explain_eperm(f, err);
	case EMFILE:
	case ENFILE:
		return explain_emfile(f, err);
	case ESRCH:
		return error_set(
			err, f->code,
			"There is no task %d any more (%s): it ended while its events were "
			"opened; see 'ps -eLo pid,tid,comm'",
			f->tid, strerror(-f->code));
	case ENODEV:
	case ENXIO:
		return error_set(
			err, f->code,
			"CPU %d cannot be measured (%s): it is offline; choose others with "
			"-C, or bring it back by /sys/devices/system/cpu/cpu%d/online",
			f->cpu, strerror(-f->code), f->cpu);
	case ENOENT:
		return explain_enoent(f, err);
	case ENOSYS:
		return error_set(err, f->code,
				 "This kernel has no perf events (%s): use one that was built with "
				 "CONFIG_PERF_EVENTS",
				 strerror(-f->code));
	case ENOMEM:
		return error_set(err, f->code,
				 "The kernel has no memory for %s on CPU %d (%s): free some, or "
				 "measure fewer CPUs with -C",
				 f->event, f->cpu, strerror(-f->code));
	case EBUSY:
	case EOVERFLOW:
		return error_set(
			err, f->code,
			"The kernel cannot keep call chains for %s (%s): another tool uses "
			"longer ones; end it, or give a smaller --max-stack",
			f->event, strerror(-f->code));
	case EINVAL:
	case E2BIG:
	case EOPNOTSUPP:
		return explain_einval(f, err);
	default:
		return error_errno(err, f->code, "Cannot open %s on CPU %d, task %d", f->event,
				   f->cpu, f->tid);
	}
}

static int explain_mmap(const struct perf_failure *f, struct error *err)
{
	if (f->code == -EPERM || f->code == -EAGAIN)
		return error_set(
			err, f->code,
			"Even rings of %" PRIu32 " KiB exceed what this user may lock (%s): "
			"run as root, or 'sudo sysctl kernel.perf_event_mlock_kb=2048', or "
			"give cap_ipc_lock to %s",
			f->ring_kib, strerror(-f->code), f->exe);
	if (f->code == -ENOMEM)
		return error_set(err, f->code,
				 "No memory even for rings of %" PRIu32 " KiB (%s): free some, or "
				 "measure fewer CPUs with -C",
				 f->ring_kib, strerror(-f->code));
	return error_errno(err, f->code, "Cannot map a ring of %" PRIu32 " KiB for %s on CPU %d",
			   f->ring_kib, f->event, f->cpu);
}

static int explain_filter(const struct perf_failure *f, struct error *err)
{
	if (f->code == -EINVAL)
		return error_set(
			err, f->code,
			"The kernel does not accept '%s' as a filter of %s (%s): fields are "
			"lock_addr and flags, as in 'flags & 0x2'",
			f->filter, f->event, strerror(-f->code));
	return error_errno(err, f->code, "Cannot set the filter '%s' on %s", f->filter, f->event);
}

int perf_failure_explain(const struct perf_failure *f, struct error *err)
{
	if (f->step == PERF_STEP_MMAP)
		return explain_mmap(f, err);
	if (f->step == PERF_STEP_FILTER)
		return explain_filter(f, err);
	return explain_open(f, err);
}

int perf_failure_report(struct perf_failure *f, struct error *err)
{
	char exe[PATH_MAX], lockdown[32];
	struct rlimit files = {0};

	getrlimit(RLIMIT_NOFILE, &files);
	f->fd_limit = files.rlim_cur;
	f->exe = sysinfo_exe(exe, sizeof(exe));
	f->lockdown = sysinfo_lockdown(lockdown, sizeof(lockdown));
	f->root = geteuid() == 0;
	f->users = pidns_has_users();
	f->perfmon = sysinfo_capable(CAP_PERFMON);
	f->paranoid = (int)sysinfo_number("/proc/sys/kernel/perf_event_paranoid", PARANOID_UNKNOWN);
	int code = perf_failure_explain(f, err);
	/* These are on the stack of this function. */
	f->exe = f->lockdown = NULL;
	return code;
}
