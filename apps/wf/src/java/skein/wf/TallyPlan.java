// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * The plan of a {@link Tally}.
 *
 * @param key the key; without parts, all lines have one empty key
 * @param where selects from the rows that pass the plan's filters
 * @param times whether durations are added up too
 * @param distinct the column whose different values are counted for each key, or -1
 * @param sizePercentiles whether the percentiles of bytes can be asked for
 * @param timePercentiles whether the percentiles of durations can be asked for
 * @param limit how many keys are kept, so that counts become approximate; 0: all keys
 * @param rank the value that decides which keys are dropped beyond the limit, see {@link Tally}
 */
public record TallyPlan(
        List<KeyPart> key,
        List<RowFilter> where,
        boolean times,
        int distinct,
        boolean sizePercentiles,
        boolean timePercentiles,
        int limit,
        int rank) {
    /** Copies the lists. */
    public TallyPlan {
        key = List.copyOf(key);
        where = List.copyOf(where);
    }
}
