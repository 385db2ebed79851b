// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;
import java.util.function.Supplier;

/**
 * The plan of an {@link Analysis}.
 *
 * @param formats the formats of the files
 * @param extraColumns how many columns there are beyond those that every {@link Rows} has
 * @param filters select the lines that count; the others are filtered
 * @param anonymized whether clients are counted by {@link Address#anonymize}
 * @param tallies the tallies
 * @param malformed gets the lines that are not in their format; or null
 * @param sinks makes a sink for each worker, or null
 * @param budget the memory for all tables
 */
public record AnalysisPlan(
        List<LogFormat> formats,
        int extraColumns,
        List<RowFilter> filters,
        boolean anonymized,
        List<TallyPlan> tallies,
        LineSink malformed,
        Supplier<RowSink> sinks,
        Budget budget) {
    /** Copies the lists. */
    public AnalysisPlan {
        formats = List.copyOf(formats);
        filters = List.copyOf(filters);
        tallies = List.copyOf(tallies);
    }

    /**
     * Returns the index of an earlier tally that can share its table with the tally at {@code index}, or -1. It counts all rows by the
     * distinct column of that tally alone. An entry has bits for one other tally, so only the first tally with that distinct column shares.
     */
    int ownerOf(int index) {
        TallyPlan tally = tallies.get(index);
        if (tally.distinct() < 0 || tally.limit() > 0) return -1;
        KeyPart field = new KeyPart(KeyPart.Kind.FIELD, tally.distinct(), 0);
        int owner = -1;
        for (int i = 0; i < index; i++) {
            TallyPlan other = tallies.get(i);
            if (other.distinct() == tally.distinct()) return -1;
            if (owner < 0 && other.key().equals(List.of(field)) && other.where().isEmpty() && other.distinct() < 0)
                owner = i;
        }
        return owner;
    }
}
