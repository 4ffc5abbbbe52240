// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only part of the configuration that kontend itself writes. The file is read again first, as
 * the user may have edited it since the start.
 */
#include "kontend/config.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/ownfile.h"
#include "kontend/query-columns.h"
#include "kontend/settings.h"

#include <errno.h>
#include <unistd.h>

enum { FOLDERS = 2 /* ~/.config/kontend */ };

static int read_text(const char *path, char **ret_text, size_t *ret_len)
{
	int fd = ownfile_open(path);

	*ret_text = NULL;
	*ret_len = 0;
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int code = fdio_read_rest(fd, ret_text, ret_len);
	close(fd);
	return code;
}

static int edit(const char *path, const struct config_line *l, const char *text, size_t len)
{
	char *edited = mem_calloc(1, CONFIG_BYTES);
	size_t n;
	int code =
		edited ? config_edit(text ? text : "", len, l, edited, CONFIG_BYTES, &n) : -ENOMEM;

	if (code == 0)
		code = ownfile_replace(path, FOLDERS, edited, n);
	mem_free(edited);
	return code;
}

int settings_keep_columns(const char *path, const char *table, const char *keys, struct error *err)
{
	const struct config_line l = {"columns", table, keys};
	struct query_columns check = {0};
	size_t len;
	char *text;

	if (keys && !*keys)
		return error_set(err, -EINVAL, "Cannot write '%s': no column of '%s' is chosen",
				 path, table);
	/* An invalid line would prevent every verb from starting. */
	if (keys && query_columns_set(&check, table, keys, err) < 0)
		return -EINVAL;
	int code = read_text(path, &text, &len);

	if (code == 0)
		code = edit(path, &l, text, len);
	mem_free(text);
	if (code < 0)
		return error_set(err, code, "Cannot write '%s': %s", path, ownfile_reason(code));
	return 0;
}
