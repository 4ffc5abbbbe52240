// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the files of the model's mappings are found, for the names of functions and for unwinding: by
 * the build id if the mapping or the recording has it, else by the inode, if the events are from
 * this boot.
 */
#include "engine-int.h"
#include "kontend/buildids.h"
#include "kontend/pidns.h"
#include "kontend/profile.h"
#include "kontend/snapshot.h"
#include "kontend/srclines.h"
#include "kontend/thisboot.h"
#include "kontend/when.h"

#include <string.h>

struct usersyms_config engine_files(const struct engine *e, const struct model *m)
{
	const struct record_host *h = m->host;

	return (struct usersyms_config){.same_machine =
						thisboot_saw(h->release, h->wall_ns, h->clock_ns) &&
						pidns_is_ours(h->method),
					.trust_paths = e->trust_paths,
					.symfs = e->symfs,
					.door = e->lines ? e->lines->door : NULL};
}

/* A mapping from before the measurement has no time: the file was not changed since its start. */
static uint64_t mapped_wall_ns(const struct model *m, const struct map_object *o)
{
	const struct when w = {.clock_ns = m->host->clock_ns, .wall_ns = m->host->wall_ns};

	return when_wall_ns(&w, o->mapped_ns ? o->mapped_ns : m->start_ns);
}

int engine_file(const struct model *m, const struct map_object *o, struct usersyms *files,
		uint32_t *ret)
{
	const struct snapshot *ids = snapshot_set_get(m->snapshots, SNAPSHOT_BUILD_IDS);
	struct buildid id = {.len = o->id_len};

	memcpy(id.id, o->id, o->id_len);
	if (id.len || (ids && buildids_find(ids->bytes, ids->len, o->path, &id)))
		return usersyms_object(files, o->path, id.id, id.len, o->pid, ret);
	const struct usersym_inode inode = {o->maj, o->min, o->ino, mapped_wall_ns(m, o)};
	return usersyms_object_at(files, o->path, &inode, o->pid, ret);
}
