// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import skein.fold.files.Bytes;

/** Scans lines of a {@link W3cFormat}. Lines that begin with # describe the lines after them; they are no requests. */
final class W3cScanner extends KeyedScanner {
    private static final byte[] FIELDS = Text.literal("#Fields:");
    private static final byte[] DATE = Text.literal("#Date:");
    private static final int NOTHING = -1;
    private static final int DAY_SECONDS = 86400;

    private final Map<String, Integer> places = new HashMap<>();
    private final TimeText dates = new TimeText("%Y-%m-%d %H:%M:%S");
    private final TimeText namedDates = new TimeText("%d-%b-%Y %H:%M:%S");
    private int[] columns = {}; // which field each value goes to

    W3cScanner(W3cFormat format) {
        super(format.fields(), format.fields().size());
        for (int i = fields.length - 1; i >= 0; i--) places.put(comparable(fields[i].name()), i);
        for (String line : format.header()) {
            byte[] bytes = Text.literal(line);
            directive(Arrays.copyOf(bytes, bytes.length + Bytes.PAD), 0, bytes.length);
        }
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        if (bytes[at] == '#') {
            directive(bytes, at, end);
            return COMMENT;
        }
        begin(bytes, at, end);
        return values(bytes, at, end) ? fill(batch, row) : MALFORMED;
    }

    /** Picks the values of a line; returns whether there is one for each name. */
    private boolean values(byte[] bytes, int at, int end) {
        byte separator = (byte) (Bytes.indexOf(bytes, at, end, (byte) '\t') < end ? '\t' : ' ');
        int n = 0;
        for (int from = at; from <= end; n++) {
            if (separator == ' ') while (from < end && bytes[from] == ' ') from++;
            if (from == end && separator == ' ') break;
            if (n == columns.length) return false;
            boolean quoted = from < end && bytes[from] == '"';
            if (quoted) from++;
            int to = quoted ? quoteEnd(bytes, from, end, separator) : Bytes.indexOf(bytes, from, end, separator);
            if (columns[n] >= 0) pick(columns[n], from, to, false);
            from = to + (quoted ? 2 : 1);
        }
        return n == columns.length;
    }

    /**
     * Returns the place of the quote that ends a value: the first one before a separator or the end of the line. Two quotes stand
     * for one in the text. If no quote would then end the value, the program that wrote it does not double quotes.
     */
    private static int quoteEnd(byte[] bytes, int from, int end, byte separator) {
        int undoubled = end;
        int at = from;
        while ((at = Bytes.indexOf(bytes, at, end, (byte) '"')) < end) {
            boolean last = at + 1 == end || bytes[at + 1] == separator;
            boolean twice = at + 1 < end && bytes[at + 1] == '"';
            if (last) return at;
            if (twice && undoubled == end && (at + 2 == end || bytes[at + 2] == separator)) undoubled = at + 1;
            at += twice ? 2 : 1;
        }
        return undoubled;
    }

    private void directive(byte[] bytes, int at, int end) {
        if (startsWith(FIELDS, bytes, at, end)) columns = columns(bytes, at + FIELDS.length, end);
        if (startsWith(DATE, bytes, at, end)) setToday(bytes, at + DATE.length, end);
    }

    private static boolean startsWith(byte[] text, byte[] bytes, int at, int end) {
        return end - at >= text.length && Arrays.equals(text, 0, text.length, bytes, at, at + text.length);
    }

    private int[] columns(byte[] bytes, int at, int end) {
        String names = new String(bytes, at, end - at, java.nio.charset.StandardCharsets.ISO_8859_1).strip();
        return Arrays.stream(names.split("\\s+"))
                .mapToInt(name -> places.getOrDefault(comparable(name), NOTHING))
                .toArray();
    }

    /** Returns a name as it is compared: the case of headers, as in {@code cs(User-Agent)}, does not matter. */
    private static String comparable(String name) {
        return name.startsWith("cs(") ? name.toLowerCase(Locale.ROOT) : name;
    }

    private void setToday(byte[] bytes, int at, int end) {
        while (at < end && bytes[at] == ' ') at++;
        TimeText date = dates.parse(bytes, at, end) ? dates : namedDates.parse(bytes, at, end) ? namedDates : null;
        if (date != null)
            today = Text.literal(java.time.LocalDate.ofEpochDay(Math.floorDiv(date.second, DAY_SECONDS))
                    .toString());
    }
}
