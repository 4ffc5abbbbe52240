// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine may know nothing of the locale that the environment asks for, as where it was handed on
 * by ssh, or in a root file system with no locales at all. If it is one of UTF-8, the terminal is
 * one, too.
 */
#include "kontend/codeset.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first one that is set decides, as in setlocale(). */
static bool is_utf8_wanted(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL, *codeset;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && (!value || !*value); i++)
		value = getenv(names[i]);
	codeset = value ? strchr(value, '.') : NULL;
	return codeset && (!strncasecmp(codeset, ".utf-8", 6) || !strncasecmp(codeset, ".utf8", 5));
}

bool codeset_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void codeset_set(void)
{
	if (!setlocale(LC_CTYPE, "") && is_utf8_wanted())
		setlocale(LC_CTYPE, "C.UTF-8");
#ifdef KONTEND_PORTABLE
	/* Other codesets are modules of this machine's libc, and ours may be another one. */
	if (!codeset_is_utf8())
		setlocale(LC_CTYPE, "C");
#endif
}
