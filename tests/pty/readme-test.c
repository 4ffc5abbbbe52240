// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screens in README.md and in manual pages match the program's screens. Before each there is a
 * comment like
 *     <!-- screen 100x24 at 0:12.5 keys 3\r -->
 *     .\" screen 100x24 at 0:12.5 keys 3\r
 * with the size, the moment of the bundled recording, and the keys that lead there. "of FILE"
 * after that names another recording, by its path from the page. Called as: readme-test KONTEND
 * RECORDING PAGE SCREENS, which is how many there are at least; with UPDATE=1 the page gets today's
 * screens.
 */
#include "session.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SCREEN "%dx%d at %15s keys %63s of %127s"

enum { MOST = 1 << 16 };

/* The position of a picture: after a mark, between the lines that begin and end it. */
static const struct form {
	const char *mark, *begin, *end;
} markdown = {"<!-- screen ", "\n```\n", "```\n"},
  mdoc = {".\\\" screen ", "\n.Bd -literal\n", ".Ed\n"};

static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "TZ=UTC",
				  NULL};
static char program[PATH_MAX], recording[PATH_MAX], readme[PATH_MAX];
static const struct form *form;
static int least;

struct picture {
	int columns, rows;
	char time[16], keys[64], file[128]; /* "": the bundled recording */
	const char *begin, *end;	    /* within the page */
};

static char *whole_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, MOST);

	if (!f || !text)
		fail_msg("%s: cannot be read", path);
	size_t n = fread(text, 1, MOST - 1, f);
	assert_true(n > 0 && n < MOST - 1);
	fclose(f);
	return text;
}

/* `\r` as the two characters that a reader of the page sees is the key. */
static void unescape(char *keys)
{
	char *to = keys;

	for (const char *from = keys; *from; from++)
		if (from[0] == '\\' && from[1] == 'r') {
			*to++ = '\r';
			from++;
		} else {
			*to++ = *from;
		}
	*to = 0;
}

/* The next one after @at; false: there is none. */
static bool next_picture(const char *at, struct picture *p)
{
	const char *mark = strstr(at, form->mark);

	if (!mark)
		return false;
	*p->file = '\0';
	if (sscanf(mark + strlen(form->mark), SCREEN, &p->columns, &p->rows, p->time, p->keys,
		   p->file) < 4)
		fail_msg("%s: %.60s", readme, mark);
	unescape(p->keys);
	p->begin = strstr(mark, form->begin);
	assert_non_null(p->begin);
	p->begin += strlen(form->begin);
	p->end = strstr(p->begin, form->end);
	assert_non_null(p->end);
	return true;
}

/* The screen as its own command `save` writes it: in the folder that the program was started in. */
static char *saved(struct session *s)
{
	static const char path[] = "screen";
	struct stat st;

	session_forget(s);
	session_send(s, ":save screen\r");
	for (int tries = 0; stat(path, &st) < 0; tries++) {
		if (tries == 6000)
			fail_msg("nothing was saved: %.*s", (int)s->len, s->out);
		session_drain(s);
		usleep(10000);
	}
	char *text = whole_file(path);
	assert_int_equal(unlink(path), 0);
	return text;
}

/* Goes to the moment; a recording is read on its way there, while keys are taken. */
static void go(struct session *s, const struct picture *p)
{
	char keys[32], there[32];

	snprintf(keys, sizeof(keys), "@%s1\r", p->time); /* in the step that begins there */
	snprintf(there, sizeof(there), "+%s of", p->time);
	session_send(s, keys);
	for (bool is_there = false; !is_there;) {
		char *text = saved(s);

		is_there = strstr(text, there) != NULL;
		free(text);
	}
}

static void find_recording(const struct picture *p, char ret[PATH_MAX])
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s", recording);
	if (*p->file)
		snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(readme, '/') - readme),
			 readme, p->file);
	if (!realpath(path, ret))
		fail_msg("there is no recording %s", path);
}

/* The program's screen there. */
static char *shown(const struct picture *p)
{
	char dir[] = "/tmp/kontend-readme-XXXXXX", file[PATH_MAX];
	char *argv[] = {program, (char[]){"replay"}, file, NULL};
	struct session s;

	find_recording(p, file);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	session_start(&s, argv, env);
	session_expect(&s, "▶");
	session_resize(&s, p->rows, p->columns);
	session_send(&s, " ");
	session_expect(&s, "PAUSED");
	go(&s, p);
	session_send(&s, p->keys);
	char *text = saved(&s);
	session_send(&s, "q");
	session_wait(&s);
	session_end(&s);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(dir), 0);
	return text;
}

static void test_screens(void **state)
{
	char *page = whole_file(readme);
	const char *at = page;
	struct picture p;
	int n = 0;

	(void)state;
	for (; next_picture(at, &p); at = p.end, n++) {
		char *text = shown(&p);
		size_t len = (size_t)(p.end - p.begin);

		if (strlen(text) != len || memcmp(text, p.begin, len) != 0)
			fail_msg("%s, screen %d (keys %s): the program shows\n%s\nnot\n%.*s",
				 readme, n + 1, p.keys, text, (int)len, p.begin);
		free(text);
	}
	assert_true(n >= least);
	free(page);
}

static int update(void)
{
	char *page = whole_file(readme), *fresh = NULL;
	const char *at = page;
	size_t len = 0;
	FILE *f = open_memstream(&fresh, &len);
	struct picture p;

	assert_non_null(f);
	for (; next_picture(at, &p); at = p.end) {
		char *text = shown(&p);

		fwrite(at, 1, (size_t)(p.begin - at), f);
		fputs(text, f);
		free(text);
	}
	fputs(at, f);
	assert_int_equal(fclose(f), 0);
	f = fopen(readme, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(fresh, 1, len, f), len);
	free(fresh);
	free(page);
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_screens)};
	const char *wish = getenv("UPDATE");

	if (argc != 5 || !realpath(argv[1], program) || !realpath(argv[2], recording) ||
	    !realpath(argv[3], readme))
		return 2;
	form = strstr(readme, ".md") ? &markdown : &mdoc;
	least = atoi(argv[4]);
	if (wish && *wish == '1')
		return update();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
