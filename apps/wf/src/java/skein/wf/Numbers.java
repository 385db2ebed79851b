// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/** Reads numbers in place: a cursor for one thread. */
final class Numbers {
    /** The longest duration in microseconds. The sum of a few thousand of the longest must fit into a {@code long}. */
    static final long MAX_MICROS = 999_999_999_999_999L;

    private static final int MAX_DIGITS = 15;
    private static final int FRACTION_DIGITS = 9;

    /** The number that was read, or {@link Rows#NONE} for a {@code -}. */
    long value;
    /** Where the number ended. */
    int end;

    /**
     * Reads {@code -} or 1 to 15 digits at {@code at}, before {@code to}. Returns false when there are none. HAProxy writes a plus
     * before a number that was still growing when it was logged.
     */
    boolean whole(byte[] bytes, int at, int to) {
        value = 0;
        int i = at;
        if (i < to && bytes[i] == '-') {
            value = Rows.NONE;
            end = i + 1;
            return true;
        }
        if (i < to && bytes[i] == '+') i++;
        int digits = i;
        long number = 0;
        for (int digit; i < to && (digit = bytes[i] - '0') >= 0 && digit <= 9; i++) number = 10 * number + digit;
        value = number;
        end = i;
        return i > digits && i - digits <= MAX_DIGITS;
    }

    /**
     * Reads {@code -} or a decimal number at {@code at}, in a unit of {@code nanos} nanoseconds, as microseconds, at most
     * {@link #MAX_MICROS} of them. A negative number, which load balancers write for none, counts as none. The numbers
     * of a list such as {@code 0.010, 0.250} are added up.
     */
    boolean micros(byte[] bytes, int at, int to, long nanos) {
        if (!decimal(bytes, at, to, nanos)) return false;
        long sum = value;
        while (end + 2 < to
                && (bytes[end] == ',' && bytes[end + 1] == ' ' || bytes[end] == ' ' && bytes[end + 1] == ':')) {
            int next = end + 2;
            while (next < to && bytes[next] == ' ') next++;
            if (!decimal(bytes, next, to, nanos)) return false;
            if (value != Rows.NONE) sum = sum == Rows.NONE ? value : sum + value;
        }
        value = sum;
        return true;
    }

    private boolean decimal(byte[] bytes, int at, int to, long nanos) {
        if (!whole(bytes, at, to)) return false;
        if (value == Rows.NONE) {
            while (end < to && (bytes[end] >= '0' && bytes[end] <= '9' || bytes[end] == '.')) end++;
            return true;
        }
        if (value > MAX_MICROS * 1000 / nanos) return false;
        long scaled = value * nanos;
        if (end < to && bytes[end] == '.') {
            int start = ++end;
            long fraction = 0;
            for (; end < to && bytes[end] >= '0' && bytes[end] <= '9'; end++) {
                if (end - start < FRACTION_DIGITS) fraction = 10 * fraction + bytes[end] - '0';
            }
            for (int digits = Math.min(end - start, FRACTION_DIGITS); digits < FRACTION_DIGITS; digits++)
                fraction *= 10;
            scaled += (long) (fraction * (nanos / 1e9));
        }
        value = scaled / 1000;
        return true;
    }

    /** Reads a status of three digits. {@code -}, 0, 000 and -1, which servers write for none, are 0. Returns false for other texts. */
    boolean status(byte[] bytes, int at, int to) {
        if (at < to && (bytes[at] == '-' || bytes[at] == '0')) return noStatus(bytes, at, to);
        if (to - at < 3) return false;
        int hundreds = bytes[at] - '0';
        int tens = bytes[at + 1] - '0';
        int ones = bytes[at + 2] - '0';
        value = 100L * hundreds + 10L * tens + ones;
        end = at + 3;
        return hundreds >= 1 && hundreds <= 9 && tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9;
    }

    private boolean noStatus(byte[] bytes, int at, int to) {
        value = 0;
        end = at + 1;
        if (bytes[at] == '-') {
            if (end < to && bytes[end] == '1') end++;
        } else if (to - at >= 3 && bytes[at + 1] == '0' && bytes[at + 2] == '0') {
            end = at + 3;
        }
        return end == to || bytes[end] < '0' || bytes[end] > '9';
    }
}
