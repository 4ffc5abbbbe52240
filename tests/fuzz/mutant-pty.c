// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend replay` of damaged recordings on a pseudo terminal: each view, rows and the pages below
 * them, back and forth in time. Whatever the file has, `q` ends it with the terminal as it was.
 * Called as: mutant-pty KONTEND FILE...
 */
#include "session.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { PAUSE_MS = 20 };

static const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};

static void press(struct session *s)
{
	static const char *const keys[] = {
		"1", "j", "\r", "\033", "2",	"\r", "\033", "3", "4", "\r", "\033", "5", "6",
		"7", "8", "9",	"\r",	"\033", "0",  "h",    "l", " ", ">",  "<",    "s", "\033"};
	const struct timespec pause = {0, PAUSE_MS * 1000000L};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		session_send(s, keys[i]);
		nanosleep(&pause, NULL);
		session_drain(s);
		session_forget(s);
	}
}

/* False: it died, or left the terminal in another state. */
static bool replay(const char *program, const char *file)
{
	char *argv[] = {(char *)(uintptr_t)program, (char[]){"replay"}, (char *)(uintptr_t)file,
			NULL};
	struct session s;

	session_start(&s, argv, env);
	press(&s);
	session_send(&s, "\033q");
	int status = session_wait(&s);
	bool good = WIFEXITED(status) && session_restored(&s);
	if (!good)
		printf("FAIL %s: status %#x\n", file, (unsigned)status);
	session_end(&s);
	return good;
}

int main(int argc, char **argv)
{
	int bad = 0;

	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++)
		bad += !replay(argv[1], argv[i]);
	printf("%d recordings replayed\n", argc - 2);
	return bad ? 1 : 0;
}
