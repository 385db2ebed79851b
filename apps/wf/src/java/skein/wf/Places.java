// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/** Splits the addresses in a row: addresses with ports, lists of addresses, absolute URLs. */
final class Places {
    private Places() {}

    /** Reduces the client's field to the address: the first one of a list, without brackets and port. */
    static void client(TextFormat.Kind kind, byte[] bytes, Rows batch, int row) {
        int from = batch.from[Rows.CLIENT][row];
        int end = batch.to[Rows.CLIENT][row];
        while (from < end && (bytes[from] == ',' || bytes[from] == ' ')) from++; // a list may begin with nothing
        if (from == end) return;
        int to = Bytes.indexOf(bytes, from, end, (byte) ',');
        batch.from[Rows.CLIENT][row] = from;
        batch.to[Rows.CLIENT][row] = to;
        int colon = Bytes.indexOf(bytes, from, to, (byte) ':');
        if (colon == to) return;
        if (bytes[from] == '[') {
            int close = Bytes.indexOf(bytes, from, to, (byte) ']');
            if (close == to || close == from + 1) return;
            batch.from[Rows.CLIENT][row] = from + 1;
            batch.to[Rows.CLIENT][row] = close;
            return;
        }
        // An address of IPv6 has several colons, so the last one is that of a port only if there always is a port.
        int last = lastColon(bytes, from, to);
        if (last > from && isPort(bytes, last + 1, to) && (kind == TextFormat.Kind.ADDRESS_PORT || last == colon))
            batch.to[Rows.CLIENT][row] = last;
    }

    private static boolean isPort(byte[] bytes, int from, int to) {
        for (int at = from; at < to; at++) if (bytes[at] < '0' || bytes[at] > '9') return false;
        return from < to;
    }

    static int lastColon(byte[] bytes, int from, int to) {
        for (int at = to - 1; at >= from; at--) if (bytes[at] == ':') return at;
        return -1;
    }

    /** Splits a URL that begins with a scheme into host and URL: {@code https://example.org:443/a} is /a on example.org. */
    static void splitUrl(byte[] bytes, Rows batch, int row) {
        int from = batch.from[Rows.URL][row];
        int to = batch.to[Rows.URL][row];
        batch.from[Rows.HOST][row] = -1;
        int colon = from < 0 ? from : schemeEnd(bytes, from, to);
        if (colon <= from
                || colon + 3 > to
                || bytes[colon] != ':'
                || bytes[colon + 1] != '/'
                || bytes[colon + 2] != '/') return;
        int host = colon + 3;
        int path = hostEnd(bytes, host, to);
        int port = lastColon(bytes, host, path);
        boolean bracket = port >= 0 && Bytes.indexOf(bytes, port, path, (byte) ']') < path;
        batch.from[Rows.HOST][row] = host;
        batch.to[Rows.HOST][row] = port < 0 || bracket ? path : port;
        batch.from[Rows.URL][row] = path;
    }

    /**
     * Returns the first place with a byte that a scheme can't have. A scheme after it, as in {@code /login?to=https://...}, is not the
     * URL's own.
     */
    private static int schemeEnd(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && isOfScheme(bytes[at])) at++;
        return at;
    }

    private static boolean isOfScheme(byte b) {
        return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '.' || b == '-';
    }

    private static int hostEnd(byte[] bytes, int from, int to) {
        int at = from;
        while (at < to && bytes[at] != '/' && bytes[at] != '?' && bytes[at] != '#') at++;
        return at;
    }
}
