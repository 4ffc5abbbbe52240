// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the BPF links that have placed uprobes (uprobe-multi, kernel 6.6) out of the running
 * kernel, as uprobe.bpf.c reads the rest; by an iterator of its own, which kernels have since 5.19.
 * A path is reported by its parts, the last one first, from the root that the reader has: in a
 * chroot that is no mount point. A file that is not below it is reported from the outermost root.
 */
#include "kernel/links.h"

#include "kernel/ns.h"
#include "shared.h"

char license_text[] SEC("license") = "GPL";

const volatile struct up_links_config config = {0};
struct up_links_state state = {0};

ARRAY(links, struct up_link_raw, UP_LINKS);

struct way {
	__u64 dentry, mount;
	__u64 root_dentry, root_mount;
	__u32 record;
};

/* The address of the mount that the kernel hands out by the part of it that file systems see. */
static __u64 mount_of(struct vfsmount *seen)
{
	struct mount *m = NULL;

	return (__u64)seen - bpf_core_field_offset(m->mnt);
}

static long add_part(__u32 step, struct way *w)
{
	struct up_link_raw *r = bpf_map_lookup_elem(&links, &w->record);
	struct dentry *d = (void *)w->dentry;
	struct mount *m = (void *)w->mount;
	__u64 n;

	if (!r || !d || !m)
		return 1;
	if (w->dentry == w->root_dentry && w->mount == w->root_mount)
		return 1;
	if ((__u64)BPF_CORE_READ(m, mnt.mnt_root) == w->dentry) {
		__u64 parent = (__u64)BPF_CORE_READ(m, mnt_parent);
		if (!parent || parent == w->mount)
			return 1;
		w->dentry = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
		w->mount = parent;
		return 0;
	}
	n = r->n_parts;
	barrier_var(n);
	if (n >= UP_PARTS)
		return 1;
	bpf_probe_read_kernel_str(r->parts[n], UP_PART, BPF_CORE_READ(d, d_name.name));
	r->n_parts = n + 1;
	w->dentry = (__u64)BPF_CORE_READ(d, d_parent);
	return 0;
}

struct walk {
	__u64 link, uprobes;
	__u32 count;
};

static long put_uprobe(__u32 i, struct walk *w)
{
	struct bpf_uprobe_multi_link *l = (void *)w->link;
	struct bpf_uprobe *u;
	struct way way = {0};
	struct task_struct___root *reader = (void *)bpf_get_current_task();
	struct dentry___placed *placed;
	struct inode___placed *inode;
	__u32 at = state.n_links;

	if (i >= w->count)
		return 1;
	struct up_link_raw *r = bpf_map_lookup_elem(&links, &at);
	if (!r) {
		state.dropped++;
		return 1;
	}
	state.n_links = at + 1;
	u = (void *)(w->uprobes + (__u64)i * bpf_core_type_size(struct bpf_uprobe));
	r->id = BPF_CORE_READ(l, link.id);
	r->count = w->count;
	struct task_struct *task = BPF_CORE_READ(l, task);
	r->pid = task ? ns_pid(task, &config.ns) : 0;
	r->offset = BPF_CORE_READ(u, offset);
	r->ref_ctr = BPF_CORE_READ(u, ref_ctr_offset);
	r->is_return = BPF_CORE_READ(u, consumer.handler) == NULL;
	bpf_probe_read_kernel_str(r->program, sizeof(r->program),
				  &BPF_CORE_READ(l, link.prog, aux)->name);
	r->n_parts = 0;
	placed = (void *)BPF_CORE_READ(l, path.dentry);
	inode = BPF_CORE_READ(placed, d_inode);
	r->ino = BPF_CORE_READ(inode, i_ino);
	r->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	way.dentry = (__u64)BPF_CORE_READ(l, path.dentry);
	way.mount = mount_of(BPF_CORE_READ(l, path.mnt));
	way.root_dentry = (__u64)BPF_CORE_READ(reader, fs, root.dentry);
	way.root_mount = mount_of(BPF_CORE_READ(reader, fs, root.mnt));
	way.record = at;
	bpf_loop(UP_PARTS * 2, add_part, &way, 0);
	return 0;
}

SEC("iter/bpf_link")
int read_links(struct bpf_iter__bpf_link *ctx)
{
	struct bpf_link *link = ctx->link;
	struct bpf_uprobe_multi_link *l = NULL;
	struct walk w = {0};

	if (!link || (__u32)link->type != config.type_multi)
		return 0;
	state.scratch = (__u64)link;
	w.link = *(volatile __u64 *)&state.scratch - bpf_core_field_offset(l->link);
	l = (void *)w.link;
	w.uprobes = (__u64)BPF_CORE_READ(l, uprobes);
	w.count = BPF_CORE_READ(l, cnt);
	bpf_loop(UP_LINKS, put_uprobe, &w, 0);
	return 0;
}
