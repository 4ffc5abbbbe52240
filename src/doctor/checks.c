// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out by trying which features work here, for this user. Checks are small steps of kontend's
 * own start, in the same order, so the first one that fails is the one to fix. The last check is
 * the measurement itself: it opens the live source and runs it for a moment, with the code of the
 * other verbs, and reports its message for the main job. A table derives the views from the checks.
 */
#include "internal.h"
#include "kontend/cachefile.h"
#include "kontend/inspect.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/mux.h"
#include "kontend/pidns.h"
#include "kontend/privs.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"
#include "kontend/tracefs.h"
#include "kontend/usersyms.h"
#include "kontend/waitfeed.h"

#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

const char *doctor_status_name(enum doctor_status s)
{
	static const char *const names[] = {"works", "limited", "fails", "unknown", "absent"};

	return names[s];
}

struct doctor_item *doctor_add(struct doctor *d, const char *name, const char *help)
{
	struct doctor_item *i = &d->checks[d->n_checks++];

	*i = (struct doctor_item){.name = name, .help = help};
	return i;
}

void doctor_found(struct doctor_item *i, enum doctor_status s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(i->found, sizeof(i->found), fmt, ap);
	va_end(ap);
	text_clean(i->found, sizeof(i->found), i->found);
	i->status = s;
}

void doctor_fix(struct doctor_item *i, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(i->fix, sizeof(i->fix), fmt, ap);
	va_end(ap);
	text_clean(i->fix, sizeof(i->fix), i->fix);
}

void doctor_fix_setcap(struct doctor_item *i, const struct doctor_facts *f)
{
	/* Root of another user namespace has all capabilities, but the kernel ignores them. */
	if (pidns_has_users())
		doctor_fix(i, "run outside of this user namespace: the kernel checks "
			      "capabilities in the initial one");
	else
		doctor_fix(i, "sudo setcap %s %s", PRIVS_SETCAP, f->exe);
}

const struct doctor_item *doctor_check(const struct doctor *d, const char *name)
{
	for (size_t i = 0; i < d->n_checks; i++)
		if (strcmp(d->checks[i].name, name) == 0)
			return &d->checks[i];
	return NULL;
}

int doctor_kernel_version(const char *release)
{
	int major = 0, minor = 0;

	return sscanf(release, "%3d.%3d", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

bool doctor_kernel_is_new_enough(const char *release)
{
	int version = doctor_kernel_version(release);

	return !version || version >= 5019; /* not known: check the event itself */
}

bool doctor_kallsyms_has_addresses(const char *text)
{
	for (int line = 0; *text && line < 64; line++) {
		if (strspn(text, "0") < strspn(text, "0123456789abcdef"))
			return true;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

static void check_kernel(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "kernel", "contention events came with Linux 5.19");

	if (!doctor_kernel_is_new_enough(d->kernel)) {
		doctor_found(i, DOCTOR_FAILS, "Linux %s has no contention events", d->kernel);
		doctor_fix(i, "boot Linux 5.19 or newer");
	} else if (!strcmp(f->lockdown, "confidentiality")) {
		doctor_found(i, DOCTOR_FAILS, "Linux %s is locked down (confidentiality)",
			     d->kernel);
		doctor_fix(i, "boot with lockdown=integrity or lockdown=none");
	} else {
		doctor_found(i, DOCTOR_WORKS, "Linux %s %s, %u CPUs, lockdown %s", d->kernel,
			     d->machine, f->cpus, *f->lockdown ? f->lockdown : "unknown");
	}
}

static bool check_tracefs(struct doctor *d, char path[TRACEFS_PATH])
{
	struct doctor_item *i = doctor_add(d, "tracefs", "formats and ids of events");
	struct error err = {0};

	if (tracefs_search("/proc/self/mounts", path) == 0) {
		doctor_found(i, DOCTOR_WORKS, "mounted at %s", path);
		return true;
	}
	if (tracefs_find(path, &err) == 0) {
		doctor_found(i, DOCTOR_WORKS, "was not mounted; now it is, at %s", path);
		return true;
	}
	doctor_found(i, DOCTOR_FAILS, "%s", err.text);
	if (err.code == -EMFILE)
		doctor_fix(i, "ulimit -n 256");
	else if (err.code != -ENOMEM)
		doctor_fix(i, "sudo mount -t tracefs nodev /sys/kernel/tracing");
	return false;
}

/* Since 7.x: no figure needs it, but it makes hold times exact. */
static void check_releases(struct doctor *d, const char *tracefs)
{
	struct doctor_item *i = doctor_add(d, "releases", "lock:contended_release");
	struct tracepoint tp = {0};
	struct error err = {0};
	int r = tracepoint_read(&tp, tracefs, "lock", "contended_release", &err);

	if (r == 0)
		doctor_found(i, DOCTOR_WORKS,
			     "readable: the kernel reports releases, so hold times "
			     "are exact, and hand-overs have durations");
	else if (r == -ENOENT)
		doctor_found(
			i, DOCTOR_LIMITED,
			"this kernel does not report releases, as kernels from 7.x on do: hold "
			"times are upper bounds");
	else
		doctor_found(i, DOCTOR_LIMITED, "%s", err.text);
	tracepoint_deinit(&tp);
}

static void check_events(struct doctor *d, struct doctor_facts *f)
{
	static const char *const events[] = {"contention_begin", "contention_end"};
	char path[TRACEFS_PATH];
	bool mounted = check_tracefs(d, path);
	struct doctor_item *i = doctor_add(d, "events", "lock:contention_begin and _end");

	if (!mounted) {
		doctor_found(i, DOCTOR_UNKNOWN, "not tried: there is no tracefs");
		return;
	}
	for (int k = 0; k < 2; k++) {
		struct tracepoint tp = {0};
		struct error err = {0};
		int r = tracepoint_read(&tp, path, "lock", events[k], &err);

		if (r == 0 && k == 0)
			f->begin_id = tp.id;
		tracepoint_deinit(&tp);
		if (r == 0)
			continue;
		doctor_found(i, DOCTOR_FAILS, "%s", err.text);
		if (r == -EACCES || r == -EPERM)
			doctor_fix_setcap(i, f);
		return;
	}
	f->has_event = true;
	doctor_found(i, DOCTOR_WORKS, "readable; contention_begin is event %u", f->begin_id);
	check_releases(d, path);
}

static void check_names(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "names", "kernel symbols from /proc/kallsyms");
	int64_t kptr = sysinfo_number("/proc/sys/kernel/kptr_restrict", -1);
	char text[4096];
	int r = sysinfo_read("/proc/kallsyms", text, sizeof(text));

	if (r < 0) {
		doctor_found(i, DOCTOR_LIMITED,
			     "/proc/kallsyms cannot be read (%s): callers and "
			     "locks are shown as addresses",
			     strerror(-r));
		doctor_fix(i, "use a kernel built with CONFIG_KALLSYMS");
	} else if (doctor_kallsyms_has_addresses(text)) {
		doctor_found(i, DOCTOR_WORKS, "addresses are shown");
	} else {
		doctor_found(i, DOCTOR_LIMITED,
			     "addresses are withheld (kernel.kptr_restrict is %d, "
			     "perf_event_paranoid is %d): callers and locks are shown as addresses",
			     (int)kptr, f->paranoid);
		/* At 2 no user gets addresses; below, users with CAP_SYSLOG. */
		if (pidns_has_users())
			doctor_fix_setcap(i, f);
		else if (kptr > 1 || geteuid() == 0 || sysinfo_capable(CAP_SYSLOG))
			doctor_fix(i, "sudo sysctl kernel.kptr_restrict=1");
		else
			doctor_fix_setcap(i, f);
	}
}

/* Loads the programs that read breakpoint slots and perf events, and drops them again. */
static void check_bpf(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "bpf", "programs that read perf events and slots");
	struct inspect_options o = {0};
	struct inspect *inspect;
	struct error err = {0};
	int r = inspect_bpf_new(&inspect, &o, &err);

	if (r == 0) {
		inspect_free(inspect);
		doctor_found(i, DOCTOR_WORKS, "the kernel accepts them");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED, "%s: slots are counted, but their holders are not known",
		     err.text);
	if (r == -EPERM || r == -EACCES)
		doctor_fix_setcap(i, f);
	else if (r == -ENOTSUP)
		doctor_fix(i, "build kontend with libbpf and clang: meson setup -Dbpf=enabled");
	else
		doctor_fix(i, "use a kernel of 5.15 or newer built with CONFIG_BPF_SYSCALL and "
			      "CONFIG_DEBUG_INFO_BTF");
}

/* The same for programs that follow holders of locks. */
static void check_follow(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "follow", "programs that follow holders of locks");
	const struct target all = {.kind = TARGET_SYSTEM};
	const struct waitfeed_options o = {.target = &all, .follow_ns = 1000000};
	struct waitfeed *feed = NULL;
	struct error err = {0};
	int r = waitfeed_new(&feed, &o, NULL, &err);

	r = r < 0 ? r : waitfeed_can_follow(feed, &err);
	waitfeed_free(feed);
	if (r == 0) {
		doctor_found(i, DOCTOR_WORKS, "the kernel accepts them");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED, "%s: the state of holders while others wait is not known",
		     err.text);
	if (r == -EPERM || r == -EACCES)
		doctor_fix_setcap(i, f);
}

/* kontend drops capabilities that it does not need: tries it in a child process. */
static void check_privileges(struct doctor *d, const struct doctor_facts *f)
{
	struct doctor_item *i = doctor_add(d, "privileges", "unneeded capabilities are dropped");
	uint64_t have = privs_now(), keep = privs_to_keep(have, f->paranoid);
	char text[128];
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(privs_drop(NULL) < 0 || privs_now() != keep);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		doctor_found(i, DOCTOR_WORKS, "of %d capabilities kontend keeps: %s",
			     __builtin_popcountll(have),
			     keep ? privs_text(keep, text, sizeof(text)) : "none");
	else
		doctor_found(i, DOCTOR_FAILS, "capabilities cannot be dropped");
}

static void check_symbols(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "symbol-cache", "symbols of large programs kept");
	char path[300];
	size_t n;
	uint64_t size;
	int r = usersyms_kept(&n, &size);

	if (!cachefile_path("symbols", path, sizeof(path)))
		doctor_found(i, DOCTOR_WORKS,
			     "none are kept (KONTEND_CACHE, XDG_CACHE_HOME, HOME)");
	else if (r == -ENOENT)
		doctor_found(i, DOCTOR_WORKS, "%s: none yet", path);
	else if (r < 0)
		doctor_found(i, DOCTOR_WORKS, "%s: none are kept (%s)", path,
			     r == -EPERM ? "others may write there" : strerror(-r));
	else
		doctor_found(i, DOCTOR_WORKS, "%s: %zu files, %.1f MB", path, n,
			     (double)size / 1e6);
}

/* Without the cache only reading of recordings takes longer. */
static void check_cache(struct doctor *d)
{
	struct doctor_item *i =
		doctor_add(d, "cache", "kernel symbols kept for recordings by perf");
	char path[300];
	struct stat st;

	if (!cachefile_path("kallsyms", path, sizeof(path)))
		doctor_found(i, DOCTOR_WORKS, "none is kept (KONTEND_CACHE, XDG_CACHE_HOME, HOME)");
	else if (lstat(path, &st) != 0)
		doctor_found(i, DOCTOR_WORKS, "%s: none yet", path);
	else
		doctor_found(i, DOCTOR_WORKS, "%s: %.1f MB", path, (double)st.st_size / 1e6);
	check_symbols(d);
}

/* Runs the main job with its own code for a twentieth of a second. */
static void check_measuring(struct doctor *d)
{
	struct doctor_item *i = doctor_add(d, "measuring", "a measurement of all CPUs for 50 ms");
	struct live_options o = {.tick_ns = 0};
	struct live_info info = {0};
	struct error err = {0};
	struct source *s = NULL;
	int r = live_new(&s, &o, &info, &err);

	if (r == 0)
		r = live_start(s, &err);
	if (r == 0) {
		struct record rec;
		unsigned n = 0;

		usleep(50000);
		live_stop(s);
		while ((r = source_next(s, 1000, &rec, &err)) == 0) {
			source_release(s, &rec);
			n++;
		}
		if (r >= 0)
			doctor_found(i, info.pages_reduced ? DOCTOR_LIMITED : DOCTOR_WORKS,
				     "%u rings of %u pages gave %u records%s%s", info.rings,
				     info.ring_pages, n, *info.note ? "; " : "", info.note);
	}
	source_free(s);
	if (r < 0)
		doctor_found(i, DOCTOR_FAILS, "%s", err.text);
}

/* PMU intervals that a killed kontend left changed. */
static void check_intervals(struct doctor *d)
{
	struct doctor_item *i =
		doctor_add(d, "intervals", "PMU intervals have their original values");
	struct mux_left left[MUX_MOST];
	size_t n = mux_find_left(&mux_system, left, MUX_MOST);
	char text[160];

	if (!n) {
		doctor_found(i, DOCTOR_WORKS, "no killed kontend has left changed intervals");
		return;
	}
	doctor_found(i, DOCTOR_LIMITED, "%s%s", mux_left_text(&left[0], text, sizeof(text)),
		     n > 1 ? "; and others" : "");
	doctor_fix(i, "sudo kontend doctor --repair");
}

/*
 * A static program cannot use libraries of user databases other than /etc/passwd: getpwuid() would
 * load those of this machine, which are made for another libc.
 */
static void name_user(char *ret, size_t size)
{
	const struct passwd *pw = NULL;
	FILE *f = NULL;

#ifdef KONTEND_PORTABLE
	f = fopen("/etc/passwd", "re");
	while (f && (pw = fgetpwent(f)) != NULL && pw->pw_uid != geteuid())
		;
#else
	pw = getpwuid(geteuid());
#endif
	text_clean(ret, size, pw ? pw->pw_name : "unknown");
	if (f)
		fclose(f);
}

void doctor_run(struct doctor *d)
{
	struct doctor_facts f = {.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
	struct utsname u = {0};

	*d = (struct doctor){.uid = geteuid(), .cpus = f.cpus};
	uname(&u);
	text_clean(d->kernel, sizeof(d->kernel), u.release);
	text_clean(d->machine, sizeof(d->machine), u.machine);
	name_user(d->user, sizeof(d->user));
	sysinfo_exe(f.exe, sizeof(f.exe));
	sysinfo_lockdown(f.lockdown, sizeof(f.lockdown));
	f.paranoid = (int)sysinfo_number("/proc/sys/kernel/perf_event_paranoid",
					 DOCTOR_PARANOID_UNKNOWN);
	check_kernel(d, &f);
	check_events(d, &f);
	doctor_perf(d, &f);
	check_names(d, &f);
	check_bpf(d, &f);
	check_follow(d, &f);
	doctor_namespaces(d, &f);
	doctor_rest(d, &f);
	check_privileges(d, &f);
	doctor_sandbox(d);
	check_intervals(d);
	check_cache(d);
	check_measuring(d);
	doctor_try_gaps(d);
	d->memory = doctor_memory(f.cpus, doctor_check(d, "bpf")->status == DOCTOR_WORKS);
	doctor_conclude(d);
}
