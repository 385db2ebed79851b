// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;
import java.util.List;
import skein.fold.files.Bytes;

/**
 * Scans lines whose values have names. A subclass finds the values of a line and picks those of fields. This class interprets
 * the picked values.
 *
 * <p>Escapes in picked strings are resolved in place, because the text only becomes shorter. This is done last, because a malformed
 * line must stay as it is. If lines are asked for, the batch keeps the line first. Times and numbers with escapes are read
 * from a copy.
 */
abstract class KeyedScanner extends Scanner {
    /** Returns the names of the faults of a format whose syntax has that name. */
    static List<String> faults(String syntax) {
        return List.of("empty", syntax, "time", "status", "bytes", "duration", "no request");
    }

    /** The fault of a line with another syntax. */
    static final int MALFORMED = 1;

    private static final int NO_REQUEST = 6;
    private static final int REQUEST = Rows.COLUMNS; // places of fields without a column, in `from`
    private static final int TIME = REQUEST + 1;
    private static final int STATUS = REQUEST + 2;
    private static final int SIZE = REQUEST + 3;
    private static final int DURATION = REQUEST + 4;
    private static final int DAY = REQUEST + 5;
    private static final int CLOCK = REQUEST + 6;
    private static final int PLACES = REQUEST + 7;
    private static final double MAX_SIZE = 1e15;
    private static final int NOTHING = Integer.MAX_VALUE;
    private static final byte[] MIDNIGHT = Text.literal("00:00:00");

    final TextFormat.Field[] fields;
    private final int own;
    private final Numbers numbers = new Numbers();
    private final TimeText times = new TimeText(TimeText.AUTO);
    private final Text copy = new Text(256);
    byte[] bytes;
    int at;
    int end;
    private int start;
    private final boolean[] filled;
    /* By place, for one line: which field was picked, and where its value is. Places from PLACES on are the format's own columns. */
    private final int[] picked;
    private final int[] from;
    private final int[] to;
    private final boolean[] escaped;
    private boolean changes; // whether a picked value is spelled differently from how it is shown
    private boolean statusChanges;
    private final Text joined = new Text(64); // day and time of day of a line; empty if the line has none
    byte[] today = {}; // the day of lines that don't say it
    /* The value that open found. */
    private byte[] source;
    private int sourceFrom;
    private int sourceTo;

    /**
     * A scanner for {@code fields}.
     *
     * @param own the number of leading fields of which any one makes a line valid without URL, method and status
     */
    KeyedScanner(List<TextFormat.Field> fields, int own) {
        this.fields = fields.toArray(TextFormat.Field[]::new);
        this.own = own;
        int columns = Rows.COLUMNS;
        for (TextFormat.Field field : fields) columns = Math.max(columns, field.column() + 1);
        picked = new int[PLACES + columns - Rows.COLUMNS];
        from = new int[picked.length];
        to = new int[picked.length];
        escaped = new boolean[picked.length];
        filled = new boolean[columns];
        Arrays.fill(filled, true);
    }

    @Override
    final boolean[] filled() {
        return filled;
    }

    /** Begins the line {@code bytes[at, end)}. */
    final void begin(byte[] bytes, int at, int end) {
        this.bytes = bytes;
        this.at = start = at;
        this.end = end;
        changes = statusChanges = false;
        Arrays.fill(picked, NOTHING);
    }

    /** Picks a value. If several fields have the same column, the first field counts. */
    final void pick(int field, int valueFrom, int valueTo, boolean hasEscapes) {
        int place = place(fields[field]);
        if (picked[place] < field) return;
        picked[place] = field;
        from[place] = valueFrom;
        to[place] = valueTo;
        escaped[place] = hasEscapes;
        changes |= hasEscapes;
    }

    /** Returns whether the line is about a request: servers write about their start and their errors into the same log. */
    private boolean isRequest() {
        for (int place : picked) if (place < own) return true;
        return picked[REQUEST] != NOTHING
                || picked[STATUS] != NOTHING
                || picked[Rows.URL] != NOTHING
                || picked[Rows.METHOD] != NOTHING;
    }

    /** Puts the picked values into a row. Returns {@link #OK} or the fault. */
    final int fill(Rows batch, int row) {
        for (int column = 0; column < filled.length; column++) {
            int place = column < Rows.COLUMNS ? column : column + PLACES - Rows.COLUMNS;
            batch.from[column][row] = picked[place] == NOTHING ? -1 : from[place];
            batch.to[column][row] = to[place];
        }
        int fault = numbers(batch, row);
        if (fault != OK) return fault;
        if (!isRequest()) return NO_REQUEST;
        if (changes) change(batch, row);
        if (picked[REQUEST] != NOTHING) TextScanner.request(bytes, from[REQUEST], to[REQUEST], batch, row);
        places(batch, row);
        return OK;
    }

    /** Splits addresses and absolute URLs. */
    private void places(Rows batch, int row) {
        if (picked[Rows.CLIENT] != NOTHING) Places.client(fields[picked[Rows.CLIENT]].kind(), bytes, batch, row);
        if (picked[Rows.URL] != NOTHING && fields[picked[Rows.URL]].kind() == TextFormat.Kind.ABSOLUTE_URL) {
            int host = batch.from[Rows.HOST][row];
            int hostTo = batch.to[Rows.HOST][row];
            Places.splitUrl(bytes, batch, row);
            if (picked[Rows.HOST] != NOTHING) {
                batch.from[Rows.HOST][row] = host;
                batch.to[Rows.HOST][row] = hostTo;
            }
        }
    }

    /** Spells the values in place as they are to be shown. */
    private void change(Rows batch, int row) {
        batch.keepLine(row, start, end);
        for (int column = 0; column < filled.length; column++) {
            int place = column < Rows.COLUMNS ? column : column + PLACES - Rows.COLUMNS;
            if (picked[place] != NOTHING && escaped[place])
                batch.to[column][row] = JsonEscapes.unescape(bytes, from[place], to[place]);
        }
        if (picked[REQUEST] != NOTHING && escaped[REQUEST])
            to[REQUEST] = JsonEscapes.unescape(bytes, from[REQUEST], to[REQUEST]);
        if (!statusChanges) return;
        byte[] status = Text.literal(batch.status[row] == 0 ? "-" : Integer.toString(batch.status[row]));
        System.arraycopy(status, 0, bytes, from[STATUS], status.length);
        batch.to[Rows.STATUS][row] = from[STATUS] + status.length;
    }

    /** Finds the text at a place, without escapes; false when there is none. */
    private boolean open(int place) {
        if (picked[place] == NOTHING || from[place] == to[place]) return false;
        source = bytes;
        sourceFrom = from[place];
        sourceTo = to[place];
        if (!escaped[place]) return true;
        copy.length = 0;
        copy.add(bytes, sourceFrom, sourceTo - sourceFrom).reserve(Bytes.PAD);
        source = copy.bytes;
        sourceFrom = 0;
        sourceTo = JsonEscapes.unescape(source, 0, copy.length);
        return true;
    }

    /** Joins a day and the time of day into one text. */
    private void joinTime() {
        joined.length = 0;
        if (picked[DAY] == NOTHING && (picked[CLOCK] == NOTHING || today.length == 0)) return;
        if (picked[DAY] != NOTHING) joined.add(bytes, from[DAY], to[DAY] - from[DAY]);
        else joined.add(today);
        joined.add(' ');
        if (picked[CLOCK] != NOTHING) joined.add(bytes, from[CLOCK], to[CLOCK] - from[CLOCK]);
        else joined.add(MIDNIGHT);
        joined.reserve(Bytes.PAD);
    }

    /** Finds the text of the time, which may stand in brackets; false when there is none. */
    private boolean openTime() {
        joinTime();
        if (joined.length > 0) {
            source = joined.bytes;
            sourceFrom = 0;
            sourceTo = joined.length;
            return true;
        }
        if (!open(TIME)) return false;
        if (source[sourceFrom] == '[' && source[sourceTo - 1] == ']') {
            sourceFrom++;
            sourceTo--;
        }
        return true;
    }

    private int numbers(Rows batch, int row) {
        batch.second[row] = batch.size[row] = batch.micros[row] = Rows.NONE;
        batch.status[row] = 0;
        if (openTime()) {
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

    /** Reads a status as JSON may spell it, such as {@code 200.0} or {@code 2e2}. */
    private boolean status() {
        statusChanges = escaped[STATUS];
        if (numbers.status(source, sourceFrom, sourceTo) && numbers.end == sourceTo) return true;
        double status = number(sourceFrom, sourceTo);
        numbers.value = (long) status;
        changes = statusChanges = true;
        return status == numbers.value && status >= 100 && status <= 999;
    }

    /** Reads a whole number as JSON may spell it. A number below zero or with a fraction counts as none. */
    private boolean size() {
        if (numbers.whole(source, sourceFrom, sourceTo) && numbers.end == sourceTo) {
            numbers.value = Math.max(0, numbers.value);
            return true;
        }
        double size = number(sourceFrom, sourceTo);
        numbers.value = size >= 0 && size == Math.rint(size) ? (long) size : Rows.NONE;
        return size < MAX_SIZE;
    }

    /**
     * Reads a number as JSON may spell it. A string may have units, as in {@code 1.5ms} and {@code 1m2.5s}. A number below zero and a
     * text that can't be read count as none.
     */
    private boolean duration(long nanos) {
        if (nanos < 0 && isWhole(source, sourceFrom, sourceTo)) {
            numbers.value = Rows.NONE;
            return true;
        }
        nanos = Math.abs(nanos);
        if (numbers.micros(source, sourceFrom, sourceTo, nanos) && numbers.end == sourceTo) return true;
        double micros =
                isNumber(source, sourceFrom, sourceTo) ? number(sourceFrom, sourceTo) * nanos / 1000 : withUnits();
        numbers.value = micros >= 0 ? (long) micros : Rows.NONE;
        return !(micros > Numbers.MAX_MICROS);
    }

    /** Adds up numbers that have units, as microseconds. Returns NaN for other texts. */
    private double withUnits() {
        double micros = sourceFrom == sourceTo ? Double.NaN : 0;
        for (int from = sourceFrom; from < sourceTo; ) {
            int unitFrom = from;
            while (unitFrom < sourceTo && isOfNumber(source[unitFrom])) unitFrom++;
            int unitTo = unitFrom;
            while (unitTo < sourceTo && !isOfNumber(source[unitTo])) unitTo++;
            double unit =
                    switch (new String(source, unitFrom, unitTo - unitFrom, java.nio.charset.StandardCharsets.UTF_8)) {
                        case "ns" -> 1e-3;
                        case "us", "µs" -> 1;
                        case "ms" -> 1e3;
                        case "s" -> 1e6;
                        case "m" -> 60e6;
                        case "h" -> 3600e6;
                        default -> Double.NaN;
                    };
            micros += number(from, unitFrom) * unit;
            from = unitTo;
        }
        return micros;
    }

    /** Returns {@code source[from, to)} as a number, or NaN. */
    private double number(int from, int to) {
        if (!isNumber(source, from, to)) return Double.NaN;
        try {
            return Double.parseDouble(
                    new String(source, from, to - from, java.nio.charset.StandardCharsets.ISO_8859_1));
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private static boolean isWhole(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) if (bytes[i] < '0' || bytes[i] > '9') return false;
        return true;
    }

    static boolean isNumber(byte[] bytes, int from, int to) {
        boolean digit = false;
        for (int i = from; i < to; i++) {
            byte b = bytes[i];
            if (b >= '0' && b <= '9') digit = true;
            else if (!isOfNumber(b)) return false;
        }
        return digit;
    }

    private static boolean isOfNumber(byte b) {
        return b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E';
    }

    private static int place(TextFormat.Field field) {
        return switch (field.kind()) {
            case TEXT, LIST, NUMBER, ADDRESS, ADDRESS_PORT, ABSOLUTE_URL ->
                field.column() < Rows.COLUMNS ? field.column() : field.column() + PLACES - Rows.COLUMNS;
            case REQUEST, ABSOLUTE_REQUEST -> REQUEST;
            case TIME -> TIME;
            case DAY -> DAY;
            case CLOCK -> CLOCK;
            case STATUS -> STATUS;
            case SIZE -> SIZE;
            case DURATION -> DURATION;
        };
    }
}
