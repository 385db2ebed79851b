// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/** Scans lines of a {@link TextFormat}. Fault 0 is an empty line, fault n the n-th field, the last one the line's end. */
final class TextScanner extends Scanner {
    private static final long HTTP = Bytes.load(Text.literal("HTTP/\0\0\0"), 0);
    private static final int LONGEST_PROTOCOL = 10;
    private static final int MAX_TIME_BYTES = 100;

    private final TextFormat.Field[] fields;
    private final TextFormat.Kind[] kinds;
    private final int[] columns;
    private final boolean open;
    private final boolean sparse;
    /* Literal i stands before field i; the first eight bytes are compared as a word. */
    private final byte[][] literals;
    private final long[] word;
    private final long[] mask;
    private final boolean[] quoted;
    /* Whether a lost quotation mark could go unnoticed, so that the marks in the field must come in pairs. */
    private final boolean[] needsPairs;
    private final boolean[] numberNext;
    private final boolean[] mustHaveText;
    private final boolean[] padded;
    private final boolean[] requests;
    private final boolean[] proxied; // whether the field is a client, which proxies may follow in a list
    private final boolean[] portNext; // whether a port follows a host, which may be an address of IPv6
    private final TimeText[] times;
    private final Numbers numbers = new Numbers();
    private final TextScanner bare; // for lines without quotes, or null
    private final CommonPart common; // for lines of the usual shape, or null
    private final int commonFrom; // the first field of it, or -1
    /* Whether a field ends at its first quotation mark, if the next literal begins there and no backslash stands before it. */
    private final boolean[] simple;

    TextScanner(TextFormat format) {
        fields = format.fields().toArray(TextFormat.Field[]::new);
        int n = fields.length;
        kinds = new TextFormat.Kind[n];
        columns = new int[n];
        open = format.open();
        sparse = format.sparse();
        literals = new byte[n + 1][];
        word = new long[n + 1];
        mask = new long[n + 1];
        quoted = new boolean[n];
        needsPairs = new boolean[n];
        numberNext = new boolean[n];
        mustHaveText = new boolean[n];
        padded = new boolean[n];
        proxied = new boolean[n];
        portNext = new boolean[n];
        requests = new boolean[n];
        simple = new boolean[n];
        times = new TimeText[n];
        commonFrom = CommonPart.find(format);
        common = commonFrom < 0 ? null : new CommonPart(numbers);
        bare = format.bare() ? new TextScanner(format.withoutQuotes()) : null;
        for (int i = 0; i <= n; i++)
            setLiteral(i, Text.literal(format.literals().get(i)));
        for (int i = 0; i < n; i++) setField(i);
    }

    private void setLiteral(int i, byte[] literal) {
        literals[i] = literal;
        int head = Math.min(8, literal.length);
        for (int k = 0; k < head; k++) word[i] |= (literal[k] & 0xFFL) << (k << 3);
        mask[i] = head == 0 ? 0 : -1L >>> -(head << 3);
    }

    private void setField(int i) {
        kinds[i] = fields[i].kind();
        columns[i] = fields[i].column();
        quoted[i] = literals[i].length > 0
                && literals[i][literals[i].length - 1] == '"'
                && literals[i + 1].length > 0
                && literals[i + 1][0] == '"';
        numberNext[i] = i + 1 < fields.length && fields[i + 1].isNumber() && !fields[i + 1].padded();
        needsPairs[i] =
                quoted[i] && !fields[i].isRequest() && columns[i] != Rows.URL && (open || i + 2 < fields.length);
        padded[i] = fields[i].padded();
        requests[i] = fields[i].isRequest();
        portNext[i] = columns[i] == Rows.HOST
                && literals[i + 1].length == 1
                && literals[i + 1][0] == ':'
                && i + 1 < fields.length
                && fields[i + 1].kind() == TextFormat.Kind.NUMBER;
        proxied[i] = kinds[i] == TextFormat.Kind.TEXT && columns[i] == Rows.CLIENT;
        simple[i] = quoted[i] && kinds[i] == TextFormat.Kind.TEXT && !proxied[i] && !numberNext[i];
        mustHaveText[i] = !sparse
                || requests[i]
                || columns[i] == Rows.CLIENT
                || columns[i] == Rows.HOST
                || columns[i] == Rows.URL;
        if (kinds[i] == TextFormat.Kind.TIME) times[i] = new TimeText(fields[i].pattern());
    }

    @Override
    boolean[] filled() {
        boolean[] filled = new boolean[Rows.COLUMNS + columns.length];
        for (int i = 0; i < columns.length; i++) {
            if (fields[i].isRequest()) {
                filled[Rows.METHOD] = filled[Rows.URL] = filled[Rows.PROTOCOL] = true;
                if (kinds[i] == TextFormat.Kind.ABSOLUTE_REQUEST) filled[Rows.HOST] = true;
            } else if (columns[i] >= 0) {
                filled = fill(filled, columns[i]);
            }
        }
        return filled;
    }

    private static boolean[] fill(boolean[] filled, int column) {
        boolean[] wide = column < filled.length ? filled : java.util.Arrays.copyOf(filled, column + 1);
        wide[column] = true;
        return wide;
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        int fault = scanWhole(bytes, at, end, batch, row);
        if (fault <= 0 || bare == null || Bytes.indexOf(bytes, at, end, (byte) '"') < end) return fault;
        return bare.scan(bytes, at, end, batch, row) == OK ? OK : fault;
    }

    private int scanWhole(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        if (!literalAt(0, bytes, at, end)) return 1;
        at += literals[0].length;
        int n = kinds.length;
        for (int i = 0; i < n; i++) {
            if (i == commonFrom && common.scan(bytes, at, end, batch, row)) {
                i += CommonPart.FIELDS;
                if (!literalAt(i, bytes, common.end, end)) return i;
                at = common.end + literals[i].length;
                if (i == n) break;
            }
            if (padded[i]) while (at < end && bytes[at] == ' ') at++;
            int to = field(i, bytes, at, end, batch, row);
            if (to < 0) return i + 1;
            if (columns[i] >= 0) {
                batch.from[columns[i]][row] = at;
                batch.to[columns[i]][row] = padded[i] ? withoutSpaces(bytes, at, to) : to;
                if (columns[i] == Rows.CLIENT) Places.client(kinds[i], bytes, batch, row);
            }
            at = to + literals[i + 1].length;
        }
        return at == end || open && bytes[at] == ' ' ? OK : n + 1;
    }

    /** Returns the end of field {@code i}, which begins at {@code at}, or -1 when it is not in the format. */
    private int field(int i, byte[] bytes, int at, int end, Rows batch, int row) {
        switch (kinds[i]) {
            case STATUS -> {
                if (!numbers.status(bytes, at, end)) return -1;
                batch.status[row] = (int) numbers.value;
                return followed(i, bytes, numbers.end, end);
            }
            case SIZE -> {
                if (isEmpty(i, bytes, at, end)) return none(batch.size, row, at);
                if (!numbers.whole(bytes, at, end)) return -1;
                batch.size[row] = Math.max(0, numbers.value);
                return followed(i, bytes, numbers.end, end);
            }
            case NUMBER -> {
                return isEmpty(i, bytes, at, end)
                        ? at
                        : numbers.whole(bytes, at, end) ? followed(i, bytes, numbers.end, end) : -1;
            }
            case DURATION -> {
                if (isEmpty(i, bytes, at, end)) return none(batch.micros, row, at);
                if (!numbers.micros(bytes, at, end, fields[i].nanos())) return -1;
                batch.micros[row] = numbers.value;
                return followed(i, bytes, numbers.end, end);
            }
            case TIME -> {
                return time(i, bytes, at, end, batch, row);
            }
            default -> {
                int start = portNext[i] ? Places.lastColon(bytes, at, spaceOrEnd(bytes, at, end)) : at;
                int to = start < 0 ? -1 : textEnd(i, bytes, at, start, end);
                if (to < 0 || to == at && !quoted[i] && mustHaveText[i]) return -1;
                if (requests[i]) request(i, bytes, at, to, batch, row);
                return to;
            }
        }
    }

    /** Returns whether a field of a sparse format has no text: the literal behind it follows at once, or the line ends if that is empty. */
    private boolean isEmpty(int i, byte[] bytes, int at, int end) {
        return sparse && (literals[i + 1].length > 0 ? literalAt(i + 1, bytes, at, end) : at == end);
    }

    private static int none(long[] column, int row, int at) {
        column[row] = Rows.NONE;
        return at;
    }

    /** Returns the end of a time. It may contain the literal after it, such as a space, so this tries each end until it is a time. */
    private int time(int i, byte[] bytes, int at, int end, Rows batch, int row) {
        TimeText time = times[i];
        int last = Math.min(end, at + MAX_TIME_BYTES);
        for (int to = at; (to = textEnd(i, bytes, at, to, end)) >= 0 && to <= last; to++) {
            if (!time.parse(bytes, at, to)) continue;
            batch.second[row] = time.second;
            batch.zone[row] = time.zone;
            return to;
        }
        return -1;
    }

    private int followed(int i, byte[] bytes, int to, int end) {
        return literalAt(i + 1, bytes, to, end) ? to : -1;
    }

    /** Returns whether literal {@code i} is at {@code at}; the last one must also be where the line ends. */
    private boolean literalAt(int i, byte[] bytes, int at, int end) {
        byte[] literal = literals[i];
        int after = at + literal.length;
        if (after > end || ((Bytes.load(bytes, at) ^ word[i]) & mask[i]) != 0) return false;
        for (int k = 8; k < literal.length; k++) if (bytes[at + k] != literal[k]) return false;
        return i < kinds.length || after == end || open && bytes[after] == ' ';
    }

    /** Returns the first place from {@code start} on where literal {@code i + 1} ends field {@code i}, which begins at {@code at}, or -1. */
    private int textEnd(int i, byte[] bytes, int at, int start, int end) {
        byte[] literal = literals[i + 1];
        if (literal.length == 0) return start > end ? -1 : open ? spaceOrEnd(bytes, start, end) : end;
        byte first = literal[0];
        if (simple[i]) {
            int to = Bytes.indexOf(bytes, start, end, first);
            if (to < end && bytes[to - 1] != '\\' && literalAt(i + 1, bytes, to, end)) return to;
        }
        int marks = 0; // quotation marks in the field, which may belong to another field or line
        for (int to = start; (to = Bytes.indexOf(bytes, to, end, first)) < end; to++) {
            if (literalAt(i + 1, bytes, to, end)
                    && (!numberNext[i] || isNumberStart(bytes[to + literal.length]))
                    && (!quoted[i] || !isEscaped(bytes, at, to))
                    && (to == at || !isBetween(i, bytes, to))
                    && ((marks & 1) == 0 || !needsPairs[i])) {
                return marks > 0 && isTorn(i, bytes, at, to) ? -1 : to;
            }
            if (quoted[i] && !isEscaped(bytes, at, to)) marks++;
        }
        return -1;
    }

    /**
     * Returns whether a field with a quotation mark in it has probably lost the mark at its own end, so that it includes what
     * follows in the line. A request is whole if it has two spaces and a protocol, a URL if it has no space.
     */
    private boolean isTorn(int i, byte[] bytes, int at, int to) {
        if (!requests[i] && columns[i] != Rows.URL) return false;
        int spaces = 0;
        for (int k = at; k < to; k++) if (bytes[k] == ' ') spaces++;
        return requests[i] ? spaces != 2 || protocol(bytes, at, to) < 0 : spaces > 0;
    }

    private static int withoutSpaces(byte[] bytes, int at, int to) {
        while (to > at && bytes[to - 1] == ' ') to--;
        return to;
    }

    /** Returns whether the byte at {@code at} is inside a list: it follows a comma, or is next to a colon that separates two texts. */
    private boolean isBetween(int i, byte[] bytes, int at) {
        boolean list = kinds[i] == TextFormat.Kind.LIST;
        return (list || proxied[i] && bytes[at + 1] != '-') && bytes[at - 1] == ','
                || list && !isColon(literals[i + 1], 1) && (isColon(bytes, at - 1) || isColon(bytes, at + 1));
    }

    /** Returns whether a colon with a space on each side is at {@code at}. Other colons belong to addresses. */
    private static boolean isColon(byte[] bytes, int at) {
        return at > 0 && at + 1 < bytes.length && bytes[at] == ':' && bytes[at - 1] == ' ' && bytes[at + 1] == ' ';
    }

    private static int spaceOrEnd(byte[] bytes, int at, int end) {
        while (at < end && bytes[at] != ' ') at++;
        return at;
    }

    private static boolean isNumberStart(byte b) {
        return b >= '0' && b <= '9' || b == '-' || b == '+';
    }

    /** Returns whether an odd number of backslashes stands before {@code at}. */
    static boolean isEscaped(byte[] bytes, int from, int at) {
        int backslash = at;
        while (backslash > from && bytes[backslash - 1] == '\\') backslash--;
        return (at - backslash & 1) != 0;
    }

    private void request(int i, byte[] bytes, int at, int to, Rows batch, int row) {
        request(bytes, at, to, batch, row);
        if (kinds[i] == TextFormat.Kind.ABSOLUTE_REQUEST) Places.splitUrl(bytes, batch, row);
    }

    /** Puts method, URL and protocol of the request {@code bytes[at, to)} into a row. */
    static void request(byte[] bytes, int at, int to, Rows batch, int row) {
        int methodTo = at;
        while (methodTo < to && isMethod(bytes[methodTo], methodTo > at)) methodTo++;
        if (methodTo == at || methodTo == to || bytes[methodTo] != ' ') {
            put(batch, Rows.METHOD, row, -1, -1);
            put(batch, Rows.URL, row, at, to);
            put(batch, Rows.PROTOCOL, row, -1, -1);
            return;
        }
        int url = methodTo + 1;
        int protocol = protocol(bytes, url, to);
        put(batch, Rows.METHOD, row, at, methodTo);
        put(batch, Rows.URL, row, url, protocol < 0 ? to : protocol - 1);
        put(batch, Rows.PROTOCOL, row, protocol, to);
    }

    /** Returns whether a method may have this byte. VERSION-CONTROL of WebDAV and RPC_IN_DATA of Exchange have more than letters. */
    static boolean isMethod(byte b, boolean inside) {
        return (b | 0x20) >= 'a' && (b | 0x20) <= 'z' || inside && (b == '-' || b == '_');
    }

    private static void put(Rows batch, int column, int row, int from, int to) {
        batch.from[column][row] = from;
        batch.to[column][row] = to;
    }

    /** Returns where {@code HTTP/} begins after the last space of {@code bytes[from, to)}, or -1. */
    private static int protocol(byte[] bytes, int from, int to) {
        for (int at = to; at > from && to - at <= LONGEST_PROTOCOL; at--) {
            if (bytes[at - 1] == ' ')
                return to - at >= 5 && ((Bytes.load(bytes, at) ^ HTTP) & 0xFFFFFFFFFFL) == 0 ? at : -1;
        }
        return -1;
    }
}
