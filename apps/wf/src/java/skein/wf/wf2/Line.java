// SPDX-License-Identifier: Apache-2.0
package skein.wf.wf2;

import skein.fold.files.Bytes;

/**
 * One line of an access log, parsed in place: a cursor that each worker moves from line to line.
 *
 * <p>The rules, in short (fields lie between single spaces; quotes and brackets mean nothing):
 * <ul>
 * <li>a line ends at a line feed, and one carriage return directly before that is dropped;</li>
 * <li>fewer than 11 fields: malformed;</li>
 * <li>else, field 5 is not {@code "GET}, or field 8 is not 200, 304 or 404: ignored;</li>
 * <li>else, field 9 is neither {@code -} (0) nor 1 to 15 digits: malformed;</li>
 * <li>else counted.</li>
 * </ul>
 *
 * <p>There are two paths to the same answer. {@link #parse} knows one shape only:
 * <pre>
 *   client - - [20 bytes 5 bytes] "GET url HTTP/d.d" 200 size referrer ...
 *         |          |          |         |                 |
 *         `head      `time      `request  `urlTo            `sizeFrom
 * </pre>
 * and leaves every other line to {@link #parseOdd}, which follows the rules literally. A test compares the two.
 */
final class Line {
    /** Not enough fields, or no number where the size should be. */
    static final int MALFORMED = 0;
    /** Not a GET, or not one of the three statuses. */
    static final int IGNORED = 1;
    /** A line that counts; the fields below are set. */
    static final int COUNTED = 2;

    private static final int FIELDS = 11;
    private static final int MAX_SIZE_DIGITS = 15;

    private static final long HEAD = word(" - - [\0\0");
    private static final long HEAD_MASK = 0x0000FFFFFFFFFFFFL;
    private static final long REQUEST = word("\0\0] \"GET");
    private static final long REQUEST_MASK = 0xFFFFFFFFFFFF0000L;
    private static final long PROTOCOL = word(" HTTP/0.");
    /** Masks the bits in which the digits 0 to 3 differ. */
    private static final long PROTOCOL_MASK = ~(3L << 48);
    /** The words from the minor version on: digit, quote, space, status, space, first byte of the size. */
    private static final long STATUS_200 = word("0\" 200 \0");

    private static final long STATUS_304 = word("0\" 304 \0");
    private static final long STATUS_404 = word("0\" 404 \0");
    private static final long STATUS_MASK = 0x00FFFFFFFFFFFFFEL;

    /** Where the next line begins. Set for every line. */
    int next;
    /** Where this line ends, without line feed and carriage return. */
    int end;

    int clientFrom;
    int clientTo;
    int urlFrom;
    int urlTo;
    int referrerFrom;
    /** Field 9, or 0 for {@code -}. */
    long size;
    /** True if the status is 404. */
    boolean missing;

    private final int[] from = new int[FIELDS + 1]; // parseOdd's fields: [from[i], from[i + 1] - 1)

    private static long word(String eight) {
        long word = 0;
        for (int i = 0; i < 8; i++) word |= (long) eight.charAt(i) << (i << 3);
        return word;
    }

    /**
     * Reads the line at {@code at}, which must end with a line feed that {@link Bytes#PAD} readable bytes follow.
     * Every search below stops at that line feed at the latest, and no load reaches further than the padding.
     */
    int parse(byte[] bytes, int at) {
        int space = Bytes.indexOfLow(bytes, at);
        int time = space + 6;
        int url = time + 33;
        if ((Bytes.load(bytes, space) & HEAD_MASK) != HEAD || !isTimeAndGet(bytes, time)) return parseOdd(bytes, at);
        int urlEnd = Bytes.indexOfLow(bytes, url);
        long status = Bytes.load(bytes, urlEnd + 8) & STATUS_MASK;
        if ((Bytes.load(bytes, urlEnd) & PROTOCOL_MASK) != PROTOCOL
                || (status != STATUS_200 && status != STATUS_304 && status != STATUS_404)) return parseOdd(bytes, at);
        int sizeFrom = urlEnd + 15;
        int sizeTo = parseSize(bytes, sizeFrom);
        if (sizeTo < 0 || bytes[sizeTo] != ' ') return parseOdd(bytes, at);
        clientFrom = at;
        clientTo = space;
        urlFrom = url;
        urlTo = urlEnd;
        missing = status == STATUS_404;
        referrerFrom = sizeTo + 1;
        endAt(bytes, referrerFrom, Bytes.indexOfLineFeed(bytes, referrerFrom));
        return COUNTED;
    }

    /** Returns whether at {@code at} there are 20 bytes, a space, 5 bytes and {@code ] "GET }, the bytes being no spaces. */
    private static boolean isTimeAndGet(byte[] bytes, int at) {
        long third = Bytes.load(bytes, at + 16);
        long request = Bytes.load(bytes, at + 24);
        // The space at 20 and the text of the request are checked separately. The search sees larger bytes there.
        long low = Bytes.low(Bytes.load(bytes, at))
                | Bytes.low(Bytes.load(bytes, at + 8))
                | Bytes.low(third | 0x40L << 32)
                | Bytes.low(request | REQUEST_MASK);
        return low == 0 && bytes[at + 20] == ' ' && bytes[at + 32] == ' ' && (request & REQUEST_MASK) == REQUEST;
    }

    /** Reads {@code -} or 1 to 15 digits into {@link #size}; returns where they end, or -1. */
    private int parseSize(byte[] bytes, int at) {
        size = 0;
        if (bytes[at] == '-') return at + 1;
        int from = at;
        long number = 0;
        for (int digit; (digit = bytes[at] - '0') >= 0 && digit <= 9; at++) number = 10 * number + digit;
        size = number;
        return at == from || at - from > MAX_SIZE_DIGITS ? -1 : at;
    }

    private void endAt(byte[] bytes, int from, int lineFeed) {
        next = lineFeed + 1;
        end = lineFeed > from && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
    }

    /** Applies the rules, one after the other. */
    private int parseOdd(byte[] bytes, int at) {
        endAt(bytes, at, Bytes.indexOfLineFeed(bytes, at));
        if (!split(bytes, at)) return MALFORMED;
        missing = fieldIs(bytes, 8, "404");
        if (!fieldIs(bytes, 5, "\"GET") || !(missing || fieldIs(bytes, 8, "200") || fieldIs(bytes, 8, "304")))
            return IGNORED;
        if (parseSize(bytes, from[9]) != from[10] - 1) return MALFORMED;
        clientFrom = from[0];
        clientTo = from[1] - 1;
        urlFrom = from[6];
        urlTo = from[7] - 1;
        referrerFrom = from[10];
        return COUNTED;
    }

    /** Finds where fields 0 to 10 begin; false when there are fewer. */
    private boolean split(byte[] bytes, int at) {
        from[0] = at;
        for (int i = at, n = 1; i < end; i++) {
            if (bytes[i] == ' ') {
                from[n++] = i + 1;
                if (n == FIELDS) return true;
            }
        }
        return false;
    }

    /** Returns whether a field, not the last, is {@code text}. */
    private boolean fieldIs(byte[] bytes, int field, String text) {
        int at = from[field];
        if (from[field + 1] - 1 - at != text.length()) return false;
        for (int i = 0; i < text.length(); i++) if (bytes[at + i] != text.charAt(i)) return false;
        return true;
    }

    /** Returns where the field that begins at {@code at} ends, in a line that ends at {@code end}. */
    static int fieldTo(byte[] bytes, int at, int end) {
        while (at < end && bytes[at] != ' ') at++;
        return at;
    }
}
