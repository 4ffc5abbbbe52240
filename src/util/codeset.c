// SPDX-License-Identifier: GPL-2.0-only
/*
 * The environment may ask for a locale that this machine lacks, as when ssh passes it on, or in a
 * root file system without locales. If it is a UTF-8 locale, the terminal uses UTF-8, too.
 */
#include "kontend/codeset.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first variable that is set decides, as in setlocale(). */
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
	/* Other codesets need modules of this machine's libc, which may differ from the one linked
	 * in. */
	if (!codeset_is_utf8())
		setlocale(LC_CTYPE, "C");
#endif
}
