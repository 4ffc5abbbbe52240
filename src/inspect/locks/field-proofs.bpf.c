// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is an object of a type of the kernel at an address? It is if pointers lead from it to another one
 * and back, and `at.id` gets what the next object in that memory differs in. Each function is
 * global, so that the verifier looks at it once. fields.bpf.c includes this file.
 */
#define FIELD_AT(type, member) bpf_core_field_offset(((type *)0)->member)

static __always_inline bool has_memcgs(void)
{
	return bpf_core_field_exists(((struct mem_cgroup___field *)0)->nodeinfo) &&
	       bpf_core_enum_value_exists(enum cgroup_subsys_id___because, memory_cgrp_id);
}

static __always_inline bool has_task_groups(void)
{
	return bpf_core_field_exists(((struct task_group *)0)->css) &&
	       bpf_core_enum_value_exists(enum cgroup_subsys_id___because, cpu_cgrp_id);
}

static __always_inline int is(__u64 number)
{
	at.id.ino = number ? number : 1;
	return 1;
}

static __always_inline bool task_is(struct task_struct___field *t, int how)
{
	struct pid___field *p = BPF_CORE_READ(t, thread_pid);

	return p && (__u64)BPF_CORE_READ(p, tasks[0].first) ==
			    (__u64)t + FIELD_AT(struct task_struct___field, pid_links[0]);
}

__noinline int prove_task(__u64 base)
{
	struct task_struct___field *t = (void *)base;

	if (!task_is(t, THREAD))
		return 0;
	return is(BPF_CORE_READ(t, start_time));
}

/* The leader of the process that has these signals; 0: they are none. */
static __always_inline __u64 leader_of(__u64 base)
{
	struct signal_struct___field *s = (void *)base;
	struct task_struct___field *t;
	struct pid___field *p = BPF_CORE_READ(s, pids[1]);
	__u64 link = p ? (__u64)BPF_CORE_READ(p, tasks[1].first) : 0;

	if (!link)
		return 0;
	t = (void *)(link - FIELD_AT(struct task_struct___field, pid_links[1]));
	return (__u64)BPF_CORE_READ(t, signal) == base ? (__u64)t : 0;
}

__noinline int prove_signal(__u64 base)
{
	struct task_struct___field *t = (void *)leader_of(base);

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

static __always_inline __u64 mm_owner(struct mm_struct___field *m)
{
	struct task_struct___field *t;

	if (!m || !bpf_core_field_exists(m->owner))
		return 0;
	t = (void *)BPF_CORE_READ(m, owner);
	return t && task_is(t, THREAD) && BPF_CORE_READ(t, mm) == m ? (__u64)t : 0;
}

__noinline int prove_mm(__u64 base)
{
	struct task_struct___field *t = (void *)mm_owner((void *)base);

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

static __always_inline bool has_shared(struct task_struct___field *t, __u32 type, __u64 base)
{
	return base ==
	       (__u64)(type == RAW_F_SIGHAND ? BPF_CORE_READ(t, sighand) : BPF_CORE_READ(t, files));
}

__noinline int prove_shared(__u64 base, __u64 via, __u32 type)
{
	struct task_struct___field *t = (void *)via;

	return t && task_is(t, THREAD) && has_shared(t, type, base)
		       ? is(BPF_CORE_READ(t, start_time))
		       : 0;
}

__noinline int prove_inode(__u64 base)
{
	struct inode___because *i = (void *)base;
	struct address_space___because *m = (void *)(base + bpf_core_field_offset(i->i_data));
	struct inode___field *f = (void *)base;
	struct super_block___field *s;

	if ((__u64)BPF_CORE_READ(m, host) != base)
		return 0;
	s = BPF_CORE_READ(f, i_sb);
	if (!s)
		return 0;
	is(BPF_CORE_READ(f, i_ino));
	at.id.generation = BPF_CORE_READ(f, i_generation);
	at.id.dev = BPF_CORE_READ(s, s_dev);
	return 1;
}

/* The counter of its users, which a file that was freed has below 0. */
static __always_inline bool has_users(struct file___field *f)
{
	if (bpf_core_field_exists(f->f_ref))
		return (long long)BPF_CORE_READ(f, f_ref.refcnt.counter) >= 0;
	return bpf_core_field_exists(f->f_count) &&
	       (long long)BPF_CORE_READ(f, f_count.counter) > 0;
}

__noinline int prove_file(__u64 base)
{
	struct file___field *f = (void *)base;
	struct inode___field *i = BPF_CORE_READ(f, f_inode);

	if (!i || BPF_CORE_READ(f, f_path.dentry, d_inode) != i || !has_users(f))
		return 0;
	return prove_inode((__u64)i);
}

/* Is the place in a tree that of another one's neighbor, or alone in its tree? */
static __always_inline bool is_in_tree(__u64 node, bool alone)
{
	struct rb_node___field *n = (void *)node, *child = BPF_CORE_READ(n, rb_left);
	struct rb_node___field *up = (void *)(BPF_CORE_READ(n, __rb_parent_color) & ~3ull);

	if (up)
		return up != n &&
		       (BPF_CORE_READ(up, rb_left) == n || BPF_CORE_READ(up, rb_right) == n);
	child = child ? child : BPF_CORE_READ(n, rb_right);
	return child ? (BPF_CORE_READ(child, __rb_parent_color) & ~3ull) == node : alone;
}

/* Its consumers are in a list since 6.13, which leads back also where it is alone in the tree. */
__noinline int prove_uprobe(__u64 base)
{
	struct uprobe *u = (void *)base;
	__u64 list = 0;

	if (bpf_core_field_exists(u->consumers))
		list = base + bpf_core_field_offset(u->consumers);
	if (!bpf_core_field_exists(u->inode) || !bpf_core_field_exists(u->rb_node))
		return 0;
	if (!is_in_tree(base + bpf_core_field_offset(u->rb_node),
			list && word_at(word_at(list) + 8) == list))
		return 0;
	return prove_inode((__u64)BPF_CORE_READ(u, inode));
}

/* Of what an inode has: it proves no more than that. */
static __always_inline bool inode_has(struct inode___field *i, __u32 type, __u64 base)
{
	if (type == RAW_F_PIPE)
		return (__u64)BPF_CORE_READ(i, i_pipe) == base;
	return bpf_core_field_exists(i->i_flctx) && (__u64)BPF_CORE_READ(i, i_flctx) == base;
}

__noinline int prove_by_inode(__u64 base, __u64 via, __u32 type)
{
	return via && prove_inode(via) && inode_has((void *)via, type, base);
}

static __always_inline bool is_super(struct super_block___field *s)
{
	struct dentry___field *root = BPF_CORE_READ(s, s_root);

	return root && BPF_CORE_READ(root, d_sb) == s && BPF_CORE_READ(root, d_parent) == root;
}

__noinline int prove_super(__u64 base)
{
	struct super_block___field *s = (void *)base;

	return is_super(s) ? is(BPF_CORE_READ(s, s_dev)) : 0;
}

__noinline int prove_dentry(__u64 base)
{
	struct dentry___field *d = (void *)base, *parent = BPF_CORE_READ(d, d_parent);
	struct super_block___field *s = BPF_CORE_READ(d, d_sb);
	struct inode___field *i = BPF_CORE_READ(d, d_inode);

	if (!s || !parent || BPF_CORE_READ(parent, d_sb) != s || !is_super(s) ||
	    (i && BPF_CORE_READ(i, i_sb) != s))
		return 0;
	return is(BPF_CORE_READ(d, d_name.hash_len) ^ (__u64)parent);
}

static __always_inline __u64 ext4_super(__u64 base)
{
	struct ext4_sb_info *e = (void *)base;

	return bpf_core_field_exists(e->s_sb) ? (__u64)BPF_CORE_READ(e, s_sb) : 0;
}

/* The locks of groups of blocks of that file system; 0: it is no ext4. */
static __always_inline __u64 groups_of(struct super_block___field *s)
{
	struct ext4_sb_info *e = s ? BPF_CORE_READ(s, s_fs_info) : NULL;

	if (!e || !bpf_core_field_exists(e->s_sb) || !bpf_core_field_exists(e->s_blockgroup_lock) ||
	    BPF_CORE_READ(e, s_sb) != s)
		return 0;
	return (__u64)BPF_CORE_READ(e, s_blockgroup_lock);
}

__noinline int prove_groups(__u64 base, __u64 via)
{
	struct super_block___field *s = (void *)via;

	return s && is_super(s) && groups_of(s) == base ? is(BPF_CORE_READ(s, s_dev)) : 0;
}

static __always_inline __u64 log_task(__u64 base)
{
	struct journal_s *j = (void *)base;

	return bpf_core_field_exists(j->j_task) ? (__u64)BPF_CORE_READ(j, j_task) : 0;
}

__noinline int prove_ext4(__u64 base)
{
	struct super_block___field *s = (void *)ext4_super(base);

	return s && (__u64)BPF_CORE_READ(s, s_fs_info) == base && is_super(s)
		       ? is(BPF_CORE_READ(s, s_dev))
		       : 0;
}

__noinline int prove_journal(__u64 base)
{
	struct task_struct *t = (void *)log_task(base);
	char comm[16] = {0};

	if (!t || !task_is((void *)t, THREAD))
		return 0;
	BPF_CORE_READ_INTO(&comm, t, comm);
	return comm[0] == 'j' && comm[1] == 'b' && comm[2] == 'd' && comm[3] == '2'
		       ? is(BPF_CORE_READ((struct task_struct___field *)t, start_time))
		       : 0;
}

/* A file system that shows it; 0: none does. */
static __always_inline __u64 kernfs_super(struct kernfs_root *r)
{
	struct kernfs_super_info *i = NULL;
	__u64 node;

	if (!bpf_core_field_exists(r->supers) || !bpf_core_field_exists(i->node))
		return 0;
	node = (__u64)BPF_CORE_READ(r, supers.next);
	if (!node || node == (__u64)r + bpf_core_field_offset(r->supers))
		return 0;
	i = (void *)(node - bpf_core_field_offset(i->node));
	return BPF_CORE_READ(i, root) == r ? (__u64)BPF_CORE_READ(i, sb) : 0;
}

__noinline int prove_kernfs(__u64 base)
{
	struct kernfs_root *r = (void *)base;
	struct kernfs_node___field *n;

	if (!bpf_core_field_exists(r->kn))
		return 0;
	n = BPF_CORE_READ(r, kn);
	return n && BPF_CORE_READ(n, dir.root) == r ? is(base ^ (__u64)n) : 0;
}

__noinline int prove_epoll(__u64 base)
{
	struct eventpoll *e = (void *)base;
	struct file___field *f;

	if (!bpf_core_field_exists(e->file))
		return 0;
	f = BPF_CORE_READ(e, file);
	return f && (__u64)BPF_CORE_READ(f, private_data) == base ? is((__u64)f) : 0;
}

static __always_inline bool is_node(struct pglist_data *n)
{
	struct zone *z = (void *)((__u64)n + bpf_core_field_offset(n->node_zones));
	__u32 id = (__u32)BPF_CORE_READ(n, node_id);

	return id < MOST_NODES && BPF_CORE_READ(z, zone_pgdat) == n;
}

__noinline int prove_node(__u64 base)
{
	return base && is_node((void *)base) ? is(1) : 0;
}

__noinline int prove_zone(__u64 base)
{
	struct zone *z = (void *)base;
	struct pglist_data *n = BPF_CORE_READ(z, zone_pgdat);
	__u64 first, size = bpf_core_type_size(struct zone);

	if (!n || !is_node(n))
		return 0;
	first = (__u64)n + bpf_core_field_offset(n->node_zones);
	return base - first < MOST_ZONES * size && (base - first) % size == 0 ? is(1) : 0;
}

/* The memory cgroup whose lists these are; 0: none. */
static __always_inline __u64 lruvec_memcg(__u64 base)
{
	struct mem_cgroup_per_node *p = NULL;
	struct mem_cgroup___field *m = NULL;
	struct lruvec *l = (void *)base;
	struct pglist_data *n;
	__u32 node;

	if (!has_memcgs() || !bpf_core_field_exists(p->memcg) || !bpf_core_field_exists(l->pgdat))
		return 0;
	n = BPF_CORE_READ(l, pgdat);
	if (!n || !is_node(n))
		return 0;
	node = (__u32)BPF_CORE_READ(n, node_id);
	p = (void *)(base - bpf_core_field_offset(p->lruvec));
	m = BPF_CORE_READ(p, memcg);
	if (!m || word_at((__u64)m + bpf_core_field_offset(m->nodeinfo) + 8ull * node) != (__u64)p)
		return 0;
	return (__u64)m;
}

/* Without memory cgroups a node has its lists itself. */
static __always_inline bool is_lruvec_of_node(__u64 base)
{
	struct pglist_data *n = NULL;

	if (!bpf_core_field_exists(n->__lruvec))
		return false;
	n = (void *)(base - bpf_core_field_offset(n->__lruvec));
	return is_node(n);
}

static __always_inline __u64 cgroup_id_of(struct cgroup_subsys_state___field *css)
{
	return BPF_CORE_READ(css, cgroup, kn, id);
}

__noinline int prove_lruvec(__u64 base)
{
	__u64 memcg = lruvec_memcg(base);

	if (memcg)
		return is(cgroup_id_of((void *)(memcg + FIELD_AT(struct mem_cgroup___field, css))));
	return is_lruvec_of_node(base) ? is(1) : 0;
}

/* Does its cgroup lead back to it, as that of controller @nth? */
static __always_inline bool is_css(struct cgroup_subsys_state___field *css, __u32 nth)
{
	struct cgroup___field *c = BPF_CORE_READ(css, cgroup);

	return c && word_at((__u64)c + bpf_core_field_offset(c->subsys) + 8ull * nth) == (__u64)css;
}

__noinline int prove_css(__u64 base, __u32 nth)
{
	struct cgroup_subsys_state___field *css = (void *)base;

	return is_css(css, nth) ? is(cgroup_id_of(css)) : 0;
}

static __always_inline int prove_memcg(__u64 base)
{
	struct mem_cgroup___field *m = (void *)base;

	if (!has_memcgs())
		return 0;
	return prove_css(base + bpf_core_field_offset(m->css),
			 bpf_core_enum_value(enum cgroup_subsys_id___because, memory_cgrp_id));
}

static __always_inline int prove_task_group(__u64 base)
{
	struct task_group *g = (void *)base;

	if (!has_task_groups())
		return 0;
	return prove_css(base + bpf_core_field_offset(g->css),
			 bpf_core_enum_value(enum cgroup_subsys_id___because, cpu_cgrp_id));
}

__noinline int prove_cgroup(__u64 base)
{
	struct cgroup___field *c = (void *)base;
	struct kernfs_node___field *n = BPF_CORE_READ(c, kn);

	return n && (__u64)BPF_CORE_READ(n, priv) == base ? is(BPF_CORE_READ(n, id)) : 0;
}

/* Pointers to what a cache has of each node. */
struct per_node {
	__u64 first, step; /* 0: this kernel has them elsewhere */
};

static __always_inline struct per_node cache_nodes(__u64 cache)
{
	struct kmem_cache___field *c = NULL;
	struct kmem_cache___per_node *newer = NULL;
	struct kmem_cache_per_node_ptrs *p = NULL;

	if (bpf_core_field_exists(c->node))
		return (struct per_node){cache + bpf_core_field_offset(c->node), 8};
	if (bpf_core_field_exists(newer->per_node) && bpf_core_field_exists(p->node))
		return (struct per_node){cache + bpf_core_field_offset(newer->per_node) +
						 bpf_core_field_offset(p->node),
					 sizeof(*p)};
	return (struct per_node){0};
}

static __always_inline bool has_node(__u64 cache, __u64 node)
{
	struct per_node nodes = cache_nodes(cache);

	for (__u32 i = 0; nodes.first && i < 8; i++)
		if (word_at(nodes.first + nodes.step * i) == node)
			return true;
	return false;
}

/* The cache whose list of partial slabs begins there; 0: none, or the list is empty. */
static __always_inline __u64 cache_of(__u64 base)
{
	struct kmem_cache_node *n = (void *)base;
	struct kmem_cache___field *c;
	struct slab *s = NULL;
	__u64 node;

	if (!bpf_core_field_exists(s->slab_list))
		return 0;
	node = (__u64)BPF_CORE_READ(n, partial.next);
	if (!node || node == base + bpf_core_field_offset(n->partial))
		return 0;
	s = (void *)(node - bpf_core_field_offset(s->slab_list));
	c = BPF_CORE_READ(s, slab_cache);
	return c && has_node((__u64)c, base) ? (__u64)c : 0;
}

/* Once it was found its list may be empty: the cache stays. */
__noinline int prove_cache_node(__u64 base, __u64 via)
{
	__u64 c = via ? via : cache_of(base);

	return c && has_node(c, base) ? is(c) : 0;
}

/* The cache of the first of its sheaves, which are full or empty; 0: none, or it has none. */
static __always_inline __u64 sheaf_cache(__u64 list)
{
	struct slab_sheaf *s = NULL;
	__u64 node = word_at(list);

	if (!bpf_core_field_exists(s->barn_list) || !node || node == list ||
	    word_at(node + 8) != list)
		return 0;
	s = (void *)(node - bpf_core_field_offset(s->barn_list));
	return (__u64)BPF_CORE_READ(s, cache);
}

static __always_inline bool has_barn(__u64 cache, __u64 barn)
{
	struct kmem_cache___per_node *newer = NULL;
	struct kmem_cache_per_node_ptrs *p = NULL;
	struct kmem_cache_node *n = NULL;
	__u64 first;

	if (bpf_core_field_exists(n->barn)) {
		struct per_node nodes = cache_nodes(cache);
		for (__u32 i = 0; nodes.first && i < 8; i++) {
			n = (void *)word_at(nodes.first + nodes.step * i);
			if (n && (__u64)BPF_CORE_READ(n, barn) == barn)
				return true;
		}
		return false;
	}
	if (!bpf_core_field_exists(newer->per_node) || !bpf_core_field_exists(p->barn))
		return false;
	first = cache + bpf_core_field_offset(newer->per_node) + bpf_core_field_offset(p->barn);
	for (__u32 i = 0; i < 8; i++)
		if (word_at(first + sizeof(*p) * i) == barn)
			return true;
	return false;
}

/* Once it was found its lists may be empty: the cache stays. */
__noinline int prove_barn(__u64 base, __u64 via)
{
	struct node_barn *b = (void *)base;
	__u64 cache = via;

	if (!bpf_core_field_exists(b->sheaves_full) || !bpf_core_field_exists(b->sheaves_empty))
		return 0;
	cache = cache ? cache : sheaf_cache(base + bpf_core_field_offset(b->sheaves_full));
	cache = cache ? cache : sheaf_cache(base + bpf_core_field_offset(b->sheaves_empty));
	return cache && has_barn(cache, base) ? is(cache) : 0;
}

/* The address space of the first mapping in its tree; 0: none. */
static __always_inline __u64 anon_mm(__u64 base)
{
	struct anon_vma *a = (void *)base;
	struct anon_vma_chain *c = NULL;
	__u64 node = (__u64)BPF_CORE_READ(a, rb_root.rb_root.rb_node);

	if (!node)
		return 0;
	c = (void *)(node - bpf_core_field_offset(c->rb));
	if (BPF_CORE_READ(c, anon_vma) != a)
		return 0;
	return (__u64)BPF_CORE_READ(c, vma, vm_mm);
}

__noinline int prove_anon(__u64 base)
{
	struct task_struct___field *t = (void *)mm_owner((void *)anon_mm(base));

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

static __always_inline __u64 futex_mm(__u64 base)
{
	struct futex_hash_bucket *b = (void *)base;
	struct futex_private_hash *h = NULL;

	if (!bpf_core_field_exists(b->priv) || !bpf_core_field_exists(h->mm))
		return 0;
	h = BPF_CORE_READ(b, priv);
	return h && base - ((__u64)h + bpf_core_field_offset(h->queues)) < 1 << 24
		       ? (__u64)BPF_CORE_READ(h, mm)
		       : 0;
}

__noinline int prove_futex(__u64 base)
{
	struct task_struct___field *t = (void *)mm_owner((void *)futex_mm(base));

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

static __always_inline __u64 kvm_owner(__u64 base)
{
	struct kvm *k = (void *)base;

	return bpf_core_field_exists(k->mm) ? mm_owner(BPF_CORE_READ(k, mm)) : 0;
}

__noinline int prove_kvm(__u64 base)
{
	struct kvm *k = (void *)base;
	struct task_struct___field *t = (void *)kvm_owner(base);
	__u64 node, next;

	if (!t || !bpf_core_field_exists(k->vm_list))
		return 0;
	node = base + bpf_core_field_offset(k->vm_list);
	next = word_at(node);
	return next && word_at(next + 8) == node ? is(BPF_CORE_READ(t, start_time)) : 0;
}

/* The task that opened the event, or the one that it was inherited from; 0: it has exited. */
static __always_inline __u64 event_owner(__u64 base)
{
	struct perf_event___field *e = (void *)base, *parent = BPF_CORE_READ(e, parent);
	__u64 owner = (__u64)BPF_CORE_READ(parent ? parent : e, owner);

	return owner + 1 > 1 && task_is((void *)owner, THREAD) ? owner : 0;
}

__noinline int prove_event(__u64 base)
{
	struct perf_event___field *e = (void *)base, *leader = BPF_CORE_READ(e, group_leader);
	__u64 owner = event_owner(base);

	if (!leader || BPF_CORE_READ(leader, group_leader) != leader || !owner)
		return 0;
	return is(BPF_CORE_READ((struct task_struct___field *)owner, start_time));
}

/* Of a task's events: the task. */
static __always_inline __u64 context_task(__u64 base)
{
	struct perf_event_context___field *c = (void *)base;
	struct task_struct___field *t = (void *)BPF_CORE_READ(c, task);

	if (!bpf_core_field_exists(t->perf_event_ctxp) || (__u64)t + 1 <= 1 || !task_is(t, THREAD))
		return 0;
	return (__u64)BPF_CORE_READ(t, perf_event_ctxp) == base ? (__u64)t : 0;
}

__noinline int prove_context(__u64 base)
{
	struct task_struct___field *t = (void *)context_task(base);

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

/* The task for which BPF programs store something; 0: none. */
static __always_inline __u64 storage_task(__u64 base)
{
	struct bpf_local_storage *s = (void *)base;
	struct task_struct___field *t = NULL;

	if (!bpf_core_field_exists(s->owner) || !bpf_core_field_exists(t->bpf_storage))
		return 0;
	t = (void *)BPF_CORE_READ(s, owner);
	return t && task_is(t, THREAD) && (__u64)BPF_CORE_READ(t, bpf_storage) == base ? (__u64)t
										       : 0;
}

__noinline int prove_storage(__u64 base)
{
	struct task_struct___field *t = (void *)storage_task(base);

	return t ? is(BPF_CORE_READ(t, start_time)) : 0;
}

static __always_inline bool has_group_queues(void)
{
	return bpf_core_field_exists(((struct cfs_rq___field *)0)->tg) &&
	       bpf_core_field_exists(((struct task_group *)0)->cfs_rq) && has_task_groups();
}

/* The queue of a cgroup's tasks on a CPU. */
__noinline int prove_cfs_rq(__u64 base)
{
	struct cfs_rq___field *c = (void *)base;
	struct task_group *g;
	__u64 cpu, all;

	if (!has_group_queues())
		return 0;
	g = BPF_CORE_READ(c, tg);
	cpu = (__u32)BPF_CORE_READ(c, rq, cpu);
	all = g ? (__u64)BPF_CORE_READ(g, cfs_rq) : 0;
	if (!all || cpu >= RAW_LOCK_CPUS || word_at(all + 8 * cpu) != base)
		return 0;
	return is(cgroup_id_of((void *)((__u64)g + bpf_core_field_offset(g->css))));
}

__noinline int prove_memory(__u32 type, __u64 base, __u64 via)
{
	switch (type) {
	case RAW_F_ZONE:
		return prove_zone(base);
	case RAW_F_NODE:
		return prove_node(base);
	case RAW_F_LRUVEC:
		return prove_lruvec(base);
	case RAW_F_MEMCG:
		return prove_memcg(base);
	case RAW_F_CGROUP:
		return prove_cgroup(base);
	case RAW_F_TASK_GROUP:
		return prove_task_group(base);
	case RAW_F_CACHE_NODE:
		return prove_cache_node(base, via);
	case RAW_F_ANON_VMA:
		return prove_anon(base);
	case RAW_F_FUTEX:
		return prove_futex(base);
	case RAW_F_KVM:
		return prove_kvm(base);
	case RAW_F_EVENT:
		return prove_event(base);
	case RAW_F_CFS_RQ:
		return prove_cfs_rq(base);
	case RAW_F_BARN:
		return prove_barn(base, via);
	case RAW_F_CONTEXT:
		return prove_context(base);
	case RAW_F_STORAGE:
		return prove_storage(base);
	}
	return 0;
}

#include "field-proofs-devices.bpf.c"

__noinline int prove(__u32 type, __u64 base, __u64 via)
{
	switch (type) {
	case RAW_F_TASK:
		return prove_task(base);
	case RAW_F_SIGNAL:
		return prove_signal(base);
	case RAW_F_SIGHAND:
	case RAW_F_FILES:
		return prove_shared(base, via, type);
	case RAW_F_MM:
		return prove_mm(base);
	case RAW_F_INODE:
		return prove_inode(base);
	case RAW_F_DENTRY:
		return prove_dentry(base);
	case RAW_F_FILE:
		return prove_file(base);
	case RAW_F_UPROBE:
		return prove_uprobe(base);
	case RAW_F_SUPER:
		return prove_super(base);
	case RAW_F_EXT4:
		return prove_ext4(base);
	case RAW_F_JOURNAL:
		return prove_journal(base);
	case RAW_F_KERNFS:
		return prove_kernfs(base);
	case RAW_F_EPOLL:
		return prove_epoll(base);
	case RAW_F_GROUPS:
		return prove_groups(base, via);
	case RAW_F_FLOCKS:
	case RAW_F_PIPE:
		return prove_by_inode(base, via, type);
	}
	return type < RAW_F_SOCK ? prove_memory(type, base, via) : prove_other(type, base, via);
}
