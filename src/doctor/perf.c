// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that open an event, each on the first CPU and for a moment: the event itself, call chains,
 * cgroup ids, a ring of the default size, and descriptors for all CPUs. The kernel returns EACCES
 * for many reasons; the requested feature shows which sysctl it was.
 */
#include "internal.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/perf-session.h"
#include "kontend/pidns.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* On Debian and Ubuntu CAP_PERFMON does not help from this level on. */
enum { PARANOID_ROOT_ONLY = 3 };

static int first_cpu(void)
{
	uint32_t *cpus;
	size_t n;
	int cpu = 0;

	if (cpulist_read("online", &cpus, &n) < 0)
		return 0;
	if (n)
		cpu = (int)cpus[0];
	mem_free(cpus);
	return cpu;
}

/*
 * Opens kontend's event, or a CPU clock if its id is not known: both are CPU-wide and sample the
 * kernel, so the same rules apply. A descriptor or a negative errno.
 */
static int open_event(const struct doctor_facts *f, uint64_t sample_type, bool cgroup)
{
	struct perf_event_attr a = {
		.type = f->has_event ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
		.config = f->has_event ? f->begin_id : PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(a),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_TID | sample_type,
		.disabled = 1,
	};
	a.cgroup = cgroup;
	a.exclude_callchain_user = 1;
	if (f->has_event)
		a.sample_type |= PERF_SAMPLE_RAW;
	else
		a.sample_period = 1000000000;
	return perf_event_open(&a, -1, first_cpu(), 0);
}

static void explain_open(struct doctor_item *i, const struct doctor_facts *f, int code)
{
	doctor_found(i, DOCTOR_FAILS, "the kernel refuses: %s (kernel.perf_event_paranoid is %d)",
		     strerror(-code), f->paranoid);
	if (code == -ENOSYS)
		doctor_fix(i, "use a kernel built with CONFIG_PERF_EVENTS");
	else if (code == -EMFILE)
		doctor_fix(i, "ulimit -n 1024");
	else if ((code == -EACCES || code == -EPERM) && pidns_has_users())
		doctor_fix_setcap(i, f);
	else if ((code == -EACCES || code == -EPERM) && geteuid() == 0)
		doctor_fix(i, "run on the host, or give the container CAP_PERFMON and a seccomp "
			      "profile with perf_event_open");
	else if ((code == -EACCES || code == -EPERM) && !sysinfo_capable(CAP_PERFMON))
		doctor_fix_setcap(i, f);
	else if ((code == -EACCES || code == -EPERM) && f->paranoid >= PARANOID_ROOT_ONLY)
		doctor_fix(i, "sudo sysctl kernel.perf_event_paranoid=2");
}

static int check_open(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "perf", "perf_event_open() on a whole CPU");
	int fd = open_event(f, 0, false);

	if (fd < 0)
		explain_open(i, f, fd);
	else
		doctor_found(i, DOCTOR_WORKS, "%s opens (kernel.perf_event_paranoid is %d)",
			     f->has_event ? "lock:contention_begin" : "a CPU clock", f->paranoid);
	return fd;
}

static void check_stacks(struct doctor *d, const struct doctor_facts *f, bool opens)
{
	struct doctor_item *i = doctor_add(d, "stacks", "kernel call chains");
	int64_t most = sysinfo_number("/proc/sys/kernel/perf_event_max_stack", 127);
	int fd;

	if (!opens) {
		doctor_found(i, DOCTOR_UNKNOWN, "not tried: no event opens");
		return;
	}
	fd = open_event(f, PERF_SAMPLE_CALLCHAIN, false);
	if (fd >= 0) {
		close(fd);
		doctor_found(i, DOCTOR_WORKS, "up to %d frames", (int)most);
		return;
	}
	doctor_found(i, DOCTOR_LIMITED,
		     "the kernel refuses them (%s): callers are unknown, use "
		     "--no-stack",
		     strerror(-fd));
	if (fd == -EBUSY || fd == -EOVERFLOW)
		doctor_fix(i, "sudo sysctl kernel.perf_event_max_stack=127");
}

static void check_cgroups(struct doctor *d, const struct doctor_facts *f, bool opens)
{
	struct doctor_item *i = doctor_add(d, "cgroups", "the cgroup of each wait");
	int fd;

	if (!opens) {
		doctor_found(i, DOCTOR_UNKNOWN, "not tried: no event opens");
		return;
	}
	fd = open_event(f, PERF_SAMPLE_CGROUP, true);
	if (fd >= 0) {
		close(fd);
		doctor_found(i, DOCTOR_WORKS, "samples name it");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED, "samples do not name it (%s): --by cgroup shows one row",
		     strerror(-fd));
	doctor_fix(i, "use a kernel of 5.7 or newer built with CONFIG_CGROUP_PERF");
}

/* Takes over @fd. */
static void check_ring(struct doctor *d, const struct doctor_facts *f, int fd)
{
	struct doctor_item *i = doctor_add(d, "rings", "memory that the kernel writes events to");
	size_t page = (size_t)sysconf(_SC_PAGESIZE), kib = ring_perf_kib(f->cpus, false, 0);
	size_t size = kib * 1024 + page;
	int64_t limit = sysinfo_number("/proc/sys/kernel/perf_event_mlock_kb", -1);

	if (fd < 0) {
		doctor_found(i, DOCTOR_UNKNOWN, "not tried: no event opens");
		return;
	}
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int code = errno;
	close(fd);
	if (ring != MAP_FAILED) {
		munmap(ring, size);
		doctor_found(i, DOCTOR_WORKS, "%zu KiB a CPU (kernel.perf_event_mlock_kb is %d)",
			     kib, (int)limit);
		return;
	}
	doctor_found(i, DOCTOR_LIMITED,
		     "the kernel refuses %zu KiB for one CPU (%s; "
		     "kernel.perf_event_mlock_kb is %d): rings are smaller, and more events get "
		     "lost",
		     kib, strerror(code), (int)limit);
	if (sysinfo_capable(CAP_IPC_LOCK))
		doctor_fix(i, "sudo sysctl kernel.perf_event_mlock_kb=%zu",
			   f->cpus * (kib + page / 1024));
	else
		doctor_fix_setcap(i, f);
}

/* Number of further descriptors, up to @n, that can be opened. */
static unsigned count_openable(unsigned n)
{
	int *fds = mem_calloc(n, sizeof(*fds));
	unsigned got = 0;

	if (!fds)
		return 0;
	while (got < n && (fds[got] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
		got++;
	for (unsigned i = 0; i < got; i++)
		close(fds[i]);
	mem_free(fds);
	return got;
}

static void check_files(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "files", "descriptors for the events of all CPUs");
	unsigned need = (unsigned)sysinfo_files(), got;
	struct rlimit old = {0}, more;

	/* As the live source does: kontend may raise the soft limit, some users also the hard one.
	 */
	getrlimit(RLIMIT_NOFILE, &old);
	more = old;
	if (more.rlim_cur < need + 3) {
		more.rlim_cur = need + 3;
		if (more.rlim_max < more.rlim_cur)
			more.rlim_max = more.rlim_cur;
		if (setrlimit(RLIMIT_NOFILE, &more) < 0) {
			more.rlim_cur = more.rlim_max = old.rlim_max;
			setrlimit(RLIMIT_NOFILE, &more);
		}
	}
	got = count_openable(need);
	setrlimit(RLIMIT_NOFILE, &old);
	if (got == need) {
		doctor_found(i, DOCTOR_WORKS, "%u more can be opened", need);
		return;
	}
	doctor_found(i, DOCTOR_FAILS,
		     "%u more are needed and %u can be opened, the hard limit is %llu", need, got,
		     (unsigned long long)old.rlim_max);
	doctor_fix(i, "as root: ulimit -n %u", need + 3);
}

void doctor_perf(struct doctor *d, const struct doctor_facts *f)
{
	int fd = check_open(d, f);

	check_stacks(d, f, fd >= 0);
	check_cgroups(d, f, fd >= 0);
	check_ring(d, f, fd);
	check_files(d);
}
