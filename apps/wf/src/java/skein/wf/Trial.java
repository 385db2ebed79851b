// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import skein.fold.files.Bytes;

/** Tries formats on the first lines of an input. */
public final class Trial {
    /** The number of lines, without empty ones and comments, and those that are in the format. A character of a text stands for a byte. */
    public record Outcome(int lines, List<String> matches) {}

    private Trial() {}

    /** Tries {@code format} on the whole lines of {@code head}, at most {@code limit} of them, without empty ones and comments. */
    public static Outcome run(LogFormat format, byte[] head, int limit) {
        byte[] bytes = Arrays.copyOf(head, head.length + 1 + Bytes.PAD);
        bytes[head.length] = '\n';
        PartialLines parts = PartialLines.of(format);
        Text joined = parts == null ? null : parts.join(bytes, 0, head.length + 1);
        return joined == null
                ? run(format, bytes, head.length, limit)
                : run(format, joined.bytes, joined.length, limit);
    }

    /** Like the method above, for {@code bytes[0, to)}, which a line feed follows. */
    private static Outcome run(LogFormat format, byte[] bytes, int to, int limit) {
        byte[] unchanged = Arrays.copyOf(bytes, to); // a scanner resolves escapes in place
        Scanner scanner = format.scanner();
        Rows rows = new Rows(scanner.filled().length, false);
        rows.clear(scanner.filled());
        rows.bytes = bytes;
        Address peer = new Address();
        boolean closed = isClosed(format);
        int lines = 0;
        List<String> matches = new ArrayList<>();
        for (int at = 0; at < to && lines < limit; ) {
            int lineFeed = Bytes.indexOfLineFeed(bytes, at);
            int end = lineFeed > at && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
            at = Scanner.start(bytes, at, end);
            if (end > at) {
                int fault = scanner.scan(bytes, at, end, rows, 0);
                if (fault != Scanner.COMMENT) lines++;
                if (fault == Scanner.OK && isPlausible(rows, peer) && !(closed && hasSwallowed(rows))) {
                    matches.add(new String(unchanged, at, end - at, StandardCharsets.ISO_8859_1));
                }
            }
            at = lineFeed + 1;
        }
        return new Outcome(lines, matches);
    }

    /**
     * Returns whether the only row could be a request: its client and host look like addresses or names, and it has a URL or a status.
     * Without this check a format of texts would match lines of any kind.
     */
    private static boolean isPlausible(Rows rows, Address peer) {
        return !isShifted(rows, peer)
                && isPeer(rows, Rows.CLIENT, peer)
                && isPeer(rows, Rows.HOST, peer)
                && (rows.from[Rows.URL][0] >= 0 || rows.status[0] > 0);
    }

    /**
     * Returns whether the user of the only row has taken in the fields before it, because other words, such as a host and its port, are
     * before the client.
     */
    private static boolean isShifted(Rows rows, Address peer) {
        String user = rows.text(Rows.USER, 0);
        if (user == null || user.indexOf(' ') < 0) return false;
        int client = rows.from[Rows.CLIENT][0];
        boolean address = client >= 0 && peer.parseClient(rows.bytes, client, rows.to[Rows.CLIENT][0]);
        if (user.contains(" - ") || user.startsWith("- ") && !address) return true;
        int to = rows.to[Rows.USER][0];
        for (int from = rows.from[Rows.USER][0], space; from < to; from = space + 1) {
            space = Bytes.indexOf(rows.bytes, from, to, (byte) ' ');
            if (peer.parseClient(rows.bytes, from, space)) return true;
        }
        return false;
    }

    /** Returns whether no text may follow the fields of a format. */
    private static boolean isClosed(LogFormat format) {
        return format instanceof TextFormat text
                ? !text.open()
                : format instanceof WrappedFormat wrapped && isClosed(wrapped.inner());
    }

    /**
     * Returns whether a quoted field of the only row has a quotation mark and a space in it. Servers escape the marks in a field, so it
     * has probably ended there, and the line has more fields than the format.
     */
    private static boolean hasSwallowed(Rows rows) {
        for (int column = 0; column < rows.from.length; column++) {
            if (column != Rows.REFERRER && column != Rows.AGENT && column < Rows.COLUMNS) continue;
            int from = rows.from[column][0];
            for (int at = from; from >= 0 && at + 1 < rows.to[column][0]; at++) {
                if (rows.bytes[at] == '"' && rows.bytes[at + 1] == ' ' && !TextScanner.isEscaped(rows.bytes, from, at))
                    return true;
            }
        }
        return false;
    }

    private static boolean isPeer(Rows rows, int column, Address peer) {
        int from = rows.from[column][0];
        return from < 0 || peer.parsePeer(rows.bytes, from, rows.to[column][0]);
    }
}
