// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import skein.fold.files.Bytes;

/**
 * Carries out an {@link AnalysisPlan}, as one worker.
 *
 * <p>Lines are parsed a batch at a time. Then each filter and each tally processes the batch. Every line is counted once, as
 * malformed, filtered or counted.
 */
public final class Analysis extends Accumulator<Analysis> {
    private final AnalysisPlan plan;
    private final Rows batch;
    private final Scanner[] scanners;
    private final RowFilter[] filters;
    private final Tally[] tallies;
    private final RowSink sink;
    private final PartialLines[] parts; // by file, null for those whose lines are whole
    private final Text malformedLines = new Text(1 << 10);
    private final long[][] malformed; // [format][fault]
    private final long[] lines; // by format
    private final Address address = new Address();
    private final int[] rows = new int[Rows.ROWS];
    private final int[] formats; // the number of each file's format
    private int format = -1; // whose columns the batch has
    private int next; // where parse continues
    private long counted;
    private long filtered;
    private long bytes;
    private long firstSecond = Long.MAX_VALUE;
    private long lastSecond = Long.MIN_VALUE;
    private long firstFiltered = Long.MAX_VALUE; // of the batches of which no line was counted
    private long lastFiltered = Long.MIN_VALUE;

    /**
     * Makes an analysis that has counted nothing.
     *
     * @param formats the number in the plan of each file's format
     */
    public Analysis(AnalysisPlan plan, int[] formats) {
        this.plan = plan;
        this.formats = formats.clone();
        batch = new Rows(plan.extraColumns(), plan.sinks() != null);
        scanners = plan.formats().stream().map(LogFormat::scanner).toArray(Scanner[]::new);
        parts = Arrays.stream(formats)
                .mapToObj(format -> PartialLines.of(plan.formats().get(format)))
                .toArray(PartialLines[]::new);
        filters = plan.filters().stream().map(RowFilter::copy).toArray(RowFilter[]::new);
        tallies = new Tally[plan.tallies().size()];
        for (int i = 0; i < tallies.length; i++) tallies[i] = newTally(i);
        sink = plan.sinks() == null ? null : plan.sinks().get();
        malformed = plan.formats().stream()
                .map(format -> new long[format.faults().size()])
                .toArray(long[][]::new);
        lines = new long[scanners.length];
    }

    private Tally newTally(int i) {
        int owner = plan.ownerOf(i);
        boolean owned = IntStream.range(0, tallies.length).anyMatch(other -> plan.ownerOf(other) == i);
        return new Tally(plan.tallies().get(i), owner < 0 ? null : tallies[owner], owned, plan.budget());
    }

    @Override
    protected void addLines(byte[] bytes, int from, int to, int file, long position) throws IOException {
        if (formats[file] != format) {
            format = formats[file];
            batch.clear(scanners[format].filled());
        }
        Text joined = parts[file] == null ? null : join(parts[file], bytes, from, to, position);
        if (joined == null) addWhole(bytes, from, to);
        else addWhole(joined.bytes, 0, joined.length);
    }

    /** Joins lines that were cut. A line without its end is malformed until the end comes. */
    private Text join(PartialLines lines, byte[] bytes, int from, int to, long position) {
        lines.continueAt(position);
        int before = lines.waiting();
        Text joined = lines.join(bytes, from, to);
        int more = lines.waiting() - before;
        this.lines[format] += more;
        malformed[format][malformed[format].length - 1] += more;
        return joined;
    }

    private void addWhole(byte[] bytes, int from, int to) throws IOException {
        batch.bytes = bytes;
        for (next = from; next < to; ) {
            parse(bytes, to);
            count();
        }
        if (plan.malformed() != null) plan.malformed().write(malformedLines);
    }

    /** Puts the next lines that are in the format into the batch. */
    private void parse(byte[] bytes, int to) {
        batch.start();
        Scanner scanner = scanners[format];
        int at = next;
        int n = 0;
        long seen = 0;
        for (; at < to && n < Rows.ROWS; seen++) {
            int lineFeed = Bytes.indexOfLineFeed(bytes, at);
            int end = lineFeed > at && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
            int fault = scanner.scan(bytes, Scanner.start(bytes, at, end), end, batch, n);
            if (fault == Scanner.OK) {
                batch.lineFrom[n] = at;
                batch.lineTo[n++] = end;
            } else if (fault == Scanner.COMMENT) {
                filtered++;
            } else {
                malformed[format][fault]++;
                if (plan.malformed() != null) malformedLines.add(bytes, at, lineFeed + 1 - at);
            }
            at = lineFeed + 1;
        }
        lines[format] += seen;
        batch.rows = n;
        next = at;
    }

    private void count() {
        int n = batch.rows;
        for (int i = 0; i < n; i++) rows[i] = i;
        for (RowFilter filter : filters) n = filter.select(batch, rows, n);
        if (n == 0) lookAtFiltered();
        filtered += batch.rows - n;
        counted += n;
        if (plan.anonymized()) anonymize(n);
        total(n);
        for (Tally tally : tallies) tally.add(batch, rows, n);
        if (sink != null) sink.add(batch, rows, n);
    }

    /** Anonymizes in place. No other code uses the slice, and no address becomes longer. */
    private void anonymize(int n) {
        int[] from = batch.from[Rows.CLIENT];
        int[] to = batch.to[Rows.CLIENT];
        for (int i = 0; i < n; i++) {
            int row = rows[i];
            if (from[row] >= 0) to[row] = address.anonymize(batch.bytes, from[row], to[row]);
        }
    }

    /** Keeps the first and the last time of filtered lines, for a note in case no line is counted. */
    private void lookAtFiltered() {
        for (int row = 0; row < batch.rows; row++) {
            long second = batch.second[row];
            if (second == Rows.NONE) continue;
            firstFiltered = Math.min(firstFiltered, second);
            lastFiltered = Math.max(lastFiltered, second);
        }
    }

    private void total(int n) {
        for (int i = 0; i < n; i++) {
            long size = batch.size[rows[i]];
            if (size > 0) bytes = Math.addExact(bytes, size);
            long second = batch.second[rows[i]];
            if (second == Rows.NONE) continue;
            if (second < firstSecond) firstSecond = second;
            if (second > lastSecond) lastSecond = second;
        }
    }

    @Override
    public int parts() {
        return tallies.length + 1;
    }

    @Override
    protected void mergePart(Analysis other, int part) {
        if (part < tallies.length) {
            if (tallies[part].owner == null) mergeTally(other, part);
            return;
        }
        counted += other.counted;
        filtered += other.filtered;
        bytes = Math.addExact(bytes, other.bytes);
        firstSecond = Math.min(firstSecond, other.firstSecond);
        lastSecond = Math.max(lastSecond, other.lastSecond);
        firstFiltered = Math.min(firstFiltered, other.firstFiltered);
        lastFiltered = Math.max(lastFiltered, other.lastFiltered);
        for (int i = 0; i < malformed.length; i++) {
            lines[i] += other.lines[i];
            for (int k = 0; k < malformed[i].length; k++) malformed[i][k] += other.malformed[i][k];
        }
        if (sink != null) sink.merge(other.sink);
    }

    /** Merges a tally, and then those that share its table. */
    private void mergeTally(Analysis other, int i) {
        tallies[i].merge(other.tallies[i]);
        for (int k = 0; k < tallies.length; k++) if (tallies[k].owner == tallies[i]) mergeTally(other, k);
    }

    @Override
    protected void write(DataOutput out) throws IOException {
        for (Tally tally : tallies) tally.writeTo(out);
        for (long number : new long[] {counted, filtered, bytes, firstSecond, lastSecond}) out.writeLong(number);
        out.writeInt(lines.length);
        for (int i = 0; i < lines.length; i++) {
            out.writeLong(lines[i]);
            for (long number : malformed[i]) out.writeLong(number);
        }
    }

    @Override
    protected void read(DataInput in) throws IOException {
        for (Tally tally : tallies) tally.readFrom(in);
        counted = in.readLong();
        filtered = in.readLong();
        bytes = in.readLong();
        firstSecond = in.readLong();
        lastSecond = in.readLong();
        int known = in.readInt(); // this plan may have more formats after those
        for (int i = 0; i < known; i++) {
            lines[i] = in.readLong();
            for (int k = 0; k < malformed[i].length; k++) malformed[i][k] = in.readLong();
        }
    }

    /** Returns how many lines of each format there were. */
    public long[] lines() {
        return lines.clone();
    }

    /** Returns how many lines of a format had each of its faults. */
    public long[] malformed(int format) {
        return malformed[format].clone();
    }

    /** Returns how many lines did not pass the filters. */
    public long filtered() {
        return filtered;
    }

    /** Returns how many lines were counted. */
    public long counted() {
        return counted;
    }

    /** Returns the bytes sent of the lines that were counted. */
    public long bytes() {
        return bytes;
    }

    /** Returns the earliest time of a counted line, on the log's clock; more than {@link #lastSecond} when there is none. */
    public long firstSecond() {
        return firstSecond;
    }

    /** Returns the latest time of a counted line. */
    public long lastSecond() {
        return lastSecond;
    }

    /** Like {@link #firstSecond}, of the filtered lines, if no line was counted. Saved counts and Spark's don't have it. */
    public long firstFiltered() {
        return firstFiltered;
    }

    /** See {@link #firstFiltered}. */
    public long lastFiltered() {
        return lastFiltered;
    }

    /** Returns a tally, by its number in the plan. */
    public Tally tally(int i) {
        return tallies[i];
    }

    /** Returns the worker's sink, or null. */
    public RowSink sink() {
        return sink;
    }
}
