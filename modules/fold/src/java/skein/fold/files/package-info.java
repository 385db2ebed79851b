// SPDX-License-Identifier: Apache-2.0
/**
 * Files as sources of folds. An {@link skein.fold.files.InputFile} is a file, pipe or stream whose first bytes tell whether it
 * is compressed; a {@link skein.fold.files.RecordFormat} says where records begin. {@link skein.fold.files.FilesSpan} reads
 * several files by position, {@link skein.fold.files.StreamFeed} reads one from its beginning to its end.
 */
package skein.fold.files;
