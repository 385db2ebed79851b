// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Counts by key: one tally of one worker.
 *
 * <p>An entry of the table holds, for each key, the values below. With a limit, only about as many keys are kept: when there are
 * twice as many, the smaller half goes. What may have been lost is known for each key that is kept: its true value is
 * at least the value shown and at most {@link #ERROR} more, and no error exceeds the sum of all values divided by the limit.
 *
 * <p>Source of the limit: Misra and Gries, "Finding repeated elements", 1982, merged as by Agarwal et al., "Mergeable
 * summaries", 2012. Differs: an entry keeps its count, and beside it what was subtracted before it came, so that a key
 * which never went is exact.
 */
public final class Tally {
    /** Lines. */
    public static final int HITS = 0;
    /** The sum of bytes sent. */
    public static final int BYTES = 1;
    /** The sum of durations, in microseconds. */
    public static final int TIME = 2;
    /** How many lines had a duration. */
    public static final int TIMED = 3;
    /** The longest duration. */
    public static final int SLOWEST = 4;
    /** How many different values of the plan's distinct column. */
    public static final int DISTINCT = 5;
    /** By how much the ranked value may be too small. */
    public static final int ERROR = 6;
    /** A value computed from the others, to rank by. */
    public static final int COMPUTED = 7;
    /** How many values there are. */
    public static final int WIDTH = 8;

    private static final int CAPACITY = 1 << 10;

    final TallyPlan plan;
    KeyTable table;
    private final Budget budget;
    private final RowFilter[] where;
    private final Keys keys;
    private final int[] rows = new int[Batch.ROWS];
    private final int[] entries = new int[Batch.ROWS];
    private final KeyTable values;       // of the distinct column, by their bytes
    private final LongTable pairs;       // entry of the key, entry of the value
    private final LongTable[] buckets;   // of bytes and of durations, each perhaps null: entry of the key, bucket
    private final HyperLogLog seen;      // with a limit only
    private long dropped;                // with a limit: what was subtracted from every key

    Tally(TallyPlan plan, Budget budget) {
        this.plan = plan;
        this.budget = budget;
        table = new KeyTable(WIDTH, CAPACITY, budget);
        where = plan.where().stream().map(RowFilter::copy).toArray(RowFilter[]::new);
        keys = new Keys(plan.key().toArray(KeyPart[]::new));
        boolean distinct = plan.distinct() >= 0;
        values = distinct ? new KeyTable(1, CAPACITY, budget) : null;
        pairs = distinct ? new LongTable(budget, CAPACITY) : null;
        buckets = new LongTable[] {
            plan.sizePercentiles() ? new LongTable(budget, CAPACITY) : null,
            plan.timePercentiles() ? new LongTable(budget, CAPACITY) : null};
        seen = plan.limit() > 0 ? new HyperLogLog() : null;
    }

    /** Counts {@code picked[0, n)} of a batch's rows. */
    void add(Batch batch, int[] picked, int n) {
        System.arraycopy(picked, 0, rows, 0, n);
        for (RowFilter filter : where) n = filter.select(batch, rows, n);
        keys.find(batch, rows, n);
        n = withKey(n);
        if (n == 0) return;
        table.findAll(keys.bytes, keys.from, keys.to, n, entries);
        if (seen != null) addNew(n);
        addHits(n);
        addSizes(batch, n);
        if (plan.times()) addTimes(batch, n);
        if (pairs != null) addValues(batch, n);
        if (buckets[0] != null) addBuckets(buckets[0], batch.size, n);
        if (buckets[1] != null) addBuckets(buckets[1], batch.micros, n);
        if (seen != null && table.size() >= 2 * plan.limit()) prune();
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

    private void addSizes(Batch batch, int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) {
            long size = batch.size[rows[i]];
            if (size > 0) cells[entries[i] + BYTES] = Math.addExact(cells[entries[i] + BYTES], size);
        }
    }

    private void addTimes(Batch batch, int n) {
        long[] cells = table.cells;
        for (int i = 0; i < n; i++) {
            long micros = batch.micros[rows[i]];
            if (micros == Batch.NONE) continue;
            int entry = entries[i];
            cells[entry + TIME] = Math.addExact(cells[entry + TIME], micros);
            cells[entry + TIMED]++;
            if (micros > cells[entry + SLOWEST]) cells[entry + SLOWEST] = micros;
        }
    }

    private void addValues(Batch batch, int n) {
        int[] from = batch.from[plan.distinct()];
        int[] to = batch.to[plan.distinct()];
        int kept = 0;
        for (int i = 0; i < n; i++) {
            if (from[rows[i]] < 0) continue;
            keys.from[kept] = from[rows[i]];
            keys.to[kept] = to[rows[i]];
            rows[kept] = rows[i];
            entries[kept++] = entries[i];
        }
        int[] found = new int[kept];
        values.findAll(batch.bytes, keys.from, keys.to, kept, found);
        for (int i = 0; i < kept; i++) addPair(entries[i], found[i]);
    }

    private void addPair(int entry, int value) {
        if (pairs.add((long) entry << 32 | value, 1)) table.cells[entry + DISTINCT]++;
    }

    private void addBuckets(LongTable buckets, long[] numbers, int n) {
        for (int i = 0; i < n; i++) {
            long number = numbers[rows[i]];
            if (number >= 0) buckets.add((long) entries[i] * Buckets.COUNT + Buckets.of(number), 1);
        }
    }

    /** Drops the keys beyond the limit. */
    private void prune() {
        KeyTable old = table;
        int rank = plan.rank();
        long[] effective = new long[old.size()];
        int n = 0;
        for (int at = old.first(); at < old.end(); at = old.next(at)) effective[n++] = effective(old, at, rank);
        java.util.Arrays.sort(effective);
        dropped = Math.addExact(dropped, Math.max(0, effective[n - plan.limit()]));
        table = new KeyTable(WIDTH, CAPACITY, budget);
        for (int at = old.first(); at < old.end(); at = old.next(at)) {
            if (effective(old, at, rank) <= 0) continue;
            int entry = table.find(old, at);
            System.arraycopy(old.cells, at, table.cells, entry, WIDTH);
        }
        old.close();
    }

    /** What Misra and Gries would have left of a value. */
    private long effective(KeyTable table, int entry, int rank) {
        return table.cells[entry + rank] - (dropped - table.cells[entry + ERROR]);
    }

    /** Adds what another worker has counted. */
    void merge(Tally other) {
        long ours = dropped;
        dropped = Math.addExact(dropped, other.dropped);
        if (seen != null) raiseErrors(other.dropped);
        for (int at = other.table.first(); at < other.table.end(); at = other.table.next(at)) {
            int entry = table.find(other.table, at);
            boolean fresh = table.cells[entry + HITS] == 0;
            mergeEntry(table.cells, entry, other.table.cells, at);
            if (seen != null) table.cells[entry + ERROR] += other.table.cells[at + ERROR] + (fresh ? ours : -other.dropped);
        }
        if (seen != null) seen.add(other.seen);
        mergePairs(other);
        for (int i = 0; i < buckets.length; i++) mergeBuckets(buckets[i], other.buckets[i], other.table);
        if (seen != null && table.size() > plan.limit()) prune();
    }

    private void raiseErrors(long by) {
        for (int at = table.first(); at < table.end(); at = table.next(at)) table.cells[at + ERROR] += by;
    }

    private static void mergeEntry(long[] cells, int entry, long[] others, int other) {
        for (int value : new int[] {HITS, BYTES, TIME, TIMED}) {
            cells[entry + value] = Math.addExact(cells[entry + value], others[other + value]);
        }
        cells[entry + SLOWEST] = Math.max(cells[entry + SLOWEST], others[other + SLOWEST]);
    }

    private void mergePairs(Tally other) {
        if (pairs == null) return;
        for (long pair : other.pairs.sortedKeys()) {
            addPair(table.find(other.table, (int) (pair >>> 32)), values.find(other.values, (int) pair));
        }
    }

    private void mergeBuckets(LongTable mine, LongTable other, KeyTable otherTable) {
        if (mine == null) return;
        for (long key : other.sortedKeys()) {
            long entry = table.find(otherTable, (int) (key / Buckets.COUNT));
            mine.add(entry * Buckets.COUNT + key % Buckets.COUNT, other.count(key));
        }
    }

    /** How many keys there are; with a limit, an estimate that is off by 0.8 % (one standard error). */
    public long distinct() {
        return seen != null && dropped > 0 ? seen.estimate() : table.size();
    }

    /** The most by which a ranked value may be too small, and the most that a key which is not there may have. */
    public long error() {
        return dropped;
    }

    /** Bucket counts of bytes (0) or durations (1) by key, or null. */
    LongTable buckets(int of) {
        return buckets[of];
    }
}
