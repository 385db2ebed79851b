// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * For each key of a tally, how many different values a column has, and how bytes and durations are distributed. A key is identified
 * by the number of its entry in the tally's table.
 *
 * <p>Different values are counted one by one. With a limit on keys, memory for their values is limited too: each key then has the
 * registers of a {@link HyperLogLog} of {@link #REGISTER_BITS} bits, and only registers in use are kept.
 */
final class Distributions {
    /** The different values of a key are off by 1.04 / sqrt(2^12), that is 1.6 %, with a limit. */
    static final int REGISTER_BITS = 12;

    private static final int REGISTERS = 1 << REGISTER_BITS;
    private static final int CAPACITY = 1 << 10;
    /** The number of keys, such as the first days of a log, that have a bit in each value instead of pairs. */
    private static final int EARLY = Long.SIZE;

    private final TallyPlan plan;
    private final Budget budget;
    private final Tally owner; // the tally by the distinct column, whose table also holds the values, or null
    private final KeyTable
            values; // without a limit: those of the column, each with a bit for each early key that has it
    private final int bits; // the index of those bits among the numbers of a value
    private int early; // without a limit: how many keys have a bit
    private final int[] earlyEntries = new int[EARLY]; // which those are
    private final LongTable pairs; // without a limit: entry of another key, entry of the value
    private LongTable registers; // with a limit: entry of the key, register -> the highest rank
    private final LongTable[] buckets = new LongTable[2]; // of bytes and of durations: entry of the key, bucket
    private final int[] from = new int[Rows.ROWS];
    private final int[] to = new int[Rows.ROWS];
    private final int[] having = new int[Rows.ROWS];
    private final int[] found = new int[Rows.ROWS];

    /** Shares the table of {@code owner} unless that is null. The owner must count each row first. */
    Distributions(TallyPlan plan, Tally owner, Budget budget) {
        this.plan = plan;
        this.owner = owner;
        this.budget = budget;
        boolean exact = plan.distinct() >= 0 && plan.limit() == 0;
        values = owner != null ? owner.table : exact ? new KeyTable(1, CAPACITY, budget) : null;
        bits = owner != null ? Tally.ERROR : 0;
        pairs = newTable(exact);
        registers = newTable(plan.distinct() >= 0 && plan.limit() > 0);
        buckets[0] = newTable(plan.sizePercentiles());
        buckets[1] = newTable(plan.timePercentiles());
    }

    private LongTable newTable(boolean wanted) {
        return wanted ? new LongTable(budget, CAPACITY) : null;
    }

    /** Counts {@code rows[0, n)}, whose keys have the given entries in {@code table}. */
    void add(Rows batch, int[] rows, int[] entries, int n, KeyTable table) {
        if (owner != null) addOwned(rows, entries, n, table);
        else if (plan.distinct() >= 0) addValues(batch, rows, entries, n, table);
        if (buckets[0] != null) addNumbers(buckets[0], batch.size, rows, entries, n);
        if (buckets[1] != null) addNumbers(buckets[1], batch.micros, rows, entries, n);
    }

    private void addValues(Rows batch, int[] rows, int[] entries, int n, KeyTable table) {
        int[] columnFrom = batch.from[plan.distinct()];
        int[] columnTo = batch.to[plan.distinct()];
        int kept = 0;
        for (int i = 0; i < n; i++) {
            if (columnFrom[rows[i]] < 0) continue;
            from[kept] = columnFrom[rows[i]];
            to[kept] = columnTo[rows[i]];
            having[kept++] = entries[i];
        }
        if (registers != null) {
            for (int i = 0; i < kept; i++) addHash(having[i], HyperLogLog.hash(batch.bytes, from[i], to[i]));
        } else {
            values.findAll(batch.bytes, from, to, kept, found);
            for (int i = 0; i < kept; i++) addPair(table, having[i], found[i]);
        }
    }

    private void addOwned(int[] rows, int[] entries, int n, KeyTable table) {
        for (int i = 0; i < n; i++) {
            int value = owner.entryOfRow[rows[i]];
            if (value > 0) addPair(table, entries[i], value);
        }
    }

    private void addHash(int entry, long hash) {
        int register = (int) (hash >>> 64 - REGISTER_BITS);
        registers.raise((long) entry << REGISTER_BITS | register, HyperLogLog.rank(hash, REGISTER_BITS));
    }

    private void addPair(KeyTable table, int entry, int value) {
        long bit = bit(table.cells, entry);
        if (bit == 0 ? pairs.add((long) entry << 32 | value, 1) : (values.cells[value + bits] & bit) == 0) {
            values.cells[value + bits] |= bit;
            table.cells[entry + Tally.DISTINCT]++;
        }
    }

    /** Returns the bit of a key, or 0 if it is not an early one. {@link Tally#ERROR}, which is otherwise used with limits only, holds the bit's number plus one. */
    private long bit(long[] cells, int entry) {
        if (cells[entry + Tally.ERROR] == 0 && early < EARLY) {
            earlyEntries[early] = entry;
            cells[entry + Tally.ERROR] = ++early;
        }
        return cells[entry + Tally.ERROR] == 0 ? 0 : 1L << cells[entry + Tally.ERROR] - 1;
    }

    private static void addNumbers(LongTable buckets, long[] numbers, int[] rows, int[] entries, int n) {
        for (int i = 0; i < n; i++) {
            long number = numbers[rows[i]];
            if (number >= 0) buckets.add((long) entries[i] * Buckets.COUNT + Buckets.of(number), 1);
        }
    }

    /** Returns how many numbers the largest part keeps. */
    int size() {
        int size = 0;
        for (LongTable table : new LongTable[] {registers, buckets[0], buckets[1]})
            size = Math.max(size, table == null ? 0 : table.size());
        return size;
    }

    /** Writes the counts, for {@link #readFrom}. */
    void writeTo(DataOutput out) throws IOException {
        if (values != null) {
            if (owner == null) values.writeTo(out);
            out.writeInt(early);
            for (int i = 0; i < early; i++) out.writeInt(earlyEntries[i]);
        }
        for (LongTable table : new LongTable[] {pairs, registers, buckets[0], buckets[1]})
            if (table != null) table.writeTo(out);
    }

    /** Reads the counts that another one of the same plan has written. This one must have counted nothing. */
    void readFrom(DataInput in) throws IOException {
        if (values != null) {
            if (owner == null) values.readFrom(in);
            early = in.readInt();
            for (int i = 0; i < early; i++) earlyEntries[i] = in.readInt();
        }
        for (LongTable table : new LongTable[] {pairs, registers, buckets[0], buckets[1]})
            if (table != null) table.readFrom(in);
    }

    /**
     * Adds the counts of {@code other}. In {@code cells}, {@link Tally#COMPUTED} of each entry of {@code other} is the entry of
     * {@code table} with the same key.
     */
    void merge(Distributions other, long[] cells, KeyTable table) {
        if (pairs != null) mergeValues(other, cells, table);
        if (registers != null)
            other.registers.forEach((key, rank) -> registers.raise(moved(key, REGISTERS, cells), rank));
        for (int i = 0; i < buckets.length; i++) {
            LongTable mine = buckets[i];
            if (mine != null) other.buckets[i].forEach((key, n) -> mine.add(moved(key, Buckets.COUNT, cells), n));
        }
    }

    private void mergeValues(Distributions other, long[] cells, KeyTable table) {
        for (int at = other.values.first(); at < other.values.end(); at = other.values.next(at)) {
            int value = merged(other, at);
            for (long set = other.values.cells[at + bits]; set != 0; set &= set - 1) {
                int entry = other.earlyEntries[Long.numberOfTrailingZeros(set)];
                addPair(table, (int) cells[entry + Tally.COMPUTED], value);
            }
        }
        other.pairs.forEach((pair, n) ->
                addPair(table, (int) cells[(int) (pair >>> 32) + Tally.COMPUTED], merged(other, (int) pair)));
    }

    /** Returns the entry in this table of a value of {@code other}. An owner was merged before, and noted where its entries went. */
    private int merged(Distributions other, int value) {
        return owner == null ? values.find(other.values, value) : (int) other.values.cells[value + Tally.COMPUTED];
    }

    private static long moved(long key, int width, long[] cells) {
        return cells[(int) (key / width) + Tally.COMPUTED] * width + key % width;
    }

    /** Gives each entry its new number, {@link Tally#COMPUTED} in {@code cells}, and drops the entries for which that is 0. */
    void keep(long[] cells) {
        registers = kept(registers, REGISTERS, cells);
        for (int i = 0; i < buckets.length; i++) buckets[i] = kept(buckets[i], Buckets.COUNT, cells);
    }

    private LongTable kept(LongTable old, int width, long[] cells) {
        if (old == null) return null;
        LongTable kept = newTable(true);
        old.forEach((key, n) -> {
            long moved = moved(key, width, cells);
            if (moved >= width) kept.add(moved, n);
        });
        old.close();
        return kept;
    }

    /** With a limit: estimates for each entry of {@code table} how many different values it has. */
    void estimateValues(KeyTable table) {
        if (registers == null) return;
        for (int at = table.first(); at < table.end(); at = table.next(at)) table.cells[at + Tally.DISTINCT] = 0;
        long[] keys = registers.sortedKeys();
        int[] ranks = new int[HyperLogLog.RANKS];
        for (int at = 0, end; at < keys.length; at = end) {
            Arrays.fill(ranks, 0);
            for (end = at; end < keys.length && keys[end] >>> REGISTER_BITS == keys[at] >>> REGISTER_BITS; end++) {
                ranks[(int) registers.count(keys[end])]++;
            }
            ranks[0] = REGISTERS - (end - at);
            table.cells[(int) (keys[at] >>> REGISTER_BITS) + Tally.DISTINCT] =
                    HyperLogLog.estimate(ranks, REGISTER_BITS);
        }
    }

    /** Returns how often each bucket of bytes (0) or durations (1) was hit, by entry and bucket, or null. */
    LongTable buckets(int of) {
        return buckets[of];
    }
}
