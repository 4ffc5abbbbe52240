/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory entries of an inode are in a list, by a member of each. That is in a union with a
 * name, and in one without a name from Linux 7 on. For use where struct dentry has the former.
 */
#ifndef KONTEND_KERNEL_ALIAS_H
#define KONTEND_KERNEL_ALIAS_H

struct dentry___flat {
	struct hlist_node d_alias;
} CORE;

/* The entry with this member; 0: this kernel has it elsewhere. */
static __always_inline __u64 dentry_of_alias(__u64 alias)
{
	struct dentry *d = NULL;
	struct dentry___flat *flat = NULL;

	if (bpf_core_field_exists(d->d_u.d_alias))
		return alias - bpf_core_field_offset(d->d_u.d_alias);
	if (bpf_core_field_exists(flat->d_alias))
		return alias - bpf_core_field_offset(flat->d_alias);
	return 0;
}

#endif
