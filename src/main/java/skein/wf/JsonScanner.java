// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;

/**
 * Scans lines of a {@link JsonFormat}: checks the syntax of the whole line, and picks the values that have a place.
 *
 * <p>Escapes in picked strings are resolved in place, which is possible because the text only becomes shorter, and done last, because
 * a line that turns out to be malformed must stay as it is.
 */
final class JsonScanner extends Scanner {
    private static final int MALFORMED = 1;
    private static final int MAX_DEPTH = 100;
    private static final int REQUEST = Batch.COLUMNS;  // places of fields without a column, in `from`
    private static final int TIME = REQUEST + 1;
    private static final int STATUS = REQUEST + 2;
    private static final int SIZE = REQUEST + 3;
    private static final int DURATION = REQUEST + 4;
    private static final int PLACES = REQUEST + 5;

    private final TextFormat.Field[] fields;
    private final KeyTable paths = new KeyTable(1, 256, new Budget(Long.MAX_VALUE));  // number of the field + 1, 0 if only a prefix
    private final Text path = new Text(256);
    private final Numbers numbers = new Numbers();
    private final TimeText times = new TimeText(TimeText.AUTO);
    private final boolean[] filled;
    private final int extra;  // places from PLACES on belong to the format's own columns
    /* By place, for one line: which field was picked, and where its value is. */
    private final int[] picked;
    private final int[] from;
    private final int[] to;
    private final boolean[] escaped;
    private byte[] bytes;
    private int at;
    private int end;

    JsonScanner(JsonFormat format) {
        fields = format.fields().toArray(TextFormat.Field[]::new);
        int columns = Batch.COLUMNS;
        for (TextFormat.Field field : fields) columns = Math.max(columns, field.column() + 1);
        extra = columns - Batch.COLUMNS;
        picked = new int[PLACES + extra];
        from = new int[picked.length];
        to = new int[picked.length];
        escaped = new boolean[picked.length];
        filled = new boolean[columns];
        Arrays.fill(filled, true);
        for (int i = fields.length - 1; i >= 0; i--) addPath(fields[i].name(), i);
    }

    private void addPath(String name, int field) {
        for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) entry(name.substring(0, dot));
        int entry = entry(name);
        paths.cells[entry] = field + 1;
    }

    private int entry(String name) {
        byte[] padded = Arrays.copyOf(Text.literal(name), name.length() + Words.PAD);
        int[] entry = new int[1];
        paths.findAll(padded, new int[] {0}, new int[] {name.length()}, 1, entry);
        return entry[0];
    }

    @Override
    boolean[] filled() {
        return filled;
    }

    @Override
    int scan(byte[] bytes, int at, int end, Batch batch, int row) {
        if (at == end) return 0;
        this.bytes = bytes;
        this.at = at;
        this.end = end;
        path.length = 0;
        Arrays.fill(picked, Integer.MAX_VALUE);
        skipSpace();
        if (!object(0, true)) return MALFORMED;
        skipSpace();
        return this.at == end ? fill(batch, row) : MALFORMED;
    }

    private int fill(Batch batch, int row) {
        for (int column = 0; column < filled.length; column++) {
            int place = column < Batch.COLUMNS ? column : column + PLACES - Batch.COLUMNS;
            batch.from[column][row] = picked[place] == Integer.MAX_VALUE ? -1 : from[place];
            batch.to[column][row] = to[place];
        }
        int fault = numbers(batch, row);
        if (fault != OK) return fault;
        for (int column = 0; column < filled.length; column++) {
            int place = column < Batch.COLUMNS ? column : column + PLACES - Batch.COLUMNS;
            if (picked[place] != Integer.MAX_VALUE && escaped[place]) batch.to[column][row] = unescape(from[place], to[place]);
        }
        if (picked[REQUEST] != Integer.MAX_VALUE) {
            int requestTo = escaped[REQUEST] ? unescape(from[REQUEST], to[REQUEST]) : to[REQUEST];
            TextScanner.request(bytes, from[REQUEST], requestTo, batch, row);
        }
        return OK;
    }

    private boolean has(int place) {
        return picked[place] != Integer.MAX_VALUE && from[place] < to[place];
    }

    private int numbers(Batch batch, int row) {
        batch.second[row] = batch.size[row] = batch.micros[row] = Batch.NONE;
        batch.status[row] = 0;
        if (has(TIME)) {
            if (!times.parse(bytes, from[TIME], to[TIME])) return 2;
            batch.second[row] = times.second;
            batch.zone[row] = times.zone;
        }
        if (has(STATUS)) {
            if (!numbers.status(bytes, from[STATUS], to[STATUS]) || numbers.end != to[STATUS]) return 3;
            batch.status[row] = (int) numbers.value;
            batch.from[Batch.STATUS][row] = from[STATUS];
            batch.to[Batch.STATUS][row] = to[STATUS];
        }
        if (has(SIZE)) {
            if (!numbers.micros(bytes, from[SIZE], to[SIZE], 1000) || numbers.end != to[SIZE]) return 4;
            batch.size[row] = Math.max(0, numbers.value);
        }
        if (has(DURATION)) {
            long nanos = fields[picked[DURATION]].nanos();
            if (!duration(nanos)) return 5;
            batch.micros[row] = numbers.value;
        }
        return OK;
    }

    /** A number, also with an exponent; a text may name its own unit, as in {@code 1.5ms}. */
    private boolean duration(long nanos) {
        int last = to[DURATION];
        if (numbers.micros(bytes, from[DURATION], last, nanos) && numbers.end == last) return true;
        String text = new String(bytes, from[DURATION], last - from[DURATION], java.nio.charset.StandardCharsets.UTF_8);
        String number = text.replaceFirst("(?:ns|us|µs|ms|s)$", "");
        long unit = switch (text.substring(number.length())) {
            case "ns" -> 1;
            case "us", "µs" -> 1000;
            case "ms" -> 1_000_000;
            case "s" -> 1_000_000_000;
            default -> nanos;
        };
        try {
            numbers.value = (long) (Double.parseDouble(number) * unit / 1000);
            return numbers.value >= 0;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private void skipSpace() {
        while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r')) at++;
    }

    private boolean take(char c) {
        if (at >= end || bytes[at] != c) return false;
        at++;
        return true;
    }

    /** Reads an object; its keys are looked up if {@code wanted}. */
    private boolean object(int depth, boolean wanted) {
        if (depth > MAX_DEPTH || !take('{')) return false;
        skipSpace();
        if (take('}')) return true;
        for (int prefix = path.length; ; path.length = prefix) {
            skipSpace();
            int keyFrom = at + 1;
            if (!string()) return false;
            int entry = wanted ? lookUp(prefix, keyFrom, at - 1) : 0;
            skipSpace();
            if (!take(':')) return false;
            skipSpace();
            if (!value(depth, entry)) return false;
            skipSpace();
            if (take(',')) continue;
            path.length = prefix;
            return take('}');
        }
    }

    /** The entry of a key's path in {@link #paths}, or 0; the path is then the prefix for what is below. */
    private int lookUp(int prefix, int keyFrom, int keyTo) {
        if (prefix > 0) path.add('.');
        path.add(bytes, keyFrom, keyTo - keyFrom);
        path.reserve(Words.PAD);
        return paths.lookUp(path.bytes, 0, path.length);
    }

    private boolean value(int depth, int entry) {
        if (at >= end) return false;
        int start = at;
        switch (bytes[at]) {
            case '{' -> {
                return object(depth + 1, entry != 0);
            }
            case '[' -> {
                return array(depth + 1, entry);
            }
            case '"' -> {
                boolean whole = string();
                if (whole && entry != 0) pick(entry, start + 1, at - 1);
                return whole;
            }
            default -> {
                if (!scalar()) return false;
                if (entry != 0 && bytes[start] != 'n') pick(entry, start, at);
                return true;
            }
        }
    }

    /** Reads an array; its first element counts as the value. */
    private boolean array(int depth, int entry) {
        if (depth > MAX_DEPTH || !take('[')) return false;
        skipSpace();
        if (take(']')) return true;
        for (int first = entry; ; first = 0) {
            skipSpace();
            if (!value(depth, first)) return false;
            skipSpace();
            if (!take(',')) return take(']');
        }
    }

    private boolean scalar() {
        int start = at;
        while (at < end && bytes[at] != ',' && bytes[at] != '}' && bytes[at] != ']' && bytes[at] > ' ') at++;
        return switch (at - start) {
            case 0 -> false;
            case 4 -> is(start, "true") || is(start, "null") || isNumber(start);
            case 5 -> is(start, "false") || isNumber(start);
            default -> isNumber(start);
        };
    }

    private boolean is(int start, String text) {
        for (int i = 0; i < text.length(); i++) if (bytes[start + i] != text.charAt(i)) return false;
        return true;
    }

    private boolean isNumber(int start) {
        boolean digit = false;
        for (int i = start; i < at; i++) {
            byte b = bytes[i];
            if (b >= '0' && b <= '9') digit = true;
            else if (b != '-' && b != '+' && b != '.' && b != 'e' && b != 'E') return false;
        }
        return digit;
    }

    /** Reads a string, and leaves {@link #at} after its second quote. */
    private boolean string() {
        if (!take('"')) return false;
        for (int from = at; ; at++) {
            at = Words.indexOf(bytes, at, end, '"' * Words.ONES);
            if (at < 0) return false;
            int backslash = at;
            while (backslash > from && bytes[backslash - 1] == '\\') backslash--;
            if ((at - backslash & 1) == 0) break;
        }
        at++;
        return true;
    }

    private void pick(int entry, int valueFrom, int valueTo) {
        int field = (int) paths.cells[entry] - 1;
        if (field < 0) return;
        int place = place(fields[field]);
        if (picked[place] < field) return;
        picked[place] = field;
        from[place] = valueFrom;
        to[place] = valueTo;
        escaped[place] = Words.indexOf(bytes, valueFrom, valueTo, '\\' * Words.ONES) >= 0;
    }

    private static int place(TextFormat.Field field) {
        return switch (field.kind()) {
            case TEXT, NUMBER -> field.column() < Batch.COLUMNS ? field.column() : field.column() + PLACES - Batch.COLUMNS;
            case REQUEST -> REQUEST;
            case TIME -> TIME;
            case STATUS -> STATUS;
            case SIZE -> SIZE;
            case DURATION -> DURATION;
        };
    }

    /** Resolves the escapes of {@code bytes[at, end)} in place, to UTF-8; returns where the text ends then. */
    private int unescape(int at, int end) {
        int out = at;
        while (at < end) {
            byte b = bytes[at++];
            if (b != '\\' || at == end) {
                bytes[out++] = b;
                continue;
            }
            byte c = bytes[at++];
            int code = c == 'u' ? hex(at, end) : -1;
            if (code >= 0) {
                at += 4;
                int low = code >>> 10 == 0x36 && at + 6 <= end && bytes[at] == '\\' && bytes[at + 1] == 'u' ? hex(at + 2, end) : -1;
                if (low >>> 10 == 0x37) {
                    code = Character.toCodePoint((char) code, (char) low);
                    at += 6;
                }
                out = putUtf8(out, code);
            } else {
                int simple = "bfnrt".indexOf(c);
                bytes[out++] = simple >= 0 ? (byte) "\b\f\n\r\t".charAt(simple) : c;
            }
        }
        return out;
    }

    private int hex(int at, int end) {
        if (at + 4 > end) return -1;
        int code = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = Character.digit(bytes[i], 16);
            if (digit < 0) return -1;
            code = code << 4 | digit;
        }
        return code;
    }

    private int putUtf8(int out, int code) {
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        bytes[out++] = (byte) (more == 0 ? code : 0xF0 << 3 - more & 0xFF | code >>> 6 * more);
        for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) bytes[out++] = (byte) (0x80 | code >>> shift & 0x3F);
        return out;
    }
}
