// SPDX-License-Identifier: Apache-2.0
package skein.fold.files;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Where records begin, at each place of random bytes, against a scan from the first byte on. */
public final class RecordFormatCheck {
    private static final byte[] ALPHABET = {'a', '\n', '\r', ';', '-'};
    private static final String[] DELIMITERS = {";", "\n", "\r\n", "--;"};

    private RecordFormatCheck() {}

    /** Returns where the records of {@code content} begin, the first one left out, and its end. */
    private static List<Integer> startsOfLines(byte[] content) {
        List<Integer> starts = new ArrayList<>();
        for (int i = 0; i < content.length; i++) {
            boolean pair = content[i] == '\r' && i + 1 < content.length && content[i + 1] == '\n';
            if (content[i] == '\n' || content[i] == '\r' && !pair) starts.add(i + 1);
        }
        starts.add(content.length);
        return starts;
    }

    private static List<Integer> startsOfRecords(byte[] content, byte[] delimiter) {
        List<Integer> starts = new ArrayList<>();
        for (int end = delimiter.length; end <= content.length; end++) {
            if (Arrays.equals(content, end - delimiter.length, end, delimiter, 0, delimiter.length)) starts.add(end);
        }
        starts.add(content.length);
        return starts;
    }

    private static int firstFrom(List<Integer> starts, int at) {
        for (int start : starts) if (start >= at) return start;
        throw new AssertionError("behind the end");
    }

    /** Returns the first of {@code cases} random cases in which a format differs from the scan, or null. */
    public static String difference(long seed, int cases) {
        Random random = new Random(seed);
        for (int i = 0; i < cases; i++) {
            byte[] content = new byte[random.nextInt(60)];
            for (int j = 0; j < content.length; j++) content[j] = ALPHABET[random.nextInt(ALPHABET.length)];
            byte[] delimiter = DELIMITERS[random.nextInt(DELIMITERS.length)].getBytes(StandardCharsets.US_ASCII);
            boolean lines = random.nextInt(3) == 0;
            RecordFormat format = lines
                    ? RecordFormat.lines(StandardCharsets.UTF_8)
                    : random.nextBoolean() ? RecordFormat.slices(delimiter) : RecordFormat.records(delimiter, null);
            List<Integer> starts = lines ? startsOfLines(content) : startsOfRecords(content, delimiter);
            String found = differenceOf(format, content, starts, random);
            if (found != null) return Arrays.toString(content) + (lines ? " lines" : new String(delimiter)) + found;
        }
        return null;
    }

    private static String differenceOf(RecordFormat format, byte[] content, List<Integer> starts, Random random) {
        byte[] padded = new byte[content.length + Bytes.PAD];
        random.nextBytes(padded);
        System.arraycopy(content, 0, padded, 0, content.length);
        for (int at = format.lookBehind(); at <= content.length; at++) {
            int want = firstFrom(starts, at);
            int got = format.nextStart(padded, at, content.length, true);
            if (got != want) return " at " + at + ": " + got;
            int known = at + random.nextInt(content.length - at + 1);
            int early = format.nextStart(padded, at, known, false);
            if (early != -1 && early != want) return " at " + at + " of " + known + " known: " + early;
        }
        return null;
    }
}
