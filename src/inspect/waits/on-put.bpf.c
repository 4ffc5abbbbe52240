// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts into the record of a wait on what its system call is, and reports the name of the file.
 * waits.bpf.c includes this file.
 */
/* Reports the name of the file, unless it was reported before. Global, as owner_read() is. */
__noinline int on_name(struct bpf_raw_tracepoint_args *ctx)
{
	struct on_work *w = on_here();
	struct inode_reported now = {.which = INODEREC_ON};
	__u64 inode;

	if (!w || !w->inode || !inode_kernel_fits())
		return 0;
	inode = w->inode;
	w->inode = 0;
	now.ino = w->on.value;
	now.lock = waitrec_on_addr(w->on.dev, now.ino);
	now.generation = (__u32)number_at(inode + inode_at(i_generation));
	now.sb = word_at(inode + inode_at(i_sb));
	/* Another thread may have closed it, and its memory be another file's. */
	if (word_at(inode + inode_at(i_ino)) == now.ino)
		inode_note(ctx, (void *)inode, &now);
	return 0;
}

/*
 * On what the call is, after @n frames at @to, of @most: WAITREC_HAS_ON, or 0. It is read where the
 * frames of the program are.
 */
static __always_inline __u32 put_on(__u64 *to, __u32 n, __u32 most, __u32 user)
{
	struct on_work *w;
	__u64 place;

	if (user == WAITREC_USER_NONE || user == WAITREC_USER_SPINS || user == WAITREC_USER_SAVED)
		return 0;
	w = on_read() ? on_here() : NULL;
	if (!w)
		return 0;
	/* By way of memory: else the verifier follows each number of frames by itself. */
	*(volatile __u64 *)&w->place = n;
	place = *(volatile __u64 *)&w->place;
	if (place > most)
		return 0;
	to += place;
	barrier_var(to);
	to[0] = w->words[0];
	to[1] = w->words[1];
	return WAITREC_HAS_ON;
}
