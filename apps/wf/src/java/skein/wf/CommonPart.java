// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.List;
import skein.fold.files.Bytes;

/**
 * Takes apart the seven fields that most formats have in common, if they have the usual shape:
 * <pre>
 *   client - - [30/Mar/2006:10:00:00 -0700] "GET /url HTTP/1.1" 200 1234
 *         |     |                            |        |             |
 *         `head `time                        `request `urlTo        `size
 * </pre>
 * {@link TextScanner} reads all other lines. It finds the same in lines of this shape, field by field, but takes three times as long.
 */
public final class CommonPart {
    /** How many fields it takes apart. */
    static final int FIELDS = 7;

    private static final List<TextFormat.Kind> KINDS = List.of(
            TextFormat.Kind.TEXT,
            TextFormat.Kind.TEXT,
            TextFormat.Kind.TEXT,
            TextFormat.Kind.TIME,
            TextFormat.Kind.REQUEST,
            TextFormat.Kind.STATUS,
            TextFormat.Kind.SIZE);
    private static final List<Integer> COLUMNS = List.of(Rows.CLIENT, -1, Rows.USER, -1, -1, Rows.STATUS, -1);
    private static final List<String> LITERALS = List.of(" ", " ", " [", "] \"", "\" ", " ");
    private static final String TIME_PATTERN = "%d/%b/%Y:%H:%M:%S %z";
    private static final int TIME_BYTES = 26;

    private static final long HEAD = word(" - - [\0\0");
    private static final long HEAD_MASK = 0x0000FFFFFFFFFFFFL;
    private static final long REQUEST = word("] \"\0\0\0\0\0");
    private static final long REQUEST_MASK = 0xFFFFFFL;
    private static final long PROTOCOL = word(" HTTP/0.");
    /** All bits but the two in which the digits 0 to 3 differ. */
    private static final long PROTOCOL_MASK = ~(3L << 48);
    /** From the minor version on: 0 or 1, quote, space, three bytes of the status, space. */
    private static final long STATUS = word("0\" \0\0\0 \0");

    private static final long STATUS_MASK = 0x00FF000000FFFFFEL;
    private static final int GET = (int) word("GET \0\0\0\0");
    /** The two digits of the seconds, in the third word of a time. */
    private static final long SECONDS_MASK = 0xFFFF0000L;

    private static final long ZONE_MASK = 0xFFFFL; // the last two bytes of a time, in its fourth word
    private static final long COMMAS = ',' * Bytes.ONES;
    private static final long COLONS = ':' * Bytes.ONES;

    private final TimeText time = new TimeText(TIME_PATTERN);
    private final Numbers numbers;
    /* The words of the time that was parsed last, and its minute. The next time is usually in the same minute. */
    private long date;
    private long hour;
    private long zone;
    private long zoneEnd = -1; // unlike any two bytes
    private int ahead; // of UTC, in seconds
    private long minute;
    private long second;

    /** Where the size in the last scanned line ends. */
    int end;

    CommonPart(Numbers numbers) {
        this.numbers = numbers;
    }

    private static long word(String eight) {
        return Bytes.load(Text.literal(eight), 0);
    }

    /** Returns the index of the first of the seven fields in {@code format}, or -1 if the format does not have them. */
    public static int find(TextFormat format) {
        List<TextFormat.Field> fields = format.fields();
        for (int i = 0; i + FIELDS <= fields.size(); i++) {
            List<TextFormat.Field> part = fields.subList(i, i + FIELDS);
            if (part.stream().map(TextFormat.Field::kind).toList().equals(KINDS)
                    && part.stream().map(TextFormat.Field::column).toList().equals(COLUMNS)
                    && format.literals().subList(i + 1, i + FIELDS).equals(LITERALS)
                    && part.get(3).pattern().equals(TIME_PATTERN)
                    && part.stream().noneMatch(TextFormat.Field::padded)) return i;
        }
        return -1;
    }

    /** Reads the seven fields from {@code at} on into a row, and sets {@link #end}. Returns whether they have the usual shape. */
    boolean scan(byte[] bytes, int at, int lineEnd, Rows batch, int row) {
        int head = Bytes.indexOfLow(bytes, at);
        int timeFrom = head + 6;
        int request = timeFrom + TIME_BYTES + 3;
        if (head == at
                || request >= lineEnd
                || (Bytes.load(bytes, head) & HEAD_MASK) != HEAD
                || (Bytes.load(bytes, timeFrom + TIME_BYTES) & REQUEST_MASK) != REQUEST) return false;
        int methodTo = methodEnd(bytes, request);
        if (methodTo == request || bytes[methodTo] != ' ') return false;
        int urlTo = Bytes.indexOfLow(bytes, methodTo + 1);
        int size = urlTo + 15;
        if (size > lineEnd
                || (Bytes.load(bytes, urlTo) & PROTOCOL_MASK) != PROTOCOL
                || (Bytes.load(bytes, urlTo + 8) & STATUS_MASK) != STATUS
                || !time(bytes, timeFrom)
                || !numbers.status(bytes, urlTo + 11, lineEnd)
                || numbers.end != urlTo + 14) return false;
        batch.status[row] = (int) numbers.value;
        if (!numbers.whole(bytes, size, lineEnd)) return false;
        batch.size[row] = Math.max(0, numbers.value);
        batch.second[row] = second;
        batch.zone[row] = ahead;
        end = numbers.end;
        put(batch, Rows.CLIENT, row, at, head);
        put(batch, Rows.USER, row, head + 3, head + 4);
        put(batch, Rows.METHOD, row, request, methodTo);
        put(batch, Rows.URL, row, methodTo + 1, urlTo);
        put(batch, Rows.PROTOCOL, row, urlTo + 1, urlTo + 9);
        put(batch, Rows.STATUS, row, urlTo + 11, urlTo + 14);
        return isOneAddress(bytes, at, head) || client(bytes, batch, row);
    }

    private static void put(Rows batch, int column, int row, int from, int to) {
        batch.from[column][row] = from;
        batch.to[column][row] = to;
    }

    private boolean time(byte[] bytes, int at) {
        int seconds = 10 * (bytes[at + 18] - '0') + bytes[at + 19] - '0';
        if (Bytes.load(bytes, at) != date
                || Bytes.load(bytes, at + 8) != hour
                || (Bytes.load(bytes, at + 16) & ~SECONDS_MASK) != zone
                || (Bytes.load(bytes, at + 24) & ZONE_MASK) != zoneEnd
                || !isTwoDigits(bytes, at + 18)
                || seconds > 60) {
            if (!time.parse(bytes, at, at + TIME_BYTES)) return false;
            date = Bytes.load(bytes, at);
            hour = Bytes.load(bytes, at + 8);
            zone = Bytes.load(bytes, at + 16) & ~SECONDS_MASK;
            zoneEnd = Bytes.load(bytes, at + 24) & ZONE_MASK;
            ahead = time.zone;
            minute = time.second - seconds;
        }
        second = minute + seconds;
        return true;
    }

    private static boolean isTwoDigits(byte[] bytes, int at) {
        return bytes[at] >= '0' && bytes[at] <= '9' && bytes[at + 1] >= '0' && bytes[at + 1] <= '9';
    }

    private static int methodEnd(byte[] bytes, int at) {
        if ((int) Bytes.load(bytes, at) == GET) return at + 3;
        int to = at;
        while (TextScanner.isMethod(bytes[to], to > at)) to++;
        return to;
    }

    /** Returns whether a client has neither a comma nor a colon. Then it is not a list and has no port. */
    private static boolean isOneAddress(byte[] bytes, int from, int to) {
        long found = 0;
        for (; from < to; from += 8) {
            long word = Bytes.load(bytes, from, Math.min(8, to - from));
            found |= Bytes.zeros(word ^ COMMAS) | Bytes.zeros(word ^ COLONS);
        }
        return found == 0;
    }

    private static boolean client(byte[] bytes, Rows batch, int row) {
        if (bytes[batch.to[Rows.CLIENT][row] - 1] == ',') return false; // the list goes on after the space
        Places.client(TextFormat.Kind.TEXT, bytes, batch, row);
        return true;
    }
}
