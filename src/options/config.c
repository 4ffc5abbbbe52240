// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the configuration: that of --config, else that of the user, if there is one. Recordings
 * contain none: the reader's configuration applies.
 */
#include "config.h"
#include "kontend/config.h"
#include "kontend/mem.h"
#include "kontend/ownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_symbols(struct options_config *c, const struct config_line *l, struct error *err)
{
	if (strcmp(l->key, "cache") != 0)
		return error_set(err, -EINVAL,
				 "there is no setting '%s' in [symbols], only 'cache'", l->key);
	if (strcmp(l->value, "yes") != 0 && strcmp(l->value, "no") != 0)
		return error_set(err, -EINVAL, "cache: give yes or no");
	c->no_symbol_cache = l->value[0] == 'n';
	return 0;
}

static int take_columns(struct query_columns *c, const struct config_line *l, struct error *err)
{
	if (query_columns_find(c, l->key))
		return error_set(err, -EINVAL, "the columns of '%s' have been set before", l->key);
	return query_columns_set(c, l->key, l->value, err);
}

static int take_line(void *ctx, const struct config_line *l, struct error *err)
{
	struct options_config *c = ctx;

	if (strcmp(l->section, "groups") == 0)
		return pathgroup_add(&c->groups, l->key, l->value, err);
	if (strcmp(l->section, "symbols") == 0)
		return take_symbols(c, l, err);
	if (strcmp(l->section, "columns") == 0)
		return take_columns(&c->columns, l, err);
	if (settings_section(l->section) < 0)
		return error_set(err, -EINVAL,
				 "there is no section [%s]: there are [groups], [symbols], "
				 "[columns], [options], and those of verbs, like [report]",
				 l->section);
	int r = settings_add(&c->settings, l, err);
	return r < 0 ? r : options_check_value(l, err);
}

static void take_warning(void *ctx, const struct error *why)
{
	struct options_config *c = ctx;

	if (!c->n_warnings++)
		c->warning = *why;
}

/* "" without a home. */
static void find_file(char *ret, size_t size)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		snprintf(ret, size, "%s/kontend/config", base);
	else if (home && *home)
		snprintf(ret, size, "%s/.config/kontend/config", home);
	else
		*ret = '\0';
}

static int read_file(FILE *f, struct options_config *c, struct error *err)
{
	const struct config_reader reader = {take_line, c, "columns", take_warning};
	static const char too_long[] = "'%s' is not a configuration: it has more than %d bytes";
	char *text = mem_calloc(1, CONFIG_BYTES + 1);
	size_t n = text ? fread(text, 1, CONFIG_BYTES + 1, f) : 0;
	int r;

	if (!text)
		r = error_enomem(err, "reading '%s'", c->path);
	else if (ferror(f))
		r = error_errno(err, -EIO, "Cannot read the configuration '%s'", c->path);
	else if (n > CONFIG_BYTES)
		r = error_set(err, -EINVAL, too_long, c->path, CONFIG_BYTES);
	else
		r = config_parse(text, n, c->path, &reader, err);
	mem_free(text);
	return r;
}

/*
 * After su or sudo, HOME may belong to another user, whose files this user may not, or should not,
 * read.
 */
static bool is_missing(struct options_config *c, int code)
{
	bool refused = code == -EACCES || code == -EPERM || code == -EINVAL;

	if (refused)
		error_set(&c->refused, code, "the configuration '%s' is ignored: %s", c->path,
			  ownfile_reason(code));
	return refused || code == -ENOENT || code == -ENOTDIR;
}

/* A FIFO would block its reader, so only regular files are opened. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	int code = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (code == 0)
		return fd;
	close(fd);
	return code;
}

/* A named file may be a pipe, except for a service, which reads it again. */
static int open_named(const struct opts *o, const char *path)
{
	if (o->config_again)
		return open_regular(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static FILE *open_config(const struct opts *o, const char *path, int *ret_code)
{
	int fd = o->config ? open_named(o, path) : ownfile_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	*ret_code = f ? 0 : fd >= 0 ? -errno : fd;
	if (!f && fd >= 0)
		close(fd);
	return f;
}

int options_config_read(struct opts *o, struct options_config *ret, struct error *err)
{
	FILE *f;
	int r;

	*ret = (struct options_config){0};
	if (o->no_config)
		return 0;
	if (o->config)
		snprintf(ret->path, sizeof(ret->path), "%s", o->config);
	else
		find_file(ret->path, sizeof(ret->path));
	if (!*ret->path)
		return 0;
	o->config_path = ret->path;
	f = open_config(o, ret->path, &r);
	if (!f && !o->config && is_missing(ret, r)) {
		o->config_absent = true;
		return 0;
	}
	if (!f && r == -EINVAL)
		return error_set(err, r, "Cannot read the configuration '%s': %s", ret->path,
				 ownfile_reason(r));
	if (!f)
		return error_errno(err, r, "Cannot read the configuration '%s'", ret->path);
	r = read_file(f, ret, err);
	fclose(f);
	if (r < 0)
		return r;
	o->groups = &ret->groups;
	o->columns = &ret->columns;
	o->no_symbol_cache |= ret->no_symbol_cache;
	options_apply(&ret->settings, o);
	return 0;
}
