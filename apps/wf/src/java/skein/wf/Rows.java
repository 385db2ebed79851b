// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A batch of parsed lines of one slice, by column: the position of each field in the slice's bytes, and the numbers that
 * the scanner has read. The fields are not copied.
 *
 * <p>A {@link Scanner} fills a row. Then filters and tallies process one column of all rows at a time, in short loops
 * whose loads don't depend on each other.
 */
public final class Rows {
    /** The largest number of rows. */
    public static final int ROWS = 128;
    /* The columns that every batch has; those of a format's own fields follow. */
    public static final int CLIENT = 0;
    public static final int USER = 1;
    public static final int METHOD = 2;
    public static final int URL = 3;
    public static final int PROTOCOL = 4;
    public static final int STATUS = 5;
    public static final int REFERRER = 6;
    public static final int AGENT = 7;
    public static final int HOST = 8;
    /** The number of columns that every batch has. */
    public static final int COLUMNS = 9;
    /** Stands for a number that the line does not have. */
    public static final long NONE = Long.MIN_VALUE;

    /** The slice's bytes. */
    byte[] bytes;

    int rows;
    /** [column][row]: where the field begins, or -1 when the line has no such field. */
    final int[][] from;

    final int[][] to;
    final int[] lineFrom = new int[ROWS];
    final int[] lineTo = new int[ROWS];
    /** The status as a number, 0 for none. */
    final int[] status = new int[ROWS];
    /** Bytes sent, or {@link #NONE}; a {@code -} is 0. */
    final long[] size = new long[ROWS];
    /** How long the answer took, in microseconds, or {@link #NONE}. */
    final long[] micros = new long[ROWS];
    /** The time as the log's clock showed it, in seconds since 1970 on that clock, or {@link #NONE}. */
    final long[] second = new long[ROWS];
    /** How far that clock is ahead of UTC, in seconds. */
    final int[] zone = new int[ROWS];

    /* The original lines that a scanner has changed; null unless lines are asked for. */
    private final Text changed;
    private final int[] changedFrom = new int[ROWS]; // -1 for an unchanged line
    private final int[] changedTo = new int[ROWS];

    /** Makes a batch with {@code extraColumns} more columns. If {@code lines}, it can return whole lines. */
    Rows(int extraColumns, boolean lines) {
        changed = lines ? new Text(1 << 10) : null;
        from = new int[COLUMNS + extraColumns][ROWS];
        to = new int[COLUMNS + extraColumns][ROWS];
    }

    /** Empties the columns that a scanner does not fill. */
    void clear(boolean[] filled) {
        for (int column = 0; column < from.length; column++) {
            if (column >= filled.length || !filled[column]) Arrays.fill(from[column], -1);
        }
        Arrays.fill(status, 0);
        Arrays.fill(size, NONE);
        Arrays.fill(micros, NONE);
        Arrays.fill(second, NONE);
        Arrays.fill(zone, 0);
    }

    /** Removes the rows. */
    void start() {
        rows = 0;
        if (changed == null) return;
        changed.length = 0;
        Arrays.fill(changedFrom, -1);
    }

    /** Keeps a copy of the line {@code bytes[at, end)} of a row before it is changed, unless a scanner around the caller has kept it. */
    void keepLine(int row, int at, int end) {
        if (changed == null || changedFrom[row] >= 0) return;
        changedFrom[row] = changed.length;
        changedTo[row] = changed.add(bytes, at, end - at).length;
    }

    /** Drops the copy of a line that is not in the format, so that the row can hold another one. */
    void forgetLine(int row) {
        if (changed == null) return;
        changed.length = changedFrom[row];
        changedFrom[row] = -1;
    }

    /** Returns how many rows there are. */
    public int rows() {
        return rows;
    }

    /** Returns a field as text, its bytes read as UTF-8; null when the line has none. */
    public String text(int column, int row) {
        int at = from[column][row];
        return at < 0 ? null : new String(bytes, at, to[column][row] - at, StandardCharsets.UTF_8);
    }

    /** Returns the whole line as text; only for a {@link RowSink}. */
    public String line(int row) {
        if (changed != null && changedFrom[row] >= 0) {
            return new String(
                    changed.bytes, changedFrom[row], changedTo[row] - changedFrom[row], StandardCharsets.UTF_8);
        }
        return new String(bytes, lineFrom[row], lineTo[row] - lineFrom[row], StandardCharsets.UTF_8);
    }

    /** Returns the status, 0 for none. */
    public int status(int row) {
        return status[row];
    }

    /** Returns the bytes sent, or {@link #NONE}. */
    public long size(int row) {
        return size[row];
    }

    /** Returns the duration in microseconds, or {@link #NONE}. */
    public long micros(int row) {
        return micros[row];
    }

    /** Returns the time in seconds since 1970 on the log's clock, or {@link #NONE}. */
    public long second(int row) {
        return second[row];
    }

    /** Returns how far the log's clock is ahead of UTC, in seconds. */
    public int zone(int row) {
        return zone[row];
    }
}
