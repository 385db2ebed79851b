// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;

/**
 * What a {@link Tally} counts.
 *
 * @param key what it counts by; no parts: everything under one empty key
 * @param where which of the rows that pass the plan's filters it counts
 * @param times whether durations are added up too
 * @param distinct the column of which different values are counted for each key; -1: none
 * @param sizePercentiles whether the percentiles of bytes can be asked for
 * @param timePercentiles whether the percentiles of durations can be asked for
 * @param limit how many keys are kept, all others being counted approximately; 0: all
 * @param rank by which value keys are dropped beyond the limit, see {@link Tally}
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
