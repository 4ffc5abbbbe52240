// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks for single views: samples, user stacks, instructions, debuginfod servers, PMUs that rotate
 * events, and libraries that this build lacks. If nothing is wrong and there is only nothing to
 * show, the check works and reports that.
 */
#include "internal.h"
#include "kontend/disasm.h"
#include "kontend/ktext.h"
#include "kontend/pmus.h"
#include "kontend/sysinfo.h"
#include "sym/lines/debuginfod.h"
#include "version.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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
	int fd =
		(int)syscall(SYS_perf_event_open, &a, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
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
