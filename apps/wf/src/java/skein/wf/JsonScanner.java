// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;
import skein.fold.files.Bytes;

/**
 * Scans lines of a {@link JsonFormat}: checks the syntax of the whole line, and picks the values that have a place.
 *
 * <p>Escapes in picked strings are resolved in place, which is possible because the text only becomes shorter, and done last, because
 * a line that turns out to be malformed must stay as it is; the batch may keep the line first. Times and numbers with escapes are read
 * from a copy.
 */
final class JsonScanner extends Scanner {
    private static final int MALFORMED = 1;
    private static final int NO_KNOWN_KEY = 6;
    private static final int MAX_DEPTH = 100;
    private static final int REQUEST = Rows.COLUMNS; // places of fields without a column, in `from`
    private static final int TIME = REQUEST + 1;
    private static final int STATUS = REQUEST + 2;
    private static final int SIZE = REQUEST + 3;
    private static final int DURATION = REQUEST + 4;
    private static final int PLACES = REQUEST + 5;
    private static final double MAX_SIZE = 1e15;

    private final TextFormat.Field[] fields;
    private final KeyTable paths =
            new KeyTable(1, 256, new Budget(Long.MAX_VALUE)); // number of the field + 1, 0 if only a prefix
    private final Text path = new Text(256);
    private final Text copy = new Text(256);
    private final Numbers numbers = new Numbers();
    private final TimeText times = new TimeText(TimeText.AUTO);
    private final boolean[] filled;
    private final int extra; // places from PLACES on belong to the format's own columns
    /* By place, for one line: which field was picked, and where its value is. */
    private final int[] picked;
    private final int[] from;
    private final int[] to;
    private final boolean[] escaped;
    private byte[] bytes;
    private int start;
    private int at;
    private int end;
    private boolean changes; // whether a picked value is not spelled as it is to be shown
    private boolean statusChanges;
    /* The value that open found. */
    private byte[] source;
    private int sourceFrom;
    private int sourceTo;

    JsonScanner(JsonFormat format) {
        fields = format.fields().toArray(TextFormat.Field[]::new);
        int columns = Rows.COLUMNS;
        for (TextFormat.Field field : fields) columns = Math.max(columns, field.column() + 1);
        extra = columns - Rows.COLUMNS;
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
        byte[] padded = Arrays.copyOf(Text.literal(name), name.length() + Bytes.PAD);
        int[] entry = new int[1];
        paths.findAll(padded, new int[] {0}, new int[] {name.length()}, 1, entry);
        return entry[0];
    }

    @Override
    boolean[] filled() {
        return filled;
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        this.bytes = bytes;
        this.at = start = at;
        this.end = end;
        changes = statusChanges = false;
        path.length = 0;
        Arrays.fill(picked, Integer.MAX_VALUE);
        skipSpace();
        if (!object(0, true)) return MALFORMED;
        skipSpace();
        return this.at == end ? fill(batch, row) : MALFORMED;
    }

    private boolean isAnyPicked() {
        for (int place : picked) if (place != Integer.MAX_VALUE) return true;
        return false;
    }

    private int fill(Rows batch, int row) {
        for (int column = 0; column < filled.length; column++) {
            int place = column < Rows.COLUMNS ? column : column + PLACES - Rows.COLUMNS;
            batch.from[column][row] = picked[place] == Integer.MAX_VALUE ? -1 : from[place];
            batch.to[column][row] = to[place];
        }
        int fault = numbers(batch, row);
        if (fault != OK) return fault;
        if (!isAnyPicked()) return NO_KNOWN_KEY;
        if (changes) change(batch, row);
        if (picked[REQUEST] != Integer.MAX_VALUE) TextScanner.request(bytes, from[REQUEST], to[REQUEST], batch, row);
        return OK;
    }

    /** Spells the values in place as they are to be shown. */
    private void change(Rows batch, int row) {
        batch.keepLine(row, start, end);
        for (int column = 0; column < filled.length; column++) {
            int place = column < Rows.COLUMNS ? column : column + PLACES - Rows.COLUMNS;
            if (picked[place] != Integer.MAX_VALUE && escaped[place])
                batch.to[column][row] = unescape(bytes, from[place], to[place]);
        }
        if (picked[REQUEST] != Integer.MAX_VALUE && escaped[REQUEST])
            to[REQUEST] = unescape(bytes, from[REQUEST], to[REQUEST]);
        if (!statusChanges) return;
        byte[] status = Text.literal(batch.status[row] == 0 ? "-" : Integer.toString(batch.status[row]));
        System.arraycopy(status, 0, bytes, from[STATUS], status.length);
        batch.to[Rows.STATUS][row] = from[STATUS] + status.length;
    }

    /** Finds the text at a place, without escapes; false when there is none. */
    private boolean open(int place) {
        if (picked[place] == Integer.MAX_VALUE || from[place] == to[place]) return false;
        source = bytes;
        sourceFrom = from[place];
        sourceTo = to[place];
        if (!escaped[place]) return true;
        copy.length = 0;
        copy.add(bytes, sourceFrom, sourceTo - sourceFrom).reserve(Bytes.PAD);
        source = copy.bytes;
        sourceFrom = 0;
        sourceTo = unescape(source, 0, copy.length);
        return true;
    }

    private int numbers(Rows batch, int row) {
        batch.second[row] = batch.size[row] = batch.micros[row] = Rows.NONE;
        batch.status[row] = 0;
        if (open(TIME)) {
            if (!times.parse(source, sourceFrom, sourceTo)) return 2;
            batch.second[row] = times.second;
            batch.zone[row] = times.zone;
        }
        if (open(STATUS)) {
            if (!status()) return 3;
            batch.status[row] = (int) numbers.value;
            batch.from[Rows.STATUS][row] = from[STATUS];
            batch.to[Rows.STATUS][row] = to[STATUS];
        }
        if (open(SIZE)) {
            if (!size()) return 4;
            batch.size[row] = numbers.value;
        }
        if (open(DURATION)) {
            if (!duration(fields[picked[DURATION]].nanos())) return 5;
            batch.micros[row] = numbers.value;
        }
        return OK;
    }

    /** A status as JSON may spell it, such as {@code 200.0} or {@code 2e2}. */
    private boolean status() {
        statusChanges = escaped[STATUS];
        if (numbers.status(source, sourceFrom, sourceTo) && numbers.end == sourceTo) return true;
        double status = number(sourceTo);
        numbers.value = (long) status;
        changes = statusChanges = true;
        return status == numbers.value && status >= 100 && status <= 999;
    }

    /** A whole number as JSON may spell it; one below zero, or with a fraction, says nothing. */
    private boolean size() {
        if (numbers.whole(source, sourceFrom, sourceTo) && numbers.end == sourceTo) {
            numbers.value = Math.max(0, numbers.value);
            return true;
        }
        double size = number(sourceTo);
        numbers.value = size >= 0 && size == Math.rint(size) ? (long) size : Rows.NONE;
        return size < MAX_SIZE;
    }

    /** A number as JSON may spell it; a text may name its own unit, as in {@code 1.5ms}. One below zero says nothing. */
    private boolean duration(long nanos) {
        if (numbers.micros(source, sourceFrom, sourceTo, nanos) && numbers.end == sourceTo) return true;
        int unitFrom = sourceTo;
        while (unitFrom > sourceFrom && (source[unitFrom - 1] > '9' || source[unitFrom - 1] < 0)) unitFrom--;
        long unit =
                switch (new String(source, unitFrom, sourceTo - unitFrom, java.nio.charset.StandardCharsets.UTF_8)) {
                    case "" -> nanos;
                    case "ns" -> 1;
                    case "us", "µs" -> 1000;
                    case "ms" -> 1_000_000;
                    case "s" -> 1_000_000_000;
                    default -> 0;
                };
        double micros = number(unitFrom) * unit / 1000;
        numbers.value = micros >= 0 ? (long) micros : Rows.NONE;
        return unit > 0 && micros <= Numbers.MAX_MICROS;
    }

    /** The number that the value is, up to {@code to}; NaN when it is none. */
    private double number(int to) {
        if (!isNumber(source, sourceFrom, to)) return Double.NaN;
        try {
            return Double.parseDouble(
                    new String(source, sourceFrom, to - sourceFrom, java.nio.charset.StandardCharsets.ISO_8859_1));
        } catch (NumberFormatException e) {
            return Double.NaN;
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
        path.reserve(Bytes.PAD);
        int entry = paths.lookUp(path.bytes, 0, path.length);
        if (entry != 0 || Bytes.indexOf(bytes, keyFrom, keyTo, (byte) '\\') == keyTo) return entry;
        path.length = unescape(path.bytes, path.length - (keyTo - keyFrom), path.length);
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
                if (entry != 0 && (bytes[start] < 'a' || bytes[start] != 'n' && isOwn(entry))) pick(entry, start, at);
                return true;
            }
        }
    }

    /** Whether a value goes to a column of the format's own: there true and false are values, elsewhere they are no URL or number. */
    private boolean isOwn(int entry) {
        int field = (int) paths.cells[entry] - 1;
        return field >= 0 && fields[field].column() >= Rows.COLUMNS;
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
            case 4 -> is(start, "true") || is(start, "null") || isNumber(bytes, start, at);
            case 5 -> is(start, "false") || isNumber(bytes, start, at);
            default -> isNumber(bytes, start, at);
        };
    }

    private boolean is(int start, String text) {
        for (int i = 0; i < text.length(); i++) if (bytes[start + i] != text.charAt(i)) return false;
        return true;
    }

    private static boolean isNumber(byte[] bytes, int from, int to) {
        boolean digit = false;
        for (int i = from; i < to; i++) {
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
            at = Bytes.indexOf(bytes, at, end, (byte) '"');
            if (at == end) return false;
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
        escaped[place] = Bytes.indexOf(bytes, valueFrom, valueTo, (byte) '\\') < valueTo;
        changes |= escaped[place];
    }

    private static int place(TextFormat.Field field) {
        return switch (field.kind()) {
            case TEXT, NUMBER ->
                field.column() < Rows.COLUMNS ? field.column() : field.column() + PLACES - Rows.COLUMNS;
            case REQUEST -> REQUEST;
            case TIME -> TIME;
            case STATUS -> STATUS;
            case SIZE -> SIZE;
            case DURATION -> DURATION;
        };
    }

    /** Resolves the escapes of {@code bytes[at, end)} in place, to UTF-8; returns where the text ends then. */
    static int unescape(byte[] bytes, int at, int end) {
        int out = at;
        while (at < end) {
            byte b = bytes[at++];
            if (b != '\\' || at == end) {
                bytes[out++] = b;
                continue;
            }
            byte c = bytes[at++];
            int code = c == 'u' ? hex(bytes, at, end) : -1;
            if (code >= 0) {
                at += 4;
                int low = code >>> 10 == 0x36 && at + 6 <= end && bytes[at] == '\\' && bytes[at + 1] == 'u'
                        ? hex(bytes, at + 2, end)
                        : -1;
                if (low >>> 10 == 0x37) {
                    code = Character.toCodePoint((char) code, (char) low);
                    at += 6;
                }
                out = putUtf8(bytes, out, code);
            } else {
                int simple = "bfnrt".indexOf(c);
                bytes[out++] = simple >= 0 ? (byte) "\b\f\n\r\t".charAt(simple) : c;
            }
        }
        return out;
    }

    private static int hex(byte[] bytes, int at, int end) {
        if (at + 4 > end) return -1;
        int code = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = Character.digit(bytes[i], 16);
            if (digit < 0) return -1;
            code = code << 4 | digit;
        }
        return code;
    }

    private static int putUtf8(byte[] bytes, int out, int code) {
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        bytes[out++] = (byte) (more == 0 ? code : 0xF0 << 3 - more & 0xFF | code >>> 6 * more);
        for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) bytes[out++] = (byte) (0x80 | code >>> shift & 0x3F);
        return out;
    }
}
