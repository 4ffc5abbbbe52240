/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FUNCSET_H
#define KONTEND_FUNCSET_H

#include <stddef.h>
#include <stdint.h>

struct funcsnap;

/*
 * Functions from all snapshots of a recording. They hold for the whole recording, wherever in it a
 * snapshot is: so the copies of a model share the set, and it only grows.
 */
struct funcset;

struct funcset *funcset_new(void); /* NULL: no memory; with one reference */
struct funcset *funcset_ref(struct funcset *s);
void funcset_unref(struct funcset *s); /* NULL is fine */

const struct funcsnap *funcset_snap(const struct funcset *s); /* sorted */
uint64_t funcset_changes(const struct funcset *s);	      /* how often something new came */
/* The payload of a SNAPSHOT_FUNCS. 0, or negative as funcsnap_decode() and funcsnap_merge(). */
int funcset_take(struct funcset *s, const void *payload, size_t len);

#endif
