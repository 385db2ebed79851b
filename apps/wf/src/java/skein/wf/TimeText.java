// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/**
 * Reads times in one of the usual forms, or by a pattern of {@code strftime}, in which {@code %f} stands for the digits of a fraction.
 * For one thread.
 *
 * <p>Neighbouring lines mostly have the same time, so the last text is kept with its result.
 */
final class TimeText {
    /** The pattern that accepts any of the usual forms. */
    static final String AUTO = "";

    private static final int MAX_REMEMBERED = 32;
    private static final String[] MONTHS = {
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december"
    };
    private static final int MOST_ZONE_MINUTES = 18 * 60;
    private static final int DAY_SECONDS = 86400;

    /** Seconds since 1970 on the clock of the log. */
    long second;
    /** How far that clock is ahead of UTC, in seconds. */
    int zone;

    private final String pattern;
    private final long[] last = new long[MAX_REMEMBERED / 8];
    private int lastLength = -1;
    private byte[] bytes;
    private int at;
    private int to;
    private long year;
    private long month;
    private long day;
    private long secondOfDay;
    private long epochSecond;

    TimeText(String pattern) {
        this.pattern = pattern;
    }

    /** Reads {@code bytes[from, to)} into {@link #second} and {@link #zone}. Returns whether it is such a time. */
    boolean parse(byte[] bytes, int from, int to) {
        int length = to - from;
        if (length == lastLength && isLast(bytes, from, length)) return true;
        this.bytes = bytes;
        this.to = to;
        at = from;
        lastLength = -1;
        if (length == 0 || !(pattern.isEmpty() ? parseUsual() : parse(pattern)) || at != to) return false;
        if (length <= MAX_REMEMBERED) remember(bytes, from, length);
        return true;
    }

    private boolean isLast(byte[] bytes, int from, int length) {
        int word = 0;
        for (; length > 8; length -= 8, from += 8) if (last[word++] != Bytes.load(bytes, from)) return false;
        return last[word] == Bytes.load(bytes, from, length);
    }

    private void remember(byte[] bytes, int from, int length) {
        lastLength = length;
        int word = 0;
        for (; length > 8; length -= 8, from += 8) last[word++] = Bytes.load(bytes, from);
        last[word] = Bytes.load(bytes, from, length);
    }

    private boolean parseUsual() {
        int start = at;
        int digits = start;
        while (digits < to && isDigit(bytes[digits])) digits++;
        if (digits == to || bytes[digits] == '.' || (bytes[digits] | 0x20) == 'e') return parseEpoch();
        return switch (bytes[digits]) {
            case '/' -> digits - start == 4 ? parseWallClock() : parseCommonLog();
            case '-' -> parseIso();
            default -> false;
        };
    }

    /** {@code 30/Mar/2006:10:00:00 -0700}, perhaps with a fraction, as HAProxy writes it, and without a zone. */
    private boolean parseCommonLog() {
        begin();
        if (!directives("%d/%b/%Y:%H:%M:%S")) return false;
        skipFraction();
        if (at < to && (bytes[at++] != ' ' || !parseZone(false))) return false;
        return finish();
    }

    /** {@code 2006/03/30 10:00:00}, perhaps with a fraction, as Caddy's wall clock writes it. */
    private boolean parseWallClock() {
        begin();
        if (!directives("%Y/%m/%d %H:%M:%S")) return false;
        skipFraction();
        return finish();
    }

    private void skipFraction() {
        if (at == to || bytes[at] != '.' && bytes[at] != ',') return;
        at++;
        while (at < to && isDigit(bytes[at])) at++;
    }

    /**
     * {@code 2006-03-30T10:00:00}, perhaps with a space instead of the T, perhaps with a fraction; then {@code Z}, {@code +01:00} or
     * nothing.
     */
    private boolean parseIso() {
        if (to - at < 19 || (bytes[at + 10] != 'T' && bytes[at + 10] != 't' && bytes[at + 10] != ' ')) return false;
        byte separator = bytes[at + 10];
        begin();
        if (!directives("%Y-%m-%d") || bytes[at++] != separator || !directives("%H:%M:%S")) return false;
        skipFraction();
        if (at < to && bytes[at] == ' ') at++;
        return (at == to || parseZone(true)) && finish();
    }

    /** Seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their size; perhaps with a fraction. */
    private boolean parseEpoch() {
        begin();
        int start = at;
        long number = 0;
        for (; at < to && isDigit(bytes[at]); at++) {
            if (at - start == 19) return false;
            number = 10 * number + bytes[at] - '0';
        }
        if (at < to && (bytes[at] | 0x20) == 'e' || at + 1 < to && bytes[start] == '.') return parseFloat(start);
        if (at < to && bytes[at] == '.') {
            int dot = at++;
            while (at < to && isDigit(bytes[at])) at++;
            if (at < to && (bytes[at] | 0x20) == 'e') return parseFloat(start);
            if (dot == start) return false;
        }
        return setEpoch(number);
    }

    private boolean parseFloat(int start) {
        try {
            double number = Double.parseDouble(
                    new String(bytes, start, to - start, java.nio.charset.StandardCharsets.ISO_8859_1));
            at = to;
            return number >= 0 && number < 9e18 && setEpoch((long) number);
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private boolean setEpoch(long number) {
        if (number < 0) return false;
        while (number >= 100_000_000_000L) number /= 1000;
        second = number;
        zone = 0;
        return true;
    }

    private boolean parse(String directives) {
        begin();
        return directives(directives) && finish();
    }

    private void begin() {
        year = 1970;
        month = 1;
        day = 1;
        secondOfDay = 0;
        zone = 0;
        epochSecond = -1;
    }

    private boolean finish() {
        if (month < 1 || month > 12 || day < 1 || day > daysOfMonth() || secondOfDay > DAY_SECONDS) return false;
        second = epochSecond >= 0 ? epochSecond : daysFromCivil(year, month, day) * DAY_SECONDS + secondOfDay;
        return true;
    }

    private int daysOfMonth() {
        if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }

    /** Returns the number of days from 1970-01-01; after H. Hinnant, "chrono-compatible low-level date algorithms". */
    static long daysFromCivil(long year, long month, long day) {
        if (month <= 2) year--;
        long era = Math.floorDiv(year, 400L);
        long yearOfEra = year - era * 400;
        long dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468;
    }

    /** Follows a pattern from {@link #at} on. */
    private boolean directives(String directives) {
        for (int i = 0; i < directives.length(); i++) {
            char c = directives.charAt(i);
            if (c == '%' && i + 1 < directives.length()) {
                if (!directive(directives.charAt(++i))) return false;
            } else if (at >= to || bytes[at++] != c) {
                return false;
            }
        }
        return true;
    }

    private boolean directive(char letter) {
        switch (letter) {
            case 'Y' -> year = number(4, 4);
            case 'y' -> year = (year = number(2, 2)) < 0 ? -1 : year + (year < 69 ? 2000 : 1900);
            case 'm' -> month = number(2, 2);
            case 'd' -> day = number(2, 2);
            case 'e' -> {
                while (at < to && bytes[at] == ' ') at++;
                day = number(1, 2);
            }
            case 'b', 'h', 'B' -> month = monthName();
            case 'H' -> addToDay(number(2, 2), 23, 3600);
            case 'M' -> addToDay(number(2, 2), 59, 60);
            case 'S' -> addToDay(number(2, 2), 60, 1);
            case 's' -> epochSecond = number(1, 12);
            case 'f' -> {
                int start = at;
                while (at < to && isDigit(bytes[at])) at++;
                return at > start;
            }
            case 'z' -> {
                return parseZone(false);
            }
            case 'Z' -> {
                while (at < to && Character.isLetter(bytes[at])) at++;
            }
            case 'a', 'A' -> {
                while (at < to && Character.isLetter(bytes[at])) at++;
            }
            case 'T' -> {
                return directives("%H:%M:%S");
            }
            case 'R' -> {
                return directives("%H:%M");
            }
            case 'F' -> {
                return directives("%Y-%m-%d");
            }
            case 'D' -> {
                return directives("%m/%d/%y");
            }
            case '%' -> {
                return at < to && bytes[at++] == '%';
            }
            default -> {
                return false;
            }
        }
        return (year | month | day | secondOfDay) >= 0;
    }

    /** Returns whether {@link #directive} knows every directive of a pattern. */
    static boolean isKnown(String pattern) {
        for (int i = 0; i < pattern.length(); i++) {
            if (pattern.charAt(i) == '%'
                    && (++i == pattern.length() || "YymdebhBHMSsfzZaATRFD%".indexOf(pattern.charAt(i)) < 0))
                return false;
        }
        return true;
    }

    private void addToDay(long number, int most, int seconds) {
        secondOfDay = number < 0 || number > most ? Long.MIN_VALUE : secondOfDay + number * seconds;
    }

    private long number(int least, int most) {
        int start = at;
        long number = 0;
        while (at < to && at - start < most && isDigit(bytes[at])) number = 10 * number + bytes[at++] - '0';
        return at - start < least ? -1 : number;
    }

    private long monthName() {
        int start = at;
        while (at < to && Character.isLetter(bytes[at])) at++;
        int length = at - start;
        for (int i = 0; i < MONTHS.length && length >= 3; i++) {
            if ((length == 3 || length == MONTHS[i].length()) && isText(MONTHS[i], start, length)) return i + 1;
        }
        return -1;
    }

    /** Returns whether {@code bytes[start, start + length)} are the first letters of {@code text}, in either case. */
    private boolean isText(String text, int start, int length) {
        for (int i = 0; i < length; i++) if ((bytes[start + i] | 0x20) != text.charAt(i)) return false;
        return true;
    }

    /** {@code +0100}; in an ISO time also {@code +01:00}, {@code +01} and {@code Z}. */
    private boolean parseZone(boolean iso) {
        if (at >= to) return false;
        byte sign = bytes[at++];
        if (iso && (sign == 'Z' || sign == 'z')) return true;
        if (sign != '+' && sign != '-') return false;
        long hours = number(2, 2);
        if (iso && at < to && bytes[at] == ':') at++;
        long minutes = iso && at == to ? 0 : number(2, 2);
        if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > MOST_ZONE_MINUTES) return false;
        zone = (int) (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
        return true;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }
}
