// SPDX-License-Identifier: Apache-2.0
/**
 * The byte-level engine of the Wide Finder, and of the generator of sample logs.
 *
 * <p>Four pieces, each of which knows nothing of the next:
 * <ol>
 * <li><b>slices</b> - {@link skein.wf.SliceSource} hands out whole lines, a megabyte or so at a time, to as many workers
 *     as ask; {@link skein.wf.FileSlices} and {@link skein.wf.StreamSlices} implement it, {@link skein.wf.SliceQueue} chains several;</li>
 * <li><b>a line</b> - {@link skein.wf.Line} finds the fields of one line, in place;</li>
 * <li><b>tables</b> - {@link skein.wf.KeyTable} counts by key, a key being bytes;</li>
 * <li><b>a tally</b> - {@link skein.wf.Wf2} feeds lines to tables for one worker, and merges with another worker's.</li>
 * </ol>
 * {@link skein.wf.WideFinder} runs one tally per worker and merges them; {@link skein.wf.Ranking} puts a finished table in
 * order. No {@code String} exists before the ranking.
 *
 * <p>Hot methods are few and short, because a one-shot command spends as long compiling as counting.
 */
package skein.wf;
