// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calibration as a cache file (cachefile.h), valid for the boot that it was measured in. It is
 * in /run/kontend if that is writable (as root, so that all users have it), else in the user's
 * cache folder; if KONTEND_CACHE is set, only there.
 */
#include "kontend/cachefile.h"
#include "kontend/thisboot.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS = 2 };

static int first_folder(void)
{
	return getenv("KONTEND_CACHE") ? 1 : 0;
}

static int key_of(int folder, struct cachefile_key *ret)
{
	*ret = (struct cachefile_key){.folder = folder ? NULL : "/run/kontend",
				      .name = "uprobe-cost",
				      .form = {"uprobe 2"}};
	return thisboot_id((char *)ret->stamp);
}

static int load_from(const struct cachefile_key *key, struct uprobe_costs *ret)
{
	struct cachefile *k;
	int r = cachefile_open(&k, key);

	if (r < 0)
		return r;
	const struct cachefile_part p = cachefile_part(k, 0);
	r = p.len == sizeof(*ret) && cachefile_is_sound(k, p.bytes, p.len) ? 0 : -ENOENT;
	if (r == 0)
		memcpy(ret, p.bytes, sizeof(*ret));
	cachefile_close(k);
	return r;
}

int uprobe_cost_load(struct uprobe_costs *ret)
{
	struct cachefile_key key;
	int r = -ENOENT;

	for (int i = first_folder(); r < 0 && i < FOLDERS; i++)
		r = key_of(i, &key) < 0 ? -ENOENT : load_from(&key, ret);
	return r;
}

int uprobe_cost_store(const struct uprobe_costs *c, struct error *err)
{
	const struct cachefile_part parts[CACHEFILE_PARTS] = {{c, sizeof(*c)}};
	struct cachefile_key key;
	int r = -ENOENT;

	for (int i = first_folder(); r < 0 && i < FOLDERS; i++) {
		r = key_of(i, &key);
		r = r ? r : cachefile_store(&key, parts);
	}
	return r < 0 ? error_errno(err, r, "Cannot save the cost of a hit") : 0;
}
