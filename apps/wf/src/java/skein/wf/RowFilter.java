// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import skein.fold.files.Bytes;

/** Decides which rows of a batch pass. Each worker has its own, because a matcher has state. */
public abstract class RowFilter {
    /** Returns whether a row passes. */
    abstract boolean test(Rows batch, int row);

    /** Returns a copy for another thread. */
    abstract RowFilter copy();

    /** Keeps the elements of {@code rows[0, n)} that pass, in order. Returns how many there are. */
    int select(Rows batch, int[] rows, int n) {
        int kept = 0;
        for (int i = 0; i < n; i++) if (test(batch, rows[i])) rows[kept++] = rows[i];
        return kept;
    }

    /** Passes rows that {@code filter} does not pass. */
    public static RowFilter not(RowFilter filter) {
        return new RowFilter() {
            @Override
            boolean test(Rows batch, int row) {
                return !filter.test(batch, row);
            }

            @Override
            RowFilter copy() {
                return not(filter.copy());
            }
        };
    }

    /** Passes rows that at least one of {@code filters} passes. */
    public static RowFilter any(List<RowFilter> filters) {
        return new RowFilter() {
            @Override
            boolean test(Rows batch, int row) {
                for (RowFilter filter : filters) if (filter.test(batch, row)) return true;
                return false;
            }

            @Override
            RowFilter copy() {
                return any(filters.stream().map(RowFilter::copy).toList());
            }
        };
    }

    /** A filter without state. */
    private abstract static class Stateless extends RowFilter {
        @Override
        final RowFilter copy() {
            return this;
        }
    }

    /** Passes times from {@code least} on and before {@code end}: on the log's clock, or on that of UTC if {@code utc}. */
    public static RowFilter time(long least, long end, boolean utc) {
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                long second = batch.second[row];
                if (second == Rows.NONE) return false;
                if (utc) second -= batch.zone[row];
                return second >= least && second < end;
            }
        };
    }

    /** Passes durations from {@code least} microseconds on. */
    public static RowFilter slower(long least) {
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                return batch.micros[row] >= least;
            }
        };
    }

    /** Passes lines whose response had at least {@code least} bytes. */
    public static RowFilter larger(long least) {
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                return batch.size[row] >= least;
            }
        };
    }

    /** Passes fields that are one of {@code texts}. */
    public static RowFilter oneOf(int column, List<String> texts) {
        byte[][] bytes = Text.literals(texts.toArray(String[]::new));
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                int from = batch.from[column][row];
                int to = batch.to[column][row];
                if (from < 0) return false;
                for (byte[] text : bytes) {
                    if (Arrays.equals(text, 0, text.length, batch.bytes, from, to)) return true;
                }
                return false;
            }
        };
    }

    /** Passes URLs whose path ends with a point and one of {@code endings}, of up to eight letters, in either case. */
    public static RowFilter endings(int column, List<String> endings) {
        long[] words = endings.stream().mapToLong(RowFilter::word).sorted().toArray();
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                int from = batch.from[column][row];
                if (from < 0) return false;
                int end = Bytes.indexOf(batch.bytes, from, batch.to[column][row], (byte) '?');
                long word = 0;
                for (int at = end - 1; at >= Math.max(from, end - 9); at--) {
                    byte b = batch.bytes[at];
                    if (b == '.') return Arrays.binarySearch(words, word) >= 0;
                    if (b == '/') return false;
                    word = word << 8 | (b | ('A' <= b && b <= 'Z' ? 0x20 : 0)) & 0xFF;
                }
                return false;
            }
        };
    }

    /** Returns the letters of an ending in one number, as they come when it is read from its end. */
    private static long word(String ending) {
        long word = 0;
        for (int i = ending.length() - 1; i >= 0; i--) word = word << 8 | ending.charAt(i);
        return word;
    }

    /** Passes fields that are not empty and not a minus sign. */
    public static RowFilter given(int column) {
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                int from = batch.from[column][row];
                int length = batch.to[column][row] - from;
                return from >= 0 && length > 0 && (length > 1 || batch.bytes[from] != '-');
            }
        };
    }

    /** Passes rows in whose key {@code pattern} is found. The pattern sees bytes as the characters U+0000 to U+00FF. */
    public static RowFilter matches(KeyPart part, Pattern pattern) {
        Keys keys = new Keys(part);
        int[] one = new int[1];
        Latin1 text = new Latin1();
        Matcher matcher = pattern.matcher(text);
        return new RowFilter() {
            @Override
            boolean test(Rows batch, int row) {
                one[0] = row;
                keys.find(batch, one, 1);
                if (keys.from[0] < 0) return false;
                text.set(keys.bytes, keys.from[0], keys.to[0]);
                return matcher.reset().find();
            }

            @Override
            RowFilter copy() {
                return matches(part, pattern);
            }
        };
    }

    /** Passes addresses whose first {@code bits} bits are those of {@code address}, see {@link Address#of}. */
    public static RowFilter network(int column, byte[] address, int bits) {
        byte[] wanted = address.clone();
        return new RowFilter() {
            private final Address found = new Address();

            @Override
            boolean test(Rows batch, int row) {
                int from = batch.from[column][row];
                return from >= 0
                        && found.parseClient(batch.bytes, from, batch.to[column][row])
                        && found.isIn(wanted, bits);
            }

            @Override
            RowFilter copy() {
                return network(column, wanted, bits);
            }
        };
    }

    /** Passes statuses of a set. */
    public static RowFilter statuses(BitSet statuses) {
        BitSet set = (BitSet) statuses.clone();
        return new Stateless() {
            @Override
            boolean test(Rows batch, int row) {
                return set.get(batch.status[row]);
            }
        };
    }

    /** Bytes of a slice as characters. */
    private static final class Latin1 implements CharSequence {
        private byte[] bytes;
        private int from;
        private int to;

        void set(byte[] bytes, int from, int to) {
            this.bytes = bytes;
            this.from = from;
            this.to = to;
        }

        @Override
        public int length() {
            return to - from;
        }

        @Override
        public char charAt(int i) {
            return (char) (bytes[from + i] & 0xFF);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return toString().substring(start, end);
        }

        @Override
        public String toString() {
            return new String(bytes, from, to - from, java.nio.charset.StandardCharsets.ISO_8859_1);
        }
    }
}
