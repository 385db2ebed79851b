// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.time.LocalDate;

/**
 * When the n-th line of a sample log was written: busy by day, quiet by night, never backwards.
 *
 * <p>A line's time depends on its number alone, so that blocks of lines can be made in any order. Not safe for use by
 * two threads at once, because the last time is kept as text.
 */
final class SampleClock {
    private static final long FIRST_DAY = LocalDate.of(2025, 3, 1).toEpochDay();
    private static final long LINES_PER_DAY = 600_000;
    /** How busy each hour of the day is. */
    private static final int[] WEIGHTS = {
        20, 15, 12, 10, 10, 13, 20, 32, 44, 52, 57, 60, 58, 60, 62, 60, 57, 53, 50, 50, 48, 42, 34, 26
    };

    private static final int[] FIRST_LINES = firstLines();
    private static final byte[][] MONTHS =
            Text.literals("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec");

    private final Text text = new Text(32);
    private long day = -1;
    private int second = -1;

    /** Returns the first line of each hour, counted from midnight; and one more, the first line of the next day. */
    private static int[] firstLines() {
        int[] lines = new int[WEIGHTS.length + 1];
        long all = 0;
        for (int weight : WEIGHTS) all += weight;
        long before = 0;
        for (int i = 0; i < WEIGHTS.length; i++) {
            before += WEIGHTS[i];
            lines[i + 1] = (int) (LINES_PER_DAY * before / all);
        }
        return lines;
    }

    /** Returns the time of line {@code n} in the form of a log: {@code [01/Mar/2025:00:00:00 +0000]}, in a buffer that is reused. */
    Text at(long n) {
        int line = (int) (n % LINES_PER_DAY);
        int hour = day == n / LINES_PER_DAY ? second / 3600 : 0;
        while (line >= FIRST_LINES[hour + 1]) hour++;
        int inHour = line - FIRST_LINES[hour];
        int now = 3600 * hour + (int) (3600L * inHour / (FIRST_LINES[hour + 1] - FIRST_LINES[hour]));
        if (now != second || day != n / LINES_PER_DAY) {
            day = n / LINES_PER_DAY;
            second = now;
            write();
        }
        return text;
    }

    private void write() {
        LocalDate date = LocalDate.ofEpochDay(FIRST_DAY + day);
        text.length = 0;
        text.add('[')
                .add(date.getDayOfMonth(), 2)
                .add('/')
                .add(MONTHS[date.getMonthValue() - 1])
                .add('/')
                .add(date.getYear(), 4);
        text.add(':')
                .add(second / 3600, 2)
                .add(':')
                .add(second / 60 % 60, 2)
                .add(':')
                .add(second % 60, 2);
        text.add(Text.literal(" +0000]"));
    }
}
