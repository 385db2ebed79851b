// SPDX-License-Identifier: Apache-2.0
/**
 * The byte-level engine of the log analyser.
 *
 * <p>It has four parts, none of which uses a later one:
 * <ol>
 * <li><b>tables</b> - {@link skein.wf.KeyTable} counts by key, a key being bytes, within a {@link skein.wf.Budget};</li>
 * <li><b>lines</b> - a {@link skein.wf.LogFormat} makes a {@link skein.wf.Scanner}, which finds the fields of a line in place and
 *     puts them into the columns of {@link skein.wf.Rows};</li>
 * <li><b>questions</b> - a {@link skein.wf.RowFilter} picks rows, a {@link skein.wf.KeyPart} says by which part of
 *     a row to count;</li>
 * <li><b>accumulators</b> - {@link skein.wf.Analysis} carries out an {@link skein.wf.AnalysisPlan} for one worker, {@link
 *     skein.wf.wf2.Wf2} does the same for the one report of Wide Finder 2; both merge with another worker's.</li>
 * </ol>
 * The lines come as slices of {@code skein.fold}; {@link skein.wf.Tail} makes slices of what is appended to a file.
 * No class starts a thread: {@code skein.wf.driver} folds accumulators over slices. {@link skein.wf.Ranking} and {@link
 * skein.wf.TallyRows} sort finished tables. No key becomes a {@code String} before that.
 *
 * <p>Hot methods are few and short, because a short command spends as much time compiling as counting.
 */
package skein.wf;
