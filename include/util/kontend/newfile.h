/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NEWFILE_H
#define KONTEND_NEWFILE_H

#include <stdbool.h>

/*
 * A file that replaces another one when it is complete. It has no name until then, so that nothing
 * is left of it however the program ends. On file systems without O_TMPFILE it has a temporary
 * name. The folder is opened once: later changes of links in its path have no effect. Another
 * process with the same descriptors may give it its name.
 */
struct newfile {
	int dir, fd;	       /* -1: none */
	char *temp;	       /* path with its temporary name */
	const char *temp_name; /* in the folder: the end of `temp` */
	char *name;	       /* its final name in the folder */
	bool has_name;	       /* it has its temporary name */
};

/* Creates a file for @path with mode 600. 0 or -errno. The caller keeps f->fd. */
int newfile_open(struct newfile *f, const char *path);
/* The same for plain @name in the folder @dir, which the caller keeps. */
int newfile_open_in(struct newfile *f, int dir, const char *name);
/* True if another file has its final name. */
bool newfile_is_taken(const struct newfile *f);
/* Gives it its temporary name, if it has none. 0 or -errno. */
int newfile_name(struct newfile *f);
/* Gives the file its final name, replacing another file. 0 or -errno: then it has no name. */
int newfile_put(struct newfile *f);
/* The same, but -EEXIST if another file has the name, which stays. */
int newfile_put_new(struct newfile *f);
/* Removes the temporary name. 0 or -errno. */
int newfile_drop(struct newfile *f);
void newfile_deinit(struct newfile *f); /* {0} is empty */

/*
 * Opens the folder of @path with O_PATH; *ret_name is the rest of @path. -errno, or -EISDIR if that
 * is no plain name.
 */
int newfile_folder(const char *path, const char **ret_name);
/* True for a valid file name: not empty, no '/', neither "." nor "..". */
bool newfile_is_plain(const char *name);

#endif
