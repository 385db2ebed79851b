// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import skein.fold.files.Bytes;

/**
 * Counts by key: one tally of one worker.
 *
 * <p>An entry of the table holds, for each key, the values below. With a limit, only about as many keys are kept: when there are
 * twice as many, the smaller half goes. The possible loss is known for each key that is kept: its true value is
 * at least the value shown and at most {@link #ERROR} more. No error exceeds the sum of all values divided by the limit, or by the
 * number of keys that are left, if registers or percentiles take so much memory that fewer are kept.
 *
 * <p>Source of the limit: Misra and Gries, "Finding repeated elements", 1982, merged as by Agarwal et al., "Mergeable
 * summaries", 2012. Differs: an entry keeps its count, and beside it what was subtracted before it came, so that a key
 * that was never dropped is exact.
 */
public final class Tally {
    /** Lines. */
    public static final int HITS = 0;
    /** The sum of bytes sent. */
    public static final int BYTES = 1;
    /** A value computed from the others, to rank by. */
    public static final int COMPUTED = 2;
    /** With a limit: by how much the ranked value may be too small. */
    public static final int ERROR = 3;
    /** With durations: their sum, in microseconds. */
    public static final int TIME = 4;
    /** With durations: how many lines had one. */
    public static final int TIMED = 5;
    /** With durations: the longest. */
    public static final int SLOWEST = 6;
    /** How many different values of the plan's distinct column. */
    public static final int DISTINCT = 7;
    /** The largest number of values. */
    public static final int WIDTH = 8;

    private static final int CAPACITY = 1 << 10;
    /** With a limit: how many numbers {@link Distributions} may keep for each key, on the average; many keys have few. */
    private static final int DISTRIBUTION_PER_KEY = 16;
    /** With a limit: how many numbers {@link Distributions} may keep in any case. */
    private static final int LEAST_DISTRIBUTION = 1 << 17;

    final TallyPlan plan;
    /** How many values an entry has: only those that the plan asks for, so that more entries fit into the processor's caches. */
    final int width;

    KeyTable table;
    /** The tally by the distinct column, whose table also holds the different values; or null. It must count and be merged before this one. */
    final Tally owner;
    /** The entry of each row of the batch, or 0 if it has none. Null unless another tally shares the table. */
    final int[] entryOfRow;

    private final Budget budget;
    private final RowFilter[] where;
    private final Keys keys;
    private final int[] rows = new int[Rows.ROWS];
    private final int[] entries = new int[Rows.ROWS];
    private final Distributions distributions; // null when nothing asks for them
    private final HyperLogLog seen; // with a limit only
    private long dropped; // with a limit: what was subtracted from every key

    /** Shares the table of {@code owner} unless that is null. If {@code owned}, another tally shares this one's table. */
    Tally(TallyPlan plan, Tally owner, boolean owned, Budget budget) {
        this.plan = plan;
        this.owner = owner;
        this.budget = budget;
        entryOfRow = owned ? new int[Rows.ROWS] : null;
        width = plan.distinct() >= 0
                ? WIDTH
                : plan.times() ? SLOWEST + 1 : owned || plan.limit() > 0 ? ERROR + 1 : COMPUTED + 1;
        table = new KeyTable(width, CAPACITY, budget);
        where = plan.where().stream().map(RowFilter::copy).toArray(RowFilter[]::new);
        keys = new Keys(plan.key().toArray(KeyPart[]::new));
        boolean distributed = plan.distinct() >= 0 || plan.sizePercentiles() || plan.timePercentiles();
        distributions = distributed ? new Distributions(plan, owner, budget) : null;
        seen = plan.limit() > 0 ? new HyperLogLog() : null;
    }

    /** Counts {@code picked[0, n)} of a batch's rows. */
    void add(Rows batch, int[] picked, int n) {
        n = find(batch, picked, n);
        if (n == 0) return;
        if (seen != null) addNew(n);
        addHits(n);
        addSizes(batch, n);
        if (plan.times()) addTimes(batch, n);
        if (distributions != null) distributions.add(batch, rows, entries, n, table);
        if (seen != null) limit();
    }

    /** Selects the rows of {@code picked[0, n)} that count here into {@link #rows}, and finds their entries. Returns how many there are. */
    private int find(Rows batch, int[] picked, int n) {
        System.arraycopy(picked, 0, rows, 0, n);
        for (RowFilter filter : where) n = filter.select(batch, rows, n);
        keys.find(batch, rows, n);
        n = withKey(n);
        if (n > 0) table.findAll(keys.bytes, keys.from, keys.to, n, entries);
        if (entryOfRow != null) {
            Arrays.fill(entryOfRow, 0);
            for (int i = 0; i < n; i++) entryOfRow[rows[i]] = entries[i];
        }
        return n;
    }

    private int withKey(int n) {
        int kept = 0;
        for (int i = 0; i < n; i++) {
            if (keys.from[i] < 0) continue;
            keys.from[kept] = keys.from[i];
            keys.to[kept] = keys.to[i];
            rows[kept++] = rows[i];
        }
        return kept;
    }

    private void addNew(int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) {
            if (cells[entries[i] + HITS] != 0) continue;
            seen.add(table.longHash(entries[i]));
            cells[entries[i] + ERROR] = dropped;
        }
    }

    private void addHits(int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) cells[entries[i] + HITS]++;
    }

    private void addSizes(Rows batch, int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) {
            long size = batch.size[rows[i]];
            if (size > 0) cells[entries[i] + BYTES] = Math.addExact(cells[entries[i] + BYTES], size);
        }
    }

    private void addTimes(Rows batch, int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) {
            long micros = batch.micros[rows[i]];
            if (micros == Rows.NONE) continue;
            int entry = entries[i];
            cells[entry + TIME] = Math.addExact(cells[entry + TIME], micros);
            cells[entry + TIMED]++;
            if (micros > cells[entry + SLOWEST]) cells[entry + SLOWEST] = micros;
        }
    }

    /** Drops keys when there are twice as many as the limit, or when their distributions are too large. */
    private void limit() {
        if (table.size() >= 2 * plan.limit()) prune(plan.limit());
        if (distributions == null) return;
        int most = Math.max(LEAST_DISTRIBUTION, DISTRIBUTION_PER_KEY * plan.limit());
        if (distributions.size() <= most) return;
        do prune(table.size() >> 1);
        while (distributions.size() > most >> 1 && table.size() > 1);
    }

    /** Drops all but the {@code most} largest keys; fewer stay if some are equal. Puts the new place of each entry into COMPUTED. */
    private void prune(int most) {
        if (most == 0 || table.size() <= most) return;
        KeyTable old = table;
        int rank = plan.rank();
        long[] effective = new long[old.size()];
        int n = 0;
        for (int at = old.first(); at < old.end(); at = old.next(at)) effective[n++] = effective(old, at, rank);
        Arrays.sort(effective);
        dropped = Math.addExact(dropped, Math.max(0, effective[n - most]));
        table = new KeyTable(width, CAPACITY, budget);
        for (int at = old.first(); at < old.end(); at = old.next(at)) {
            old.cells[at + COMPUTED] = 0;
            if (effective(old, at, rank) <= 0) continue;
            int entry = table.find(old, at);
            System.arraycopy(old.cells, at, table.cells, entry, width);
            old.cells[at + COMPUTED] = entry;
        }
        if (distributions != null) distributions.keep(old.cells);
        old.close();
    }

    /** Returns the value that the algorithm of Misra and Gries would have kept. */
    private long effective(KeyTable table, int entry, int rank) {
        return table.cells[entry + rank] - (dropped - table.cells[entry + ERROR]);
    }

    /** Adds the counts of another worker. */
    void merge(Tally other) {
        long ours = dropped;
        dropped = Math.addExact(dropped, other.dropped);
        if (seen != null) raiseErrors(other.dropped);
        for (int at = other.table.first(); at < other.table.end(); at = other.table.next(at)) {
            int entry = table.find(other.table, at);
            boolean fresh = table.cells[entry + HITS] == 0;
            mergeEntry(table.cells, entry, other.table.cells, at);
            if (seen != null)
                table.cells[entry + ERROR] += other.table.cells[at + ERROR] + (fresh ? ours : -other.dropped);
            other.table.cells[at + COMPUTED] = entry;
        }
        if (seen != null) seen.add(other.seen);
        if (distributions != null) distributions.merge(other.distributions, other.table.cells, table);
        if (seen == null) return;
        prune(plan.limit());
        limit();
    }

    /**
     * Returns the tally that {@code wanted} would have counted of the same lines. Each key stands for its lines, so {@code wanted} must
     * compute its key and its conditions from {@code column}, by which this tally counts, and all its values must be sums.
     */
    public Tally remade(TallyPlan wanted, int column) {
        Tally made = new Tally(wanted, null, false, budget);
        Rows batch = new Rows(0, false);
        batch.clear(new boolean[0]);
        Text text = new Text(1 << 12);
        int[] places = new int[Rows.ROWS];
        int[] all = new int[Rows.ROWS];
        for (int at = table.first(); at < table.end(); ) {
            text.length = 0;
            int n = 0;
            for (; n < Rows.ROWS && at < table.end(); at = table.next(at), n++) {
                places[n] = at;
                all[n] = n;
                batch.from[column][n] = text.length;
                batch.to[column][n] = text.add(table.key(at)).length;
            }
            text.reserve(Bytes.PAD);
            batch.bytes = text.bytes;
            n = made.find(batch, all, n);
            for (int i = 0; i < n; i++)
                made.mergeEntry(made.table.cells, made.entries[i], table.cells, places[made.rows[i]]);
        }
        return made;
    }

    /** Gives the memory back; the tally must not be used any more. */
    public void close() {
        table.close();
    }

    private void raiseErrors(long by) {
        for (int at = table.first(); at < table.end(); at = table.next(at)) table.cells[at + ERROR] += by;
    }

    private void mergeEntry(long[] cells, int entry, long[] others, int other) {
        cells[entry + HITS] = Math.addExact(cells[entry + HITS], others[other + HITS]);
        cells[entry + BYTES] = Math.addExact(cells[entry + BYTES], others[other + BYTES]);
        if (!plan.times()) return;
        cells[entry + TIME] = Math.addExact(cells[entry + TIME], others[other + TIME]);
        cells[entry + TIMED] = Math.addExact(cells[entry + TIMED], others[other + TIMED]);
        cells[entry + SLOWEST] = Math.max(cells[entry + SLOWEST], others[other + SLOWEST]);
    }

    /** Writes the counts, for {@link #readFrom}. */
    void writeTo(DataOutput out) throws IOException {
        table.writeTo(out);
        out.writeLong(dropped);
        if (seen != null) seen.writeTo(out);
        if (distributions != null) distributions.writeTo(out);
    }

    /** Reads the counts that another tally of the same plan has written. This one must have counted nothing. */
    void readFrom(DataInput in) throws IOException {
        table.readFrom(in);
        dropped = in.readLong();
        if (seen != null) seen.readFrom(in);
        if (distributions != null) distributions.readFrom(in);
    }

    /** Returns how many keys there are; with a limit, an estimate that is off by 0.8 % (one standard error). */
    public long distinct() {
        return seen != null && dropped > 0 ? seen.estimate() : table.size();
    }

    /** Returns how many lines have a key. With a limit, lines of dropped keys are missing. */
    public long hits() {
        long hits = 0;
        for (int at = table.first(); at < table.end(); at = table.next(at)) hits += table.cells[at + HITS];
        return hits;
    }

    /** Returns how many lines have a key and a duration. With a limit, lines of dropped keys are missing. Needs durations. */
    public long timed() {
        long timed = 0;
        for (int at = table.first(); at < table.end(); at = table.next(at)) timed += table.cells[at + TIMED];
        return timed;
    }

    /** Returns whether only some of the keys may be here, and the different values of a column are estimates. */
    public boolean isApproximate() {
        return seen != null;
    }

    /** Returns a bound on how much a ranked value may be too small, and on the value of a key that is not there. */
    public long error() {
        return dropped;
    }

    /** Returns the distributions of the lines of each key, or null. */
    Distributions distributions() {
        return distributions;
    }
}
