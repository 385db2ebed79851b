// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/**
 * Finds or makes the keys of a batch's rows, for one tally of one worker: {@code bytes[from[i], to[i])} for the i-th row
 * asked for, or -1 in {@code from} when the line has no such key.
 *
 * <p>If the key is one field, or the path in one, it stays in the slice; all other keys are written into a buffer. A key of
 * several parts is their bytes one after the other, then the length of each part except the last in four bytes, lowest first.
 * So a part may contain any bytes.
 */
final class Keys {
    private static final int LENGTH_BYTES = 4;
    private static final long DAY_SECONDS = 86400;
    private static final byte[] SCHEME_END = Text.literal("://");
    private static final byte[][] WEEKDAYS =
            Text.literals("4 Thu", "5 Fri", "6 Sat", "7 Sun", "1 Mon", "2 Tue", "3 Wed");

    byte[] bytes;
    final int[] from = new int[Rows.ROWS];
    final int[] to = new int[Rows.ROWS];
    private final KeyPart[] parts;
    private final Keys[] single; // of each part, when there are several
    private final Text text = new Text(1 << 12);

    Keys(KeyPart... parts) {
        this.parts = parts;
        single = new Keys[parts.length > 1 ? parts.length : 0];
        for (int i = 0; i < single.length; i++) single[i] = new Keys(parts[i]);
    }

    /** Finds the keys of {@code rows[0, n)}. */
    void find(Rows batch, int[] rows, int n) {
        text.length = 0;
        if (parts.length == 0) {
            for (int i = 0; i < n; i++) from[i] = to[i] = 0;
        } else if (parts.length > 1) {
            join(batch, rows, n);
        } else {
            findOne(parts[0], batch, rows, n);
            if (bytes == batch.bytes) return;
        }
        text.reserve(Bytes.PAD);
        bytes = text.bytes;
    }

    private void findOne(KeyPart part, Rows batch, int[] rows, int n) {
        bytes = null;
        switch (part.kind()) {
            case FIELD -> fields(part.column(), batch, rows, n);
            case PATH -> {
                fields(part.column(), batch, rows, n);
                for (int i = 0; i < n; i++) if (from[i] >= 0) to[i] = pathTo(from[i], to[i]);
            }
            case SITE -> {
                fields(part.column(), batch, rows, n);
                for (int i = 0; i < n; i++) if (from[i] >= 0) site(i);
                bytes = null;
            }
            case STATUS_CLASS -> statusClasses(batch, rows, n);
            default -> times(part, batch, rows, n);
        }
    }

    private void fields(int column, Rows batch, int[] rows, int n) {
        bytes = batch.bytes;
        int[] columnFrom = batch.from[column];
        int[] columnTo = batch.to[column];
        for (int i = 0; i < n; i++) {
            from[i] = columnFrom[rows[i]];
            to[i] = columnTo[rows[i]];
        }
    }

    private int pathTo(int at, int end) {
        return Bytes.indexOf(bytes, at, end, (byte) '?');
    }

    /** Leaves only the host of a key, in small letters: without a user before it, and without a port. */
    private void site(int i) {
        int scheme = Bytes.indexOf(bytes, from[i], to[i], SCHEME_END);
        if (scheme == to[i]) {
            from[i] = -1;
            return;
        }
        int at = scheme + SCHEME_END.length;
        int end = at;
        for (; end < to[i] && bytes[end] != '/' && bytes[end] != '?' && bytes[end] != '#'; end++) {
            if (bytes[end] == '@') at = end + 1;
        }
        boolean v6 = at < end && bytes[at] == '[';
        int bracket = v6 ? Bytes.indexOf(bytes, at, end, (byte) ']') : end;
        int hostTo = v6 ? Math.min(end, bracket + 1) : Bytes.indexOf(bytes, at, end, (byte) ':');
        int start = text.length;
        for (; at < hostTo; at++)
            text.add((char) (bytes[at] >= 'A' && bytes[at] <= 'Z' ? bytes[at] | 0x20 : bytes[at] & 0xFF));
        put(i, start, text.length);
    }

    private void statusClasses(Rows batch, int[] rows, int n) {
        for (int i = 0; i < n; i++) {
            int hundreds = batch.status[rows[i]] / 100;
            if (hundreds == 0) from[i] = -1;
            else put(i, text.length, text.add((char) ('0' + hundreds)).add('x').add('x').length);
        }
    }

    private void put(int i, int start, int end) {
        from[i] = start;
        to[i] = end;
    }

    /** Makes texts of times. Neighbours mostly have the same time, so a text is made only where the time changes. */
    private void times(KeyPart part, Rows batch, int[] rows, int n) {
        long unit = switch (part.kind()) {
            case HOUR_OF_DAY -> 3600;
            case WEEKDAY, MONTH -> DAY_SECONDS;
            default -> part.seconds();
        };
        long last = Rows.NONE;
        int lastFrom = -1;
        int lastTo = -1;
        for (int i = 0; i < n; i++) {
            long second = batch.second[rows[i]];
            long bin = second == Rows.NONE ? second : Math.floorDiv(second, unit);
            if (bin != last) {
                last = bin;
                lastFrom = text.length;
                addTime(part, bin * unit);
                lastTo = text.length;
            }
            put(i, bin == Rows.NONE ? -1 : lastFrom, lastTo);
        }
    }

    private void addTime(KeyPart part, long second) {
        long days = Math.floorDiv(second, DAY_SECONDS);
        long secondOfDay = second - days * DAY_SECONDS;
        switch (part.kind()) {
            case HOUR_OF_DAY -> text.add(secondOfDay / 3600, 2);
            case WEEKDAY -> text.add(WEEKDAYS[(int) Math.floorMod(days, 7L)]);
            case MONTH -> addDate(days, false);
            default -> {
                addDate(days, true);
                if (part.seconds() % DAY_SECONDS == 0) return;
                text.add(' ').add(secondOfDay / 3600, 2).add(':').add(secondOfDay / 60 % 60, 2);
                if (part.seconds() % 60 != 0) text.add(':').add(secondOfDay % 60, 2);
            }
        }
    }

    /** The inverse of {@link TimeText#daysFromCivil}, from the same source. */
    private void addDate(long days, boolean withDay) {
        long shifted = days + 719468;
        long era = Math.floorDiv(shifted, 146097L);
        long dayOfEra = shifted - era * 146097;
        long yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
        long dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        long monthFromMarch = (5 * dayOfYear + 2) / 153;
        long month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
        text.add(Math.max(0, yearOfEra + era * 400 + (month <= 2 ? 1 : 0)), 4)
                .add('-')
                .add(month, 2);
        if (withDay) text.add('-').add(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, 2);
    }

    private void join(Rows batch, int[] rows, int n) {
        for (Keys part : single) part.find(batch, rows, n);
        for (int i = 0; i < n; i++) {
            int start = text.length;
            boolean whole = true;
            for (Keys part : single) {
                whole &= part.from[i] >= 0;
                if (whole) text.add(part.bytes, part.from[i], part.to[i] - part.from[i]);
            }
            for (int k = 0; k < single.length - 1 && whole; k++) addLength(single[k].to[i] - single[k].from[i]);
            put(i, whole ? start : -1, text.length);
        }
    }

    private void addLength(int length) {
        for (int shift = 0; shift < 8 * LENGTH_BYTES; shift += 8) text.add((char) (length >>> shift & 0xFF));
    }

    /** Returns the parts of a key of {@code n} parts. */
    static byte[][] split(byte[] key, int n) {
        byte[][] split = new byte[n][];
        int at = 0;
        int lengths = key.length - LENGTH_BYTES * (n - 1);
        for (int i = 0; i < n; i++) {
            int end = lengths;
            if (i < n - 1) {
                int length = 0;
                for (int k = 0; k < LENGTH_BYTES; k++)
                    length |= (key[lengths + LENGTH_BYTES * i + k] & 0xFF) << (k << 3);
                end = at + length;
            }
            split[i] = java.util.Arrays.copyOfRange(key, at, end);
            at = end;
        }
        return split;
    }
}
