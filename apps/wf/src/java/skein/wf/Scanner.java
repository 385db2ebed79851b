// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Parses lines of one format. Each worker has its own scanner, made by a {@link LogFormat}.
 */
public abstract class Scanner {
    /** The line is in the format. Other results of {@link #scan} that are not negative are numbers of faults. */
    static final int OK = -1;

    /** The line is not a request but describes the lines after it. */
    static final int COMMENT = -2;

    /**
     * Skips a byte order mark and zeros at {@code at}, and returns where the text of the line begins. Editors write the mark; a crashed
     * server or a truncated log leaves zeros.
     */
    static int start(byte[] bytes, int at, int end) {
        while (at < end && bytes[at] == 0) at++;
        return end - at >= 3 && bytes[at] == (byte) 0xEF && bytes[at + 1] == (byte) 0xBB && bytes[at + 2] == (byte) 0xBF
                ? at + 3
                : at;
    }

    /** Returns which columns {@link #scan} fills in every row. */
    abstract boolean[] filled();

    /**
     * Parses the line {@code bytes[at, end)}, without its line end, into a row of {@code batch}.
     * {@link Bytes#PAD} readable bytes follow it. The scanner may change only a line that is in the format.
     *
     * @return {@link #OK}, {@link #COMMENT}, or the number of the fault; the row is then invalid
     */
    abstract int scan(byte[] bytes, int at, int end, Rows batch, int row);
}
