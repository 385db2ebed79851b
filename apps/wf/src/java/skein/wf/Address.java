// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/**
 * Reads IPv4 and IPv6 addresses in place, without name lookups. For one thread.
 *
 * <p>An address has 16 bytes: 10.1.2.3 is ::ffff:10.1.2.3, so that either spelling matches the networks of the other.
 */
public final class Address {
    /** The number of bits before an IPv4 address. */
    public static final int V4_BITS = 96;

    private static final int GROUPS = 8;
    private static final int MAX_NAME = 253;
    private static final int V4_INDEX = V4_BITS / 8;

    private final byte[] bytes = new byte[16];

    /** No address yet. */
    public Address() {}

    /** Returns the 16 bytes of an address, or null when it is none. */
    public static byte[] of(String text) {
        Address address = new Address();
        byte[] latin1 = Text.literal(text);
        return address.parse(latin1, 0, latin1.length) ? address.bytes : null;
    }

    /** Returns whether the bytes are an IPv4 address. */
    public static boolean isV4(byte[] address) {
        for (int i = 0; i < V4_INDEX; i++) if (address[i] != (i < 10 ? 0 : -1)) return false;
        return true;
    }

    /** Reads {@code text[from, to)}; false when it is not an address. */
    private boolean parse(byte[] text, int from, int to) {
        if (to - from >= 2 && text[from] == '[' && text[to - 1] == ']') return parse(text, from + 1, to - 1);
        if (!parseV4(text, from, to, V4_INDEX)) return parseV6(text, from, to);
        for (int i = 0; i < V4_INDEX; i++) bytes[i] = (byte) (i < 10 ? 0 : -1);
        return true;
    }

    /** Like {@link #parse}, but skips a port and a zone, as in 10.1.2.3:5555, [::1]:80 and fe80::1%eth0. */
    boolean parseClient(byte[] text, int from, int to) {
        if (parse(text, from, to)) return true;
        int end = to;
        while (end > from && text[end - 1] >= '0' && text[end - 1] <= '9') end--;
        boolean port = end - 1 > from && end < to && text[end - 1] == ':';
        if (port && (text[end - 2] == ']' || Bytes.indexOf(text, from, end - 1, (byte) ':') == end - 1)) {
            return parse(text, from, end - 1);
        }
        int zone = Bytes.indexOf(text, from, to, (byte) '%');
        return zone > from && zone < to && parseV6(text, from, zone);
    }

    /** Returns whether {@code text[from, to)} looks like an address, the name of a host, or a minus sign for none. */
    boolean parsePeer(byte[] text, int from, int to) {
        if (to - from == 1 && (text[from] == '-' || text[from] == '_')) return true;
        return parseClient(text, from, to) || isName(text, from, to);
    }

    /** Returns whether a text is a DNS name, perhaps with a port, or {@code unix:}, which nginx writes. A number is not a name. */
    private static boolean isName(byte[] text, int from, int to) {
        int colon = Bytes.indexOf(text, from, to, (byte) ':');
        for (int at = colon + 1; at < to; at++) if (text[at] < '0' || text[at] > '9') return false;
        boolean letter = false;
        for (int at = from; at < colon; at++) {
            byte b = text[at];
            boolean isLetter = (b | 0x20) >= 'a' && (b | 0x20) <= 'z';
            if (!isLetter && (b < '0' || b > '9') && b != '.' && b != '-' && b != '_') return false;
            letter |= isLetter;
        }
        return letter && colon - from <= MAX_NAME;
    }

    private boolean parseV4(byte[] text, int from, int to, int index) {
        int number = -1;
        int parts = 0;
        for (int at = from; at <= to; at++) {
            if (at == to || text[at] == '.') {
                if (number < 0 || parts == 4) return false;
                bytes[index + parts++] = (byte) number;
                number = -1;
            } else if (text[at] >= '0' && text[at] <= '9' && number != 0) {
                number = 10 * Math.max(number, 0) + text[at] - '0';
                if (number > 255) return false;
            } else {
                return false;
            }
        }
        return parts == 4;
    }

    private boolean parseV6(byte[] text, int from, int to) {
        int groups = 0;
        int gap = -1;
        int at = from;
        if (to - at >= 2 && text[at] == ':' && text[at + 1] == ':') {
            gap = 0;
            at += 2;
        }
        while (at < to) {
            int end = at;
            while (end < to && text[end] != ':') end++;
            if (end == to && groups <= GROUPS - 2 && parseV4(text, at, to, 2 * groups)) {
                groups += 2;
                break;
            }
            int group = hex(text, at, end);
            if (group < 0 || groups == GROUPS) return false;
            bytes[2 * groups] = (byte) (group >>> 8);
            bytes[2 * groups++ + 1] = (byte) group;
            if (end == to) break;
            at = end + 1;
            if (at == to) return false;
            if (text[at] == ':') {
                if (gap >= 0) return false;
                gap = groups;
                at++;
            }
        }
        return gap < 0 ? groups == GROUPS : groups < GROUPS && spread(gap, groups);
    }

    private static int hex(byte[] text, int from, int to) {
        if (to == from || to - from > 4) return -1;
        int group = 0;
        for (int i = from; i < to; i++) {
            int digit = Character.digit(text[i], 16);
            if (digit < 0) return -1;
            group = group << 4 | digit;
        }
        return group;
    }

    /** Moves the groups after the {@code ::} to the end. */
    private boolean spread(int gap, int groups) {
        int moved = 2 * (groups - gap);
        System.arraycopy(bytes, 2 * gap, bytes, 16 - moved, moved);
        java.util.Arrays.fill(bytes, 2 * gap, 16 - moved, (byte) 0);
        return true;
    }

    /**
     * Replaces the last 8 bits of an IPv4 address in {@code text[from, to)}, or the last 80 bits of an IPv6 address, by zeros, and spells
     * the network in one way, which is never longer. Returns where the text ends now. Text that is not an address stays as it is.
     */
    int anonymize(byte[] text, int from, int to) {
        if (!parseClient(text, from, to)) return to;
        int at = from;
        if (isV4(bytes)) {
            for (int i = V4_INDEX; i < V4_INDEX + 3; i++) {
                at = write(bytes[i] & 0xFF, 10, text, at);
                text[at++] = '.';
            }
            text[at++] = '0';
            return at;
        }
        int groups = 3;
        while (groups > 0 && group(groups - 1) == 0) groups--;
        for (int i = 0; i < groups; i++) {
            if (i > 0) text[at++] = ':';
            at = write(group(i), 16, text, at);
        }
        text[at++] = ':';
        text[at++] = ':';
        return at;
    }

    private int group(int i) {
        return (bytes[2 * i] & 0xFF) << 8 | bytes[2 * i + 1] & 0xFF;
    }

    /** Writes a number at {@code at}, and returns where it ends. */
    private static int write(int number, int radix, byte[] text, int at) {
        int end = at + 1;
        for (int rest = number / radix; rest > 0; rest /= radix) end++;
        for (int i = end, rest = number; i > at; rest /= radix)
            text[--i] = (byte) Character.forDigit(rest % radix, radix);
        return end;
    }

    /** Returns whether the first {@code bits} bits are those of {@code network}. */
    boolean isIn(byte[] network, int bits) {
        int rest = bits & 7;
        if (rest != 0 && ((bytes[bits >> 3] ^ network[bits >> 3]) & 0xFF) >>> 8 - rest != 0) return false;
        for (int i = (bits >> 3) - 1; i >= 0; i--)
            if (bytes[i] != network[i]) return false; // differences are near the end
        return true;
    }
}
