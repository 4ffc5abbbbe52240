// SPDX-License-Identifier: GPL-2.0-only
/*
 * screen-test NAME.script: plays the script at 80x24, 40x12 and 200x60 (once, if it sets its size
 * itself) and compares all dumps with NAME.golden beside it. UPDATE=1 rewrites that. It works in a
 * directory of its own, since `P` writes files.
 */
#include "script.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	int w, h;
} sizes[] = {{80, 24}, {40, 12}, {200, 60}};

static char *read_all(FILE *f)
{
	size_t cap = 1 << 20, len;
	char *text = malloc(cap);

	if (!text)
		abort();
	rewind(f);
	len = fread(text, 1, cap - 1, f);
	text[len] = '\0';
	return text;
}

/* The first line that differs, with both versions. */
static void explain(const char *golden, const char *got)
{
	for (int line = 1; *golden || *got; line++) {
		size_t a = strcspn(golden, "\n"), b = strcspn(got, "\n");

		if (a != b || memcmp(golden, got, a) != 0) {
			fprintf(stderr, "line %d:\n-%.*s\n+%.*s\n", line, (int)a, golden, (int)b,
				got);
			return;
		}
		golden += a + (golden[a] == '\n');
		got += b + (got[b] == '\n');
	}
}

static int compare(const char *golden_path, const char *got)
{
	FILE *f = fopen(golden_path, "r");
	char *golden;
	int r;

	if (!f) {
		fprintf(stderr, "%s: %s (UPDATE=1 writes it)\n", golden_path, strerror(errno));
		return 1;
	}
	golden = read_all(f);
	fclose(f);
	r = strcmp(golden, got) != 0;
	if (r) {
		fprintf(stderr, "%s: the screens differ (UPDATE=1 rewrites)\n", golden_path);
		explain(golden, got);
		printf("%s", got);
	}
	free(golden);
	return r;
}

static int update(const char *golden_path, const char *got)
{
	FILE *f = fopen(golden_path, "w");

	if (!f || fputs(got, f) < 0) {
		fprintf(stderr, "%s: %s\n", golden_path, strerror(errno));
		return 1;
	}
	return fclose(f) != 0;
}

static int play_all(const char *script, FILE *out)
{
	if (script_has_size(script))
		return script_play(script, 80, 24, out);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (script_play(script, sizes[i].w, sizes[i].h, out))
			return 1;
	return 0;
}

static void clean(const char *dir)
{
	glob_t saved;

	if (glob("kontend-*", 0, NULL, &saved) == 0) {
		for (size_t i = 0; i < saved.gl_pathc; i++)
			unlink(saved.gl_pathv[i]);
		globfree(&saved);
	}
	if (chdir("/") == 0)
		rmdir(dir);
}

int main(int argc, char **argv)
{
	char script[PATH_MAX], golden[PATH_MAX], dir[] = "/tmp/kontend-screen-XXXXXX";
	FILE *out = tmpfile();
	const char *want = getenv("UPDATE");
	char *dot, *got;
	int r;

	if (argc != 2 || !realpath(argv[1], script) || !out || !mkdtemp(dir) || chdir(dir) < 0) {
		fprintf(stderr, "usage: screen-test NAME.script\n");
		return 2;
	}
	snprintf(golden, sizeof(golden), "%s", script);
	dot = strrchr(golden, '.');
	if (dot)
		snprintf(dot, sizeof(golden) - (size_t)(dot - golden), ".golden");
	setenv("TZ", "UTC", 1);
	r = play_all(script, out);
	got = read_all(out);
	if (!r)
		r = want && *want ? update(golden, got) : compare(golden, got);
	free(got);
	fclose(out);
	clean(dir);
	return r;
}
