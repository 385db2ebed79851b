// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;

/** The odd lines of a sample log, like those in real logs that don't fit the format. */
final class SampleOddities {
    private static final byte[][] SHORT = Text.literals(
            "-",
            " ",
            "\t",
            "logrotate: done",
            "\u0000\u0000\u0000\u0000",
            "127.0.0.1 - - [01/Mar/2025:00:00:00 +0000]");
    private static final byte[][] BAD_SIZES = Text.literals(
            "12a", "+5", "-5", "", "1234567890123456", "0x1F", "--", "99999999999999999999", "1.5", "\u00B2");
    private static final byte[][] GOOD_SIZES = Text.literals("-", "0", "000000000000007", "000000123456789", "1");
    private static final byte[][] METHODS =
            Text.literals("\"get", "GET", "\"GET\"", "\"\"GET", "\"PROPFIND", "\"-\"", "");
    private static final byte[][] URLS = Text.literals(
            "/ongoing/When/200x/2006/03/30/caf\u00E9",
            "/\u00FF\u00FE\u0080\u00C3",
            "/ongoing/When/200x/2006/03/30/na\u00C3\u00AFve",
            "/ongoing/When/200x/2006/03/30/",
            "/ongoing/When/200x/2006/03/30/a.b",
            "/ongoing/When/20xx/2006/03/30/Tea",
            "/ongoing/When/200x/2006/3/30/Tea",
            "/ongoing/When/200x/2006/03/30/Tea/2",
            "/ongoing/When/200x/2006/03/30/\u0001\t",
            "",
            "*",
            SampleSite.ADDRESS + "/ongoing/",
            "/\"quoted\"",
            "/ongoing/When/200x/2006/03/30/\u0000");
    private static final byte[][] STATUSES = Text.literals("\"200", "2000", "20", "", "404\t", "408", "099");
    private static final byte[][] REFERRERS = Text.literals(
            "\"\"",
            "\"",
            "",
            "-",
            "\"-",
            "-\"",
            "http://unquoted.example/",
            "\"http://with.example/a",
            "\"\"\"",
            "\"\u00E9\u00A0\"",
            "\"" + SampleSite.ADDRESS + "/ongoing/\"",
            "\"" + SampleSite.ADDRESS + "/ongoing\"",
            SampleSite.ADDRESS + "/ongoing/x",
            "\"\u001B[31m\"");
    private static final byte[] HANDSHAKE =
            Text.literal("\"\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00FC\u0003\u0003\" 400 226 \"-\" \"-\"");
    private static final byte[] USER = Text.literal("frank");
    private static final byte[] OTHER_CLIENT = Text.literal("2001:db8:0:0:ffff:ffff:ffff:ffff");
    private static final byte[] NOTHING = {};

    /** The number of kinds. */
    static final int KINDS = 18;

    private SampleOddities() {}

    /**
     * Replaces the well-formed line that begins at {@code start}, and is the last in {@code text}, by an odd one of
     * the given kind. Very long lines get 2 to 4 KB more; when {@code huge} is set, 4 to 8 KB, or rarely up to 256 KB.
     */
    static void spoil(Text text, int start, int kind, Dice dice, boolean huge) {
        int end = text.length - 1;
        switch (kind) {
            case 0 -> end = start;
            case 1 -> replace(text, start, end, pick(SHORT, dice));
            case 2 -> replace(text, end, end, Text.literal("\r"));
            case 3 -> replace(text, end, end, Text.literal("\r\r"));
            case 4 -> replaceField(text, start, 1 + dice.below(12), Text.literal(" -"));
            case 5 -> replaceField(text, start, dice.below(12), NOTHING);
            case 6 -> replaceField(text, start, 9, pick(BAD_SIZES, dice));
            case 7 -> replaceField(text, start, 9, pick(GOOD_SIZES, dice));
            case 8 -> replaceField(text, start, 5, pick(METHODS, dice));
            case 9 -> replaceField(text, start, 6, pick(URLS, dice));
            case 10 -> replaceField(text, start, 8, pick(STATUSES, dice));
            case 11, 12 -> replaceField(text, start, 10, pick(REFERRERS, dice));
            case 13 -> replace(text, fieldFrom(text, start, 10) - 1, end, NOTHING);
            case 14 ->
                replace(text, fieldFrom(text, start, 11) - 1, end, dice.below(2) == 0 ? NOTHING : Text.literal("\r"));
            case 15 -> replace(text, fieldFrom(text, start, 5), end, HANDSHAKE);
            case 16 -> replaceField(text, start, dice.below(3), dice.below(2) == 0 ? USER : OTHER_CLIENT);
            default -> lengthen(text, start, dice, huge);
        }
        if (kind == 0) text.length = start + 1;
        text.bytes[text.length - 1] = '\n';
    }

    private static byte[] pick(byte[][] choices, Dice dice) {
        return choices[dice.below(choices.length)];
    }

    /** Makes a URL, a referrer or a user agent very long. */
    private static void lengthen(Text text, int start, Dice dice, boolean huge) {
        int n = 2048 + dice.below(2048);
        if (huge) n = dice.below(16) > 0 ? n << 1 : n << 6;
        byte[] filler = new byte[n];
        Arrays.fill(filler, (byte) 'x');
        for (int i = 0; i < n; i += 61) filler[i] = '%';
        int field = new int[] {6, 10, 13}[dice.below(3)];
        int from = fieldFrom(text, start, field);
        replace(text, from, from, filler);
    }

    /** Returns where field {@code n} of the line begins, or the line's last byte when it has fewer. */
    private static int fieldFrom(Text text, int start, int n) {
        int at = start;
        for (int last = text.length - 1; n > 0; n--) {
            while (at < last && text.bytes[at] != ' ') at++;
            if (at == last) return last;
            at++;
        }
        return at;
    }

    private static void replaceField(Text text, int start, int n, byte[] replacement) {
        int from = fieldFrom(text, start, n);
        int to = from;
        while (to < text.length - 1 && text.bytes[to] != ' ') to++;
        replace(text, from, to, replacement);
    }

    private static void replace(Text text, int from, int to, byte[] replacement) {
        int growth = replacement.length - (to - from);
        text.reserve(Math.max(0, growth));
        System.arraycopy(text.bytes, to, text.bytes, to + growth, text.length - to);
        System.arraycopy(replacement, 0, text.bytes, from, replacement.length);
        text.length += growth;
    }
}
