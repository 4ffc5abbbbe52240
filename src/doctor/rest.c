// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other checks. Those for single views: samples, user stacks, instructions, debuginfod servers,
 * PMUs that rotate events, and libraries that this build lacks. If nothing is wrong and there is
 * only nothing to show, the check works and reports that. Then the parts of the kernel that the
 * sandbox uses to read recordings of other users (checking restricts nothing); in a container, the
 * PID namespace, whether tasks outside of it can be identified and named, and whether /proc belongs
 * to it; and the kernel memory of a measurement.
 */
#include "internal.h"
#include "kontend/bpf-memory.h"
#include "kontend/disasm.h"
#include "kontend/ktext.h"
#include "kontend/nsview.h"
#include "kontend/perf-event.h"
#include "kontend/pidns.h"
#include "kontend/pmus.h"
#include "kontend/ring.h"
#include "kontend/sandbox.h"
#include "kontend/sysinfo.h"
#include "kontend/units.h"
#include "kontend/waitfeed.h"
#include "sym/optional.h"
#include "version.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
static const uint64_t user_regs = 1ull << 7 | 1ull << 8; /* sp, ip */
#else
static const uint64_t user_regs = 1ull << 31 | 1ull << 32; /* sp, pc */
#endif

/* Opens an event as -F does, on a CPU, disabled. A descriptor or a negative errno. */
static int open_sampling(bool cycles, bool dumps)
{
	struct perf_event_attr a = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(a),
		.sample_freq = 499,
		.freq = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
	};

	if (dumps) {
		a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a.sample_regs_user = user_regs;
		a.sample_stack_user = 8192;
		a.exclude_callchain_user = 1;
	}
	return perf_event_open(&a, -1, sched_getcpu(), 0);
}

static void refused(struct doctor_item *i, const struct doctor_facts *f, int code, const char *less)
{
	doctor_found(i, DOCTOR_LIMITED, "the kernel refuses them (%s): %s", strerror(-code), less);
	if ((code == -EACCES || code == -EPERM) && !sysinfo_capable(CAP_PERFMON))
		doctor_fix_setcap(i, f);
}

static void check_samples(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "samples", "where CPUs spend their time");
	int fd = open_sampling(true, false);
	bool cycles = fd >= 0;

	if (!cycles)
		fd = open_sampling(false, false);
	if (fd < 0) {
		refused(i, f, fd, "there is no profile");
		return;
	}
	close(fd);
	doctor_found(i, DOCTOR_WORKS, "%s",
		     cycles ? "by cycles"
			    : "by cpu-clock, as no PMU counts cycles: code with interrupts off "
			      "is attributed to the code that enables them");
}

static void check_user_stacks(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "user-stacks", "dumps of stacks, --call-graph dwarf");
	int fd = open_sampling(false, true);

	if (fd < 0) {
		refused(i, f, fd, "use --call-graph fp");
		return;
	}
	close(fd);
	if (strstr(KONTEND_LACKS, "dwarf"))
		doctor_found(i, DOCTOR_LIMITED,
			     "samples have them, but this build cannot "
			     "unwind them: see build");
	else
		doctor_found(i, DOCTOR_WORKS, "samples have them");
}

static void check_instructions(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "instructions", "machine code as text");
	struct disasm *disasm;
	struct error err = {0};

	if (disasm_open(&disasm, disasm_machine_here(), &err) < 0) {
		doctor_found(i, DOCTOR_LIMITED, "%s", err.text);
		doctor_fix(i, "install the library capstone");
		return;
	}
	disasm_close(disasm);
	doctor_found(i, DOCTOR_WORKS, "capstone decodes this machine's code");
}

static void check_code(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "code", "the running kernel's code");
	struct ktext *k;
	struct error err = {0};

	if (ktext_open(&k, NULL, &err) < 0) {
		doctor_found(i, DOCTOR_LIMITED, "%s", err.text);
		if (geteuid() != 0)
			doctor_fix_setcap(i, f);
		return;
	}
	doctor_found(i, DOCTOR_WORKS, "read by %s", ktext_way_name(ktext_way(k)));
	ktext_close(k);
}

static void check_debuginfod(struct doctor *d)
{
	struct doctor_item *i =
		doctor_add(d, "debuginfod", "asks servers, if --debuginfod is given");
	const char *urls = getenv("DEBUGINFOD_URLS");
	const char *why = urls && *urls ? debuginfod_missing() : NULL;

	if (strstr(KONTEND_LACKS, "libdebuginfod"))
		doctor_found(i, DOCTOR_LIMITED, "%s: see build", debuginfod_missing());
	else if (!urls || !*urls)
		doctor_found(i, DOCTOR_WORKS, "DEBUGINFOD_URLS names no server");
	else if (why)
		doctor_found(i, DOCTOR_LIMITED, "%s", why);
	else
		doctor_found(i, DOCTOR_WORKS, "%s", urls);
}

static void check_pmus(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "pmus", "PMUs whose events rotate");
	struct pmus p;

	pmus_read("/sys/bus/event_source/devices", &p);
	if (!p.n)
		doctor_found(i, DOCTOR_ABSENT, "no PMU here rotates events");
	else
		doctor_found(i, DOCTOR_WORKS, "%s every %u ms%s", p.items[0].name,
			     p.items[0].interval_ms, p.n > 1 ? ", and others" : "");
}

static void check_build(struct doctor *d)
{
	struct doctor_item *i =
		doctor_add(d, "build", "libraries that this program was built with");

	if (*KONTEND_LACKS)
		doctor_found(i, DOCTOR_LIMITED, "without " KONTEND_LACKS);
	else
		doctor_found(i, DOCTOR_WORKS, "with all of them");
	if (*KONTEND_LACKS)
		doctor_fix(i, "install what is missing, and build kontend again");
}

void doctor_rest(struct doctor *d, const struct doctor_facts *f)
{
	check_samples(d, f);
	check_user_stacks(d, f);
	check_instructions(d);
	check_code(d, f);
	check_debuginfod(d);
	check_pmus(d);
	check_build(d);
}

static const uint64_t RINGS_LIMIT = 64 << 20;

struct doctor_memory doctor_memory(unsigned cpus, bool bpf)
{
	return (struct doctor_memory){
		.perf_rings = (uint64_t)cpus * ring_perf_kib(cpus, bpf, 0) * 1024,
		.bpf_rings = bpf ? (uint64_t)cpus * waitfeed_cpu_bytes(0, cpus) : 0,
		.bpf_maps = bpf ? bpf_memory_wanted() : 0,
	};
}

const char *doctor_memory_text(const struct doctor_memory *m, char *buf, size_t size)
{
	char all[UNITS_BUF], perf[UNITS_BUF], rings[UNITS_BUF], maps[UNITS_BUF];
	bool least = m->perf_rings + m->bpf_rings > RINGS_LIMIT;

	snprintf(buf, size, "%s: perf rings %s, BPF rings %s%s, BPF maps %s",
		 units_bytes(all, m->perf_rings + m->bpf_rings + m->bpf_maps),
		 units_bytes(perf, m->perf_rings), units_bytes(rings, m->bpf_rings),
		 least ? " (the minimum for this many CPUs)" : "", units_bytes(maps, m->bpf_maps));
	return buf;
}

/* Landlock versions that cover more than files: of Linux 6.7 and 6.12. */
enum { LANDLOCK_CONNECTIONS = 4, LANDLOCK_SIGNALS = 6 };

static void check_landlock(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "landlock", "which files a reader may open");
	int version = sandbox_landlock();

	if (version > 0) {
		doctor_found(i, DOCTOR_WORKS, "version %d: files%s%s", version,
			     version >= LANDLOCK_CONNECTIONS ? ", connections" : "",
			     version >= LANDLOCK_SIGNALS ? ", signals" : "");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED,
		     "not available (%s): a process that reads a recording could open all of the "
		     "user's files",
		     strerror(-version));
	if (version == -EOPNOTSUPP)
		doctor_fix(i, "add landlock to lsm= on the kernel's command line");
	else if (version == -ENOSYS)
		doctor_fix(i, "Linux 5.13 or later, with CONFIG_SECURITY_LANDLOCK");
}

static void check_seccomp(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "seccomp", "which system calls a reader may make");
	int r = sandbox_filter();

	if (r == 0)
		doctor_found(i, DOCTOR_WORKS, "calls that are not needed to read are refused");
	else
		doctor_found(i, DOCTOR_LIMITED,
			     "not available (%s): a process that reads a recording could make all "
			     "system calls",
			     strerror(-r));
}

void doctor_sandbox(struct doctor *d)
{
	check_landlock(d);
	check_seccomp(d);
}

/* True if /proc shows PIDs of this namespace. */
static bool proc_is_ours(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return atoi(text) == getpid();
}

static void say_outside(struct doctor_item *i, const struct nsview *v)
{
	doctor_found(
		i, DOCTOR_WORKS,
		"PID namespace %u; %zu tasks are outside of it; BPF shows them as comm/812@host",
		pidns_own(), nsview_count_outside(v));
}

void doctor_namespaces(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "namespaces", "tasks outside of this PID namespace");
	struct error err = {0};
	struct nsview *v = NULL;

	if (!proc_is_ours()) {
		doctor_found(i, DOCTOR_LIMITED,
			     "/proc is that of another PID namespace, or there is none: tasks have "
			     "wrong names, or none");
		doctor_fix(i, "mount -t proc proc /proc");
		return;
	}
	if (!pidns_is_inner()) {
		doctor_found(i, DOCTOR_WORKS, "this is the initial one: there are none");
		return;
	}
	int code = nsview_new(&v, NULL, &err);
	code = code < 0 ? code : nsview_look(v);
	if (code == 0 || code == -EAGAIN) {
		say_outside(i, v);
	} else {
		doctor_found(
			i, DOCTOR_LIMITED,
			"PID namespace %u; tasks outside of it have no names, and the slots they "
			"hold are not seen: %s",
			pidns_own(), err.text);
		doctor_fix_setcap(i, f);
	}
	nsview_free(v);
}
