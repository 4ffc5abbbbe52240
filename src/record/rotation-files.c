// SPDX-License-Identifier: GPL-2.0-only
/* Earlier parts of a recording. No other files are ever removed. */
#include "rotation-files.h"
#include "kontend/mem.h"
#include "path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void remove_oldest(struct record_parts *p)
{
	if (!p->keep || p->n <= p->keep)
		return;
	output_remove(p->list[0].name, &p->list[0].file);
	mem_free(p->list[0].name);
	p->n--;
	p->removed++;
	memmove(p->list, p->list + 1, p->n * sizeof(*p->list));
}

/* The name may be taken by another file in between. */
static int give_name(const char *path, char **ret, struct error *err)
{
	int r;

	do {
		char *name = record_path_part(path);

		if (!name)
			return error_set(err, -ENOMEM, "No memory for the recording");
		r = output_rename(path, name);
		if (r == 0)
			*ret = name;
		else if (r != -EEXIST)
			error_errno(err, r, "Cannot rename the file '%s' to '%s'", path, name);
		if (r < 0)
			mem_free(name);
	} while (r == -EEXIST);
	return r;
}

int record_parts_add(struct record_parts *p, const char *path, const struct output_file *file,
		     struct error *err)
{
	char *name = NULL;

	if (mem_grow(&p->list, &p->cap, p->n, sizeof(*p->list)))
		return error_set(err, -ENOMEM, "No memory for the recording");
	int r = place_has(path, file) ? give_name(path, &name, err) : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	p->finished++;
	if (r < 0)
		return 0;
	p->list[p->n++] = (struct record_part){name, *file};
	remove_oldest(p);
	return 0;
}

void record_parts_text(const struct record_parts *p, char *buf, size_t size)
{
	char gone[48] = "";

	if (p->removed)
		snprintf(gone, sizeof(gone), " (%u older ones were removed)", p->removed);
	if (p->finished)
		snprintf(buf, size, " and %u files before it%s", p->finished - p->removed, gone);
	else
		buf[0] = '\0';
}

void record_parts_deinit(struct record_parts *p)
{
	for (size_t i = 0; i < p->n; i++)
		mem_free(p->list[i].name);
	mem_free(p->list);
	*p = (struct record_parts){0};
}
