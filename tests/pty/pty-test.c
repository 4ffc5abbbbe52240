// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program on a pseudo terminal: it takes keys and a new size, and gives the terminal back on
 * each way out of it. "Given back" is two facts: the modes are those from before, and the sequences
 * that leave the alternate screen and switch the mouse off were written.
 */
#include "session.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ENTER_SCREEN "\033[?1049h"
#define LEAVE_SCREEN "\033[?1049l"
#define KEYPAD_ON "\033[?1h\033="
#define MOUSE_OFF "1000l"
#define FRAMES_ASKED "\033[?2026$p"
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"
#define ORANGE_OR_ANY_COLOUR "\033[38;5;"

static const char *program;
static bool is_live;

static const char *const plain[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "STY",
				    NULL};

static void start_with(struct session *s, const char *const *env)
{
	char path[4096], *argv[] = {path, NULL};

	assert_true(strlen(program) < sizeof(path));
	strcpy(path, program);
	session_start(s, argv, env);
}

static void start(struct session *s)
{
	start_with(s, plain);
	session_expect(s, ENTER_SCREEN);
	session_expect(s, "kontend");
	session_expect(s, "help"); /* the key bar: the frame is whole */
	assert_false(session_restored(s));
}

static void assert_given_back(struct session *s)
{
	assert_true(session_has(s, LEAVE_SCREEN));
	assert_true(session_has(s, MOUSE_OFF));
	assert_true(session_restored(s));
}

static void assert_exit(struct session *s, int code)
{
	int status = session_wait(s);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

/* The screen appears before anything is measured, shows that, and ends with a signal. */
static void test_first_frame(void **state)
{
	char path[4096], verb[] = "live", after[] = "--start-after", time[] = "10m";
	char *argv[] = {path, verb, after, time, NULL};
	struct session s;

	(void)state;
	if (!is_live)
		skip();
	assert_true(strlen(program) < sizeof(path));
	strcpy(path, program);
	session_start(&s, argv, plain);
	session_expect(&s, "Waiting for the time that --start-after gives");
	session_expect(&s, "help");
	assert_false(session_has(&s, "ev/s"));
	assert_false(session_has(&s, "no contention"));
	session_send(&s, "\003");
	assert_exit(&s, 128 + SIGINT);
	assert_given_back(&s);
	session_end(&s);
}

static void test_quit_key(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_given_back(&s);
	session_end(&s);
}

static void test_keys_change_the_screen(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_forget(&s);
	session_send(&s, "2/rwsem\r");
	session_expect(&s, "ilter"); /* its f may have been there: "f flame" */
	session_forget(&s);
	session_send(&s, ":nonsense\r");
	session_expect(&s, "No command is called");
	/* Esc alone is no beginning of something longer: it takes the filter away, the next quits.
	 */
	session_send(&s, "\033");
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_given_back(&s);
	session_end(&s);
}

static void test_arrow_and_mouse_sequences(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	/* A click on "2" of the key bar, in the form of SGR mouse reports. */
	session_send(&s, "\033[<0;8;24M\033[<0;8;24m");
	session_expect(&s, "by ");
	session_forget(&s);
	session_send(&s, "\033OB\033[<65;10;10M");
	session_expect(&s, "›");
	session_send(&s, "\033[21~"); /* F10 */
	assert_exit(&s, 0);
	assert_given_back(&s);
	session_end(&s);
}

/* Each form comes in two packets, and in a third after one that ends early. */
static void test_mouse_reports_in_parts(void **state)
{
	static const struct {
		const char *term, *parts[4];
	} cases[] = {
		{"TERM=xterm-256color", {"\033[<0;", "8;24", "M", "\033[<0;8;24m"}},
		{"TERM=xterm-256color", {"\033[<0;8", "\033[<0;8;24M", "", ""}},
		{"TERM=screen", {"\033[M ", "(", "8", ""}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const env[] = {cases[i].term, "LC_ALL=C.UTF-8", "NO_COLOR", "STY",
					   NULL};
		struct session s;

		start_with(&s, env);
		session_expect(&s, "help");
		session_forget(&s);
		for (size_t k = 0; k < 4; k++) {
			session_send(&s, cases[i].parts[k]);
			session_wait_taken(&s);
		}
		session_expect(&s, "by "); /* "2" of the key bar */
		session_send(&s, "q");
		assert_exit(&s, 0);
		session_end(&s);
	}
}

static size_t count(const struct session *s, const char *text)
{
	size_t n = 0;

	for (const char *p = s->out;
	     (p = memmem(p, (size_t)(s->out + s->len - p), text, strlen(text))) != NULL; p++)
		n++;
	return n;
}

/* Each frame as a whole, once the terminal has answered that it supports that. */
static void test_frames_at_once(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	assert_true(session_has(&s, FRAMES_ASKED));
	assert_false(session_has(&s, FRAME_BEGIN));
	session_send(&s, "\033[?2026;2$y");
	session_wait_taken(&s);
	session_drain(&s);
	session_forget(&s);
	session_send(&s, "2");
	session_expect(&s, FRAME_END);
	session_expect(&s, "by ");
	session_resize(&s, 30, 100);
	session_expect(&s, "help");
	session_expect(&s, FRAME_END);
	assert_memory_equal(s.out, FRAME_BEGIN, strlen(FRAME_BEGIN));
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_int_equal(count(&s, FRAME_BEGIN), count(&s, FRAME_END)); /* none is under way */
	assert_given_back(&s);
	session_end(&s);
}

/*
 * Copied text comes within a frame, in the form that terminals take for the clipboard: base64 in
 * OSC 52. The test does not know which lock is the worst just now.
 */
static void test_copy(void **state)
{
	static const struct {
		const char *said, *copied;
	} kinds[] = {
		{"copied: rwsem:", "\033]52;c;cndzZW06"},
		{"copied: spinlock", "\033]52;c;c3BpbmxvY2"},
		{"copied: mutex", "\033]52;c;bXV0ZX"},
		{"copied: rwlock:", "\033]52;c;cndsb2NrO"},
		{"copied: pcpu-sem:", "\033]52;c;cGNwdS1zZW06"},
	};
	bool same = false;
	struct session s;

	(void)state;
	start(&s);
	session_expect(&s, "spinlock"); /* there are rows */
	session_send(&s, "\033[?2026;2$y");
	session_wait_taken(&s);
	session_send(&s, "2");
	session_expect(&s, "by ");
	session_forget(&s);
	session_send(&s, "y");
	session_expect(&s, "copied: ");
	session_expect(&s, FRAME_END);
	assert_true(session_has(&s, FRAME_BEGIN));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		same |= session_has(&s, kinds[i].said) && session_has(&s, kinds[i].copied);
	assert_true(same);
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

static void test_no_clipboard(void **state)
{
	static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR",
					  "STY=12.host",	 "TMUX",	   NULL};
	struct session s;

	(void)state;
	start_with(&s, env);
	session_expect(&s, "spinlock");
	session_send(&s, "2");
	session_expect(&s, "by ");
	session_send(&s, "y");
	session_expect(&s, "terminal is not known to have a clipboard");
	assert_false(session_has(&s, "\033]52;"));
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

/* A terminal that answers no, or does not answer; neither answer is taken for keys. */
static void test_frames_as_they_come(void **state)
{
	static const char *const answers[] = {"\033[?2026;0$y", "\033[?2026;4$y", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct session s;

		start(&s);
		session_send(&s, answers[i]);
		session_wait_taken(&s);
		session_forget(&s);
		session_send(&s, ":nonsense\r"); /* would be no command in a prompt */
		session_expect(&s, "No command is called 'nonsense'");
		session_send(&s, "q");
		assert_exit(&s, 0);
		assert_false(session_has(&s, FRAME_BEGIN));
		assert_false(session_has(&s, FRAME_END));
		session_end(&s);
	}
}

/* It knows no mouse, and would show a part of the question. */
static void test_old_terminal_is_not_asked(void **state)
{
	static const char *const env[] = {"TERM=vt100", "LC_ALL=C.UTF-8", "NO_COLOR", NULL};
	struct session s;

	(void)state;
	start_with(&s, env);
	session_expect(&s, "help");
	assert_false(session_has(&s, FRAMES_ASKED));
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

static void test_resize(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_resize(&s, 10, 50);
	session_expect(&s, "kontend needs 60 x 15, this is 50 x 10");
	session_forget(&s);
	session_resize(&s, 40, 120);
	session_expect(&s, "\033[1;40r"); /* all of it scrolls */
	session_expect(&s, "help");
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

static void end_by_signal(int sig)
{
	struct session s;

	start(&s);
	kill(s.program, sig);
	assert_exit(&s, 128 + sig);
	assert_given_back(&s);
	session_end(&s);
}

/* Input from the terminal may stop anywhere: one signal ends the screen all the same. */
static void test_one_signal_ends_after_part_of_a_key(void **state)
{
	static const char *const parts[] = {"\033",	  "\033[",     "\033O",	      "\033[<",
					    "\033[<0",	  "\033[<0;1", "\033[<0;1;1", "\033[M",
					    "\033[M ",	  "\033[M  ",  "\033[?2026",  "\033[1;2",
					    "\033[200~a", "\xc3",      "/\033[<"};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	static const char *const terms[] = {"TERM=xterm-256color", "TERM=screen"};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(parts) / sizeof(*parts); i++) {
		const char *const env[] = {terms[i % 2], "LC_ALL=C.UTF-8", "NO_COLOR", "STY", NULL};
		int sig = signals[i % 3];
		struct session s;

		start_with(&s, env);
		session_expect(&s, "help");
		session_send(&s, parts[i / 2]);
		session_wait_taken(&s);
		kill(s.program, sig);
		assert_exit(&s, 128 + sig);
		assert_given_back(&s);
		session_end(&s);
	}
}

static void test_polite_signals(void **state)
{
	(void)state;
	end_by_signal(SIGTERM);
	end_by_signal(SIGINT);
	end_by_signal(SIGHUP);
	end_by_signal(SIGQUIT);
}

static void test_interrupt_key(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	session_send(&s, "\003");
	assert_exit(&s, 128 + SIGINT);
	assert_given_back(&s);
	session_end(&s);
}

static void crash_by(int sig)
{
	struct session s;
	int status;

	start(&s);
	kill(s.program, sig);
	status = session_wait(&s);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), sig);
	assert_given_back(&s);
	session_end(&s);
}

static void test_crashes(void **state)
{
	(void)state;
	crash_by(SIGSEGV);
	crash_by(SIGABRT);
	crash_by(SIGBUS);
	crash_by(SIGFPE);
	crash_by(SIGILL);
}

/* Every signal whose default action ends a process gives the terminal back first. */
static void test_ending_signals(void **state)
{
	static const int signals[] = {SIGTRAP,	 SIGSYS,  SIGIO,  SIGSTKFLT, SIGPROF,
				      SIGVTALRM, SIGXCPU, SIGPWR, SIGUSR1,   SIGALRM};

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		crash_by(signals[i]);
	crash_by(SIGRTMIN);
	crash_by(SIGRTMAX);
}

static void stop_and_continue(const char *key, int sig)
{
	struct session s;
	int status;

	start(&s);
	if (key)
		session_send(&s, key);
	else
		kill(s.program, sig);
	status = session_wait(&s);
	assert_true(WIFSTOPPED(status));
	assert_given_back(&s);
	session_forget(&s);
	session_continue(&s);
	session_expect(&s, KEYPAD_ON); /* else arrow keys would mean something else */
	session_expect(&s, ENTER_SCREEN);
	session_expect(&s, "help");
	assert_false(session_restored(&s));
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_given_back(&s);
	session_end(&s);
}

static void test_stop_and_continue(void **state)
{
	(void)state;
	stop_and_continue("\032", 0);
	stop_and_continue(NULL, SIGTSTP);
}

/* The terminal goes away without a word: the program must not go on without end. */
static void test_hangup(void **state)
{
	struct session s;
	char byte;

	(void)state;
	start(&s);
	close(s.slave);
	close(s.master);
	/* The status pipe closes when the shell has ended; the program then has no parent of ours.
	 */
	while (read(s.status_fd, &byte, 1) > 0)
		continue;
	for (int i = 0; i < 6000 && kill(s.program, 0) == 0; i++)
		usleep(10000);
	assert_int_not_equal(kill(s.program, 0), 0);
	close(s.control_fd);
	close(s.status_fd);
	waitpid(s.shell, NULL, 0);
	free(s.out);
}

static void refused(const char *const *env, const char *sentence)
{
	struct session s;

	start_with(&s, env);
	assert_exit(&s, 1);
	assert_true(session_has(&s, sentence));
	assert_false(session_has(&s, ENTER_SCREEN));
	assert_true(session_restored(&s));
	session_end(&s);
}

static void test_unusable_terminals(void **state)
{
	static const char *const dumb[] = {"TERM=dumb", NULL};
	static const char *const unknown[] = {"TERM=no-such-terminal", NULL};
	static const char *const unset[] = {"TERM", NULL};

	(void)state;
	refused(dumb, "TERM=dumb cannot");
	refused(unknown, "TERM=no-such-terminal is");
	refused(unset, "TERM is not set");
}

static void test_colours(void **state)
{
	static const char *const no_color[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
					       "NO_COLOR=1", NULL};
	static const char *const empty[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
					    "NO_COLOR=", NULL};
	struct session s;

	(void)state;
	start(&s);
	assert_true(session_has(&s, ORANGE_OR_ANY_COLOUR));
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);

	start_with(&s, no_color);
	session_expect(&s, "help");
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_false(session_has(&s, ORANGE_OR_ANY_COLOUR));
	session_end(&s);

	start_with(&s, empty);
	session_expect(&s, ORANGE_OR_ANY_COLOUR);
	session_expect(&s, "help");
	session_send(&s, "q");
	assert_exit(&s, 0);
	session_end(&s);
}

static void test_few_colours_and_no_utf8(void **state)
{
	static const char *const vt[] = {"TERM=vt100", "LC_ALL=C", NULL};
	/* On the console curses asks libgpm for the mouse, which leaks a few bytes. */
	static const char *const lnx[] = {"TERM=linux", "ASAN_OPTIONS=detect_leaks=0",
					  "LC_ALL=C.UTF-8", "NO_COLOR", NULL};
	struct session s;

	(void)state;
	start_with(&s, vt);
	session_expect(&s, "help");
	for (size_t i = 0; i < s.len; i++)
		assert_in_range((unsigned char)s.out[i], 0, 0x7f);
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_true(session_restored(&s));
	session_end(&s);

	start_with(&s, lnx);
	session_expect(&s, "help");
	session_send(&s, "q");
	assert_exit(&s, 0);
	assert_true(session_restored(&s));
	session_end(&s);
}

static bool can_measure(void)
{
	char command[4200];

	snprintf(command, sizeof(command), "'%s' doctor >/dev/null 2>&1", program);
	return system(command) == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_frame),
		cmocka_unit_test(test_quit_key),
		cmocka_unit_test(test_keys_change_the_screen),
		cmocka_unit_test(test_arrow_and_mouse_sequences),
		cmocka_unit_test(test_mouse_reports_in_parts),
		cmocka_unit_test(test_frames_at_once),
		cmocka_unit_test(test_frames_as_they_come),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_no_clipboard),
		cmocka_unit_test(test_old_terminal_is_not_asked),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_one_signal_ends_after_part_of_a_key),
		cmocka_unit_test(test_polite_signals),
		cmocka_unit_test(test_interrupt_key),
		cmocka_unit_test(test_crashes),
		cmocka_unit_test(test_ending_signals),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_hangup),
		cmocka_unit_test(test_unusable_terminals),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_few_colours_and_no_utf8),
	};

	if (argc < 2)
		return 2;
	program = argv[1];
	is_live = argc > 2 && !strcmp(argv[2], "live");
	if (is_live && !can_measure()) {
		printf("skipped: `kontend doctor` says that this user cannot measure here\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
