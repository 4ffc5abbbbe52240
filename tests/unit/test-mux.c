// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intervals of PMUs in a tree of files: what is refused, who puts back what and when, and what is
 * left of those that were killed. Sessions are children that stay until they are killed.
 */
#include "kontend/mux.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH = 256, FILE_PATH = 2 * PATH };

static char root[] = "/tmp/kontend-mux-XXXXXX";
static char devices[PATH], notes[PATH];
static const struct mux_roots roots = {.devices = devices, .notes = notes};

static void write_file(const char *name, const char *text)
{
	char path[FILE_PATH];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void add_pmu(const char *name, const char *interval)
{
	char path[FILE_PATH];

	snprintf(path, sizeof(path), "%s/%s", devices, name);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "devices/%s/perf_event_mux_interval_ms", name);
	write_file(path, interval);
	snprintf(path, sizeof(path), "devices/%s/type", name);
	write_file(path, "4\n");
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(devices, sizeof(devices), "%s/devices", root);
	snprintf(notes, sizeof(notes), "%s/notes", root);
	mkdir(devices, 0755);
	add_pmu("cpu_core", "4\n");
	add_pmu("cpu_atom", "4\n");
	add_pmu("software", "4\n");
	add_pmu("uncore", "0\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[PATH];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static unsigned interval(const char *pmu)
{
	char path[FILE_PATH];
	unsigned ms = 0;

	snprintf(path, sizeof(path), "%s/%s/perf_event_mux_interval_ms", devices, pmu);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u", &ms), 1);
	fclose(f);
	return ms;
}

static bool has_note(const char *pmu)
{
	char path[FILE_PATH];

	snprintf(path, sizeof(path), "%s/mux-interval.%s", notes, pmu);
	return access(path, F_OK) == 0;
}

static void begin(struct mux *m, const char *text)
{
	struct error err = {0};

	*m = (struct mux){0};
	assert_int_equal(mux_parse(m, text, &err), 0);
	assert_int_equal(mux_open(m, &roots, &err), 0);
	assert_int_equal(mux_set(m, &err), 0);
}

static void end(struct mux *m)
{
	struct error err = {0};

	assert_int_equal(mux_close(m, &err), 0);
	assert_int_equal(m->n, 0);
}

/* A session of another process. */
struct session {
	pid_t pid;
	int go[2]; /* closed: it is to end */
};

static struct session begin_other(const char *text)
{
	struct session s;
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(s.go), 0);
	s.pid = fork();
	assert_true(s.pid >= 0);
	if (s.pid == 0) {
		struct mux m;
		begin(&m, text);
		close(ready[1]);
		close(s.go[1]);
		while (read(s.go[0], &byte, 1) > 0)
			;
		end(&m);
		_exit(0);
	}
	close(ready[1]);
	close(s.go[0]);
	while (read(ready[0], &byte, 1) > 0)
		;
	close(ready[0]);
	return s;
}

static void end_other(struct session *s, bool by_kill)
{
	int status = -1;

	if (by_kill)
		kill(s->pid, SIGKILL);
	close(s->go[1]);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(by_kill ? WIFSIGNALED(status) : status == 0);
}

static void texts_are_checked(void **state)
{
	static const char *const bad[] = {
		"cpu",
		"=4",
		"cpu=",
		"cpu=0",
		"cpu=x",
		"cpu=-4",
		"cpu=4ms",
		"cpu=10001",
		"a=1,a=2",
		"../../x=4",
		"cpu=4 ",
		"cpu==4",
		"a=1,,b=2",
		"cpu=1e3",
		",a=1",
		"cpu=+4",
		"cpu=18446744073709551620",
	};
	struct error err = {0};
	struct mux m = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct error){0};
		assert_int_equal(mux_parse(&m, bad[i], &err), -EINVAL);
		assert_non_null(strstr(err.text, "PMU=MS"));
		assert_int_equal(m.n, 0);
	}
	assert_int_equal(mux_parse(&m, "cpu_core=8,cpu_atom=10000", &err), 0);
	assert_int_equal(m.n, 2);
	assert_string_equal(m.items[1].pmu, "cpu_atom");
	assert_int_equal(m.items[1].ms, 10000);
	assert_int_equal(mux_close(&m, &err), 0);
}

static void only_what_rotates_is_set(void **state)
{
	static const struct {
		const char *text, *says;
		int code;
	} bad[] = {
		{"nothing=8", "no PMU nothing; those that rotate here: cpu_atom, cpu_core",
		 -ENOENT},
		{"uncore=8", "uncore never rotates", -EINVAL},
		{"software=8", "software never rotates", -EINVAL},
		{"cpu_core=8,software=8", "software never rotates", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = {0};
		struct mux m = {0};
		assert_int_equal(mux_parse(&m, bad[i].text, &err), 0);
		assert_int_equal(mux_open(&m, &roots, &err), bad[i].code);
		assert_non_null(strstr(err.text, bad[i].says));
		assert_int_equal(mux_close(&m, &err), 0);
	}
	assert_int_equal(interval("cpu_core"), 4);
	assert_int_equal(interval("software"), 4);
	assert_false(has_note("cpu_core"));
}

static void it_is_put_back(void **state)
{
	struct mux_left left[2];
	struct mux m;

	(void)state;
	begin(&m, "cpu_core=16,cpu_atom=2");
	assert_int_equal(interval("cpu_core"), 16);
	assert_int_equal(interval("cpu_atom"), 2);
	assert_true(has_note("cpu_core"));
	assert_int_equal(mux_find_left(&roots, left, 2), 0);
	end(&m);
	assert_int_equal(interval("cpu_core"), 4);
	assert_int_equal(interval("cpu_atom"), 4);
	assert_false(has_note("cpu_core"));
	assert_false(has_note("cpu_atom"));
}

static void values_of_others_stay(void **state)
{
	struct mux m;

	(void)state;
	begin(&m, "cpu_core=16");
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "20\n");
	end(&m);
	assert_int_equal(interval("cpu_core"), 20);
	assert_false(has_note("cpu_core"));
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "4\n");
}

/* In whatever order two sessions end, the value set last stays until the last of them has ended,
 * and the first one remains. */
static void two_at_once_keep_the_first(void **state)
{
	struct session other;
	struct mux m;

	(void)state;
	other = begin_other("cpu_core=8");
	begin(&m, "cpu_core=16");
	end_other(&other, false);
	assert_int_equal(interval("cpu_core"), 16);
	end(&m);
	assert_int_equal(interval("cpu_core"), 4);

	other = begin_other("cpu_core=8");
	begin(&m, "cpu_core=16");
	end(&m);
	assert_int_equal(interval("cpu_core"), 16);
	assert_true(has_note("cpu_core"));
	end_other(&other, false);
	assert_int_equal(interval("cpu_core"), 4);

	other = begin_other("cpu_core=8");
	begin(&m, "cpu_core=8");
	end(&m);
	assert_int_equal(interval("cpu_core"), 8);
	end_other(&other, false);
	assert_int_equal(interval("cpu_core"), 4);
	assert_false(has_note("cpu_core"));
}

static void who_was_killed_is_found_and_repaired(void **state)
{
	struct session other = begin_other("cpu_core=8,cpu_atom=9");
	struct error err = {0};
	struct mux_left left[4];
	char text[160];

	(void)state;
	end_other(&other, true);
	assert_int_equal(interval("cpu_core"), 8);
	assert_int_equal(mux_find_left(&roots, left, 1), 1);
	assert_int_equal(mux_find_left(&roots, left, 4), 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(left[i].pid, other.pid);
		assert_int_equal(left[i].before_ms, 4);
		assert_int_equal(mux_repair(&roots, &left[i], &err), 0);
	}
	assert_non_null(
		strstr(mux_left_text(&left[0], text, sizeof(text)), " ms, and not 4, since"));
	assert_int_equal(interval("cpu_core"), 4);
	assert_int_equal(interval("cpu_atom"), 4);
	assert_false(has_note("cpu_core"));
	assert_int_equal(mux_find_left(&roots, left, 4), 0);
	assert_int_equal(mux_repair(&roots, &left[0], &err), 0);
}

static void the_next_session_puts_back_what_was_left(void **state)
{
	struct session other = begin_other("cpu_core=8"), second;
	struct mux_left left;
	struct mux m;

	(void)state;
	end_other(&other, true);
	begin(&m, "cpu_core=16");
	assert_int_equal(mux_find_left(&roots, &left, 1), 0);
	end(&m);
	assert_int_equal(interval("cpu_core"), 4);
	assert_false(has_note("cpu_core"));

	/* One of two was killed: the end of the other one puts back the first value. */
	other = begin_other("cpu_core=8");
	second = begin_other("cpu_core=16");
	end_other(&second, true);
	assert_int_equal(interval("cpu_core"), 16);
	assert_int_equal(mux_find_left(&roots, &left, 1), 0);
	end_other(&other, false);
	assert_int_equal(interval("cpu_core"), 4);
	assert_false(has_note("cpu_core"));
}

/* The lock of a killed session goes with it, in whatever order several are killed. */
static void several_that_were_killed_are_repaired(void **state)
{
	struct session sessions[3];
	struct error err = {0};
	struct mux_left left;

	(void)state;
	for (int last = 0; last < 3; last++) {
		sessions[0] = begin_other("cpu_core=8");
		sessions[1] = begin_other("cpu_core=16");
		sessions[2] = begin_other("cpu_core=32");
		for (int i = 1; i < 3; i++) {
			end_other(&sessions[(last + i) % 3], true);
			assert_int_equal(mux_find_left(&roots, &left, 1), 0);
			left = (struct mux_left){.pmu = "cpu_core"};
			assert_int_equal(mux_repair(&roots, &left, &err), 0);
			assert_int_equal(interval("cpu_core"), 32);
		}
		end_other(&sessions[last], true);
		assert_int_equal(interval("cpu_core"), 32);
		assert_int_equal(mux_find_left(&roots, &left, 1), 1);
		assert_int_equal(left.before_ms, 4);
		assert_int_equal(left.pid, sessions[2].pid);
		assert_int_equal(mux_repair(&roots, &left, &err), 0);
		assert_int_equal(interval("cpu_core"), 4);
		assert_false(has_note("cpu_core"));
	}
}

/* Killed after it had written its note, and before it set the value: the first one is still known.
 */
static void a_note_before_its_value_is_understood(void **state)
{
	struct session other = begin_other("cpu_core=8"), second;
	struct mux_left left;
	struct mux m;

	(void)state;
	second = begin_other("cpu_core=16");
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "8\n");
	end_other(&second, true);
	end_other(&other, true);
	assert_int_equal(mux_find_left(&roots, &left, 1), 1);
	assert_int_equal(left.before_ms, 4);
	begin(&m, "cpu_core=2");
	end(&m);
	assert_int_equal(interval("cpu_core"), 4);
	assert_false(has_note("cpu_core"));
}

static void what_has_changed_since_is_no_ones(void **state)
{
	struct session other = begin_other("cpu_core=8");
	struct mux_left left;
	struct mux m;

	(void)state;
	end_other(&other, true);
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "20\n");
	assert_int_equal(mux_find_left(&roots, &left, 1), 0);
	begin(&m, "cpu_core=16");
	end(&m);
	assert_int_equal(interval("cpu_core"), 20);
	assert_false(has_note("cpu_core"));
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "4\n");
}

static void notes_of_others_are_not_believed(void **state)
{
	static const char *const bad[] = {"", "kontend mux-interval 1 a-boot 2\n4 by 1 1\n",
					  "kontend mux-interval 9 2 4 4 1\n",
					  "kontend mux-interval 2 2 4\n",
					  "kontend mux-interval 2 0 4 4 1\n"};
	char path[FILE_PATH];
	struct mux_left left;
	struct mux m;

	(void)state;
	snprintf(path, sizeof(path), "%s/mux-interval.cpu_core", notes);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		write_file("notes/mux-interval.cpu_core", bad[i]);
		assert_int_equal(mux_find_left(&roots, &left, 1), 0);
	}
	/* One that would be right, but that every user may write. */
	struct session other = begin_other("cpu_core=8");
	end_other(&other, true);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(mux_find_left(&roots, &left, 1), 0);
	write_file("devices/cpu_core/perf_event_mux_interval_ms", "4\n");
	begin(&m, "cpu_core=8");
	end(&m);
	assert_int_equal(interval("cpu_core"), 4);
}

/* Without a note nothing is set; what the kernel refuses leaves none. */
static void failures_change_nothing(void **state)
{
	const struct mux_roots nowhere = {devices, "/proc/nowhere"};
	char path[FILE_PATH];
	struct error err = {0};
	struct mux m = {0};

	(void)state;
	assert_int_equal(mux_parse(&m, "cpu_core=8", &err), 0);
	assert_int_equal(mux_open(&m, &nowhere, &err), 0);
	assert_true(mux_set(&m, &err) < 0);
	assert_non_null(strstr(err.text, "/proc/nowhere"));
	err = (struct error){0};
	assert_int_equal(mux_close(&m, &err), 0);
	assert_int_equal(interval("cpu_core"), 4);

	assert_int_equal(mux_parse(&m, "cpu_core=8", &err), 0);
	assert_int_equal(mux_open(&m, &roots, &err), 0);
	/* One that can be read only. */
	snprintf(path, sizeof(path), "%s/cpu_core/perf_event_mux_interval_ms", devices);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, m.items[0].fd), m.items[0].fd);
	close(fd);
	assert_true(mux_set(&m, &err) < 0);
	assert_non_null(strstr(err.text, "refuses 8 ms"));
	err = (struct error){0};
	assert_int_equal(mux_close(&m, &err), 0);
	assert_false(has_note("cpu_core"));
	assert_int_equal(interval("cpu_core"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_checked),
		cmocka_unit_test(only_what_rotates_is_set),
		cmocka_unit_test(it_is_put_back),
		cmocka_unit_test(values_of_others_stay),
		cmocka_unit_test(two_at_once_keep_the_first),
		cmocka_unit_test(who_was_killed_is_found_and_repaired),
		cmocka_unit_test(the_next_session_puts_back_what_was_left),
		cmocka_unit_test(several_that_were_killed_are_repaired),
		cmocka_unit_test(a_note_before_its_value_is_understood),
		cmocka_unit_test(what_has_changed_since_is_no_ones),
		cmocka_unit_test(notes_of_others_are_not_believed),
		cmocka_unit_test(failures_change_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
