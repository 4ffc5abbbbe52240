/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_DAMAGE_H
#define KONTEND_QUERY_DAMAGE_H

#include "kontend/damage.h"
#include "kontend/figure.h"

/*
 * The members of struct model_damage, by which everybody shows it; each has a help. Places of those
 * that are shown in a way of their own: what was lost always, what is unmatched as a share,
 * snapshots beside how many there are.
 */
enum query_damage {
	DAMAGE_LOST = 0,
	DAMAGE_UNMATCHED = 3,
	DAMAGE_UNMATCHED_END = 5,
	DAMAGE_NO_STACK = 10, /* of less weight from here on */
	DAMAGE_DEEP = 11,
	DAMAGE_SNAPSHOTS = 12,
};
extern const struct figure query_damage_figures[];

#endif
