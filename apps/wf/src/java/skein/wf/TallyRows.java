// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A finished tally, in order. The tally must not change while this is used. */
public final class TallyRows {
    /** Numbers of bytes, for {@link #percentile}. */
    public static final int SIZES = 0;
    /** Durations, for {@link #percentile}. */
    public static final int TIMES = 1;

    /**
     * A key and its values.
     *
     * @param key the parts of the key
     * @param values by the numbers that {@link Tally} gives them
     * @param entry where it is, for {@link TallyRows#percentile}
     */
    public record Row(byte[][] key, long[] values, int entry) {}

    private final Tally tally;
    private final KeyTable table;
    private final int parts;
    private final long[][] bucketKeys = new long[2][]; // of sizes and times, in order; made on demand

    /** Makes the rows of {@code tally}. */
    public TallyRows(Tally tally) {
        this.tally = tally;
        table = tally.table;
        parts = tally.plan.key().size();
        if (tally.distributions() != null) tally.distributions().estimateValues(table);
    }

    /** Returns the {@code limit} rows with the largest of the values numbered {@code rank}; where they are equal, by key. */
    public List<Row> top(int rank, long limit) {
        List<Row> rows = new ArrayList<>();
        for (int at : new Ranking(table, rank, Tally.HITS, -1).topEntries(limit)) rows.add(row(at));
        return rows;
    }

    /** Returns all rows, by key. */
    public List<Row> byKey() {
        return new ArrayList<>(table.entriesByKey().stream().map(this::row).toList());
    }

    private Row row(int at) {
        long[] values = new long[Tally.WIDTH];
        System.arraycopy(table.cells, at, values, 0, tally.width);
        byte[] key = table.key(at);
        return new Row(
                parts == 1 ? new byte[][] {key} : parts == 0 ? new byte[0][] : Keys.split(key, parts), values, at);
    }

    /** Computes the mean duration of every key into {@link Tally#COMPUTED}. */
    public void computeMeans() {
        long[] cells = table.cells;
        for (int at = table.first(); at < table.end(); at = table.next(at)) {
            cells[at + Tally.COMPUTED] =
                    cells[at + Tally.TIMED] == 0 ? 0 : cells[at + Tally.TIME] / cells[at + Tally.TIMED];
        }
    }

    /** Computes a percentile of every key into {@link Tally#COMPUTED}. */
    public void computePercentiles(int of, double part) {
        for (int at = table.first(); at < table.end(); at = table.next(at)) {
            table.cells[at + Tally.COMPUTED] = Math.max(0, percentile(at, of, part));
        }
    }

    /** Returns the number that {@code part} of a row's numbers don't exceed, by nearest rank; -1 when it has no numbers. */
    public long percentile(Row row, int of, double part) {
        return percentile(row.entry, of, part);
    }

    private long percentile(int entry, int of, double part) {
        LongTable buckets = tally.distributions().buckets(of);
        if (bucketKeys[of] == null) bucketKeys[of] = buckets.sortedKeys();
        long[] keys = bucketKeys[of];
        long end = (entry + 1L) * Buckets.COUNT;
        int first = Arrays.binarySearch(keys, (long) entry * Buckets.COUNT);
        if (first < 0) first = -first - 1;
        long total = 0;
        for (int i = first; i < keys.length && keys[i] < end; i++) total += buckets.count(keys[i]);
        if (total == 0) return -1;
        long rank = Math.max(1, (long) Math.ceil(part * total));
        int at = first;
        for (long seen = buckets.count(keys[at]); seen < rank; seen += buckets.count(keys[at])) at++;
        long middle = Buckets.middle((int) (keys[at] % Buckets.COUNT));
        return of == TIMES ? Math.min(middle, table.cells[entry + Tally.SLOWEST]) : middle;
    }
}
