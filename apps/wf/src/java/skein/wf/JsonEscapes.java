// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/** Resolves the escapes of JSON's strings in place, to UTF-8. */
final class JsonEscapes {
    private JsonEscapes() {}

    /** Resolves the escapes of {@code bytes[at, end)}; returns where the text ends then. */
    static int unescape(byte[] bytes, int at, int end) {
        int out = at;
        while (at < end) {
            byte b = bytes[at++];
            if (b != '\\' || at == end) {
                bytes[out++] = b;
                continue;
            }
            byte c = bytes[at++];
            int code = c == 'u' ? hex(bytes, at, end) : -1;
            if (code >= 0) {
                at += 4;
                int low = code >>> 10 == 0x36 && at + 6 <= end && bytes[at] == '\\' && bytes[at + 1] == 'u'
                        ? hex(bytes, at + 2, end)
                        : -1;
                if (low >>> 10 == 0x37) {
                    code = Character.toCodePoint((char) code, (char) low);
                    at += 6;
                }
                out = putUtf8(bytes, out, code);
            } else {
                int simple = "bfnrt".indexOf(c);
                // nginx without escape=json writes \x22, which is not an escape of JSON, so it stays as it is
                if (simple < 0 && c != '"' && c != '\\' && c != '/') bytes[out++] = '\\';
                bytes[out++] = simple >= 0 ? (byte) "\b\f\n\r\t".charAt(simple) : c;
            }
        }
        return out;
    }

    private static int hex(byte[] bytes, int at, int end) {
        if (at + 4 > end) return -1;
        int code = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = Character.digit(bytes[i], 16);
            if (digit < 0) return -1;
            code = code << 4 | digit;
        }
        return code;
    }

    private static int putUtf8(byte[] bytes, int out, int code) {
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        bytes[out++] = (byte) (more == 0 ? code : 0xF0 << 3 - more & 0xFF | code >>> 6 * more);
        for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) bytes[out++] = (byte) (0x80 | code >>> shift & 0x3F);
        return out;
    }
}
