// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Takes lines of one format apart; each worker has its own. Made by a {@link LogFormat}.
 */
public abstract class Scanner {
    /** The line is in the format; every other answer of {@link #scan} is the number of a fault. */
    static final int OK = -1;

    /** The line says something about the lines behind it, and is no request. */
    static final int COMMENT = -2;

    /**
     * Returns where the line that begins at {@code at} says something. Editors put a byte order mark before a text; a server that crashed,
     * or whose log was truncated, leaves zeros.
     */
    static int start(byte[] bytes, int at, int end) {
        while (at < end && bytes[at] == 0) at++;
        return end - at >= 3 && bytes[at] == (byte) 0xEF && bytes[at + 1] == (byte) 0xBB && bytes[at + 2] == (byte) 0xBF
                ? at + 3
                : at;
    }

    /** Which columns {@link #scan} fills in every row. */
    abstract boolean[] filled();

    /**
     * Takes the line {@code bytes[at, end)}, without its line end, apart into a row of {@code batch}.
     * {@link Bytes#PAD} readable bytes follow it. Only a line that is in the format may be changed.
     *
     * @return {@link #OK}, {@link #COMMENT}, or the number of the fault that keeps the line out of the format; the row then means nothing
     */
    abstract int scan(byte[] bytes, int at, int end, Rows batch, int row);
}
