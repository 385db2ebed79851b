// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/** Finds the line inside a line of a {@link WrappedFormat}, and passes it to the scanner of the inner format. */
final class WrappedScanner extends Scanner {
    private static final byte[] LOG = Text.literal("{\"log\":\"");
    private static final byte[] STREAM = Text.literal("\",\"stream\":\"");
    private static final int FIELDS_BEFORE_DATA = 5; // of RFC 5424: time, host, application, process, message type
    private static final int TIME_BYTES = 15; // of RFC 3164: Oct 10 13:55:36

    private final WrappedFormat.Wrapper wrapper;
    private final Scanner inner;
    private final int fault;
    private final Text copy = new Text(1 << 10);

    /** @param fault the number of the fault of a line that is not wrapped */
    WrappedScanner(WrappedFormat.Wrapper wrapper, Scanner inner, int fault) {
        this.wrapper = wrapper;
        this.inner = inner;
        this.fault = fault;
    }

    @Override
    boolean[] filled() {
        return inner.filled();
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        int from = switch (wrapper) {
            case SYSLOG -> syslog(bytes, at, end);
            case KUBERNETES -> kubernetes(bytes, at, end);
            case DOCKER -> dockerFrom(bytes, at, end);
        };
        if (from < 0) return fault;
        from = start(bytes, from, end); // RFC 5424 wants a byte order mark before UTF-8
        return wrapper == WrappedFormat.Wrapper.DOCKER
                ? docker(bytes, at, from, end, batch, row)
                : inner.scan(bytes, from, end, batch, row);
    }

    private static boolean startsWith(byte[] text, byte[] bytes, int at, int end) {
        if (end - at < text.length) return false;
        for (int i = 0; i < text.length; i++) if (bytes[at + i] != text[i]) return false;
        return true;
    }

    /** Returns where the token after the next space begins, or -1. */
    private static int afterSpace(byte[] bytes, int at, int end) {
        int space = at < 0 ? end : Bytes.indexOf(bytes, at, end, (byte) ' ');
        return space < end ? space + 1 : -1;
    }

    private static int kubernetes(byte[] bytes, int at, int end) {
        int stream = afterSpace(bytes, at, end);
        int tag = afterSpace(bytes, stream, end);
        if (!isDigit(bytes[at]) || tag < 0 || tag - stream != 7 || bytes[stream] != 's') return -1;
        int line = afterSpace(bytes, tag, end);
        // Parts of a line are joined before they get here, see PartialLines.
        return line == tag + 2 && bytes[tag] == 'F' ? line : -1;
    }

    private static int syslog(byte[] bytes, int at, int end) {
        if (bytes[at] == '<') {
            int close = Bytes.indexOf(bytes, at, end, (byte) '>');
            if (close == end || close + 3 > end) return -1;
            at = close + 1;
            if (isDigit(bytes[at]) && bytes[at + 1] == ' ') return structured(bytes, at + 2, end);
        }
        int host = isDigit(bytes[at])
                ? afterSpace(bytes, at, end)
                : end - at > TIME_BYTES && bytes[at + 3] == ' ' && bytes[at + 9] == ':' && bytes[at + TIME_BYTES] == ' '
                        ? at + TIME_BYTES + 1
                        : -1;
        // The host may be left out; the tag ends with a colon.
        int next = afterSpace(bytes, host, end);
        if (next < 0) return -1;
        if (bytes[next - 2] == ':') return next;
        int line = afterSpace(bytes, next, end);
        return line > 0 && bytes[line - 2] == ':' ? line : -1;
    }

    /** RFC 5424 from its time on. */
    private static int structured(byte[] bytes, int at, int end) {
        for (int i = 0; i < FIELDS_BEFORE_DATA; i++) at = afterSpace(bytes, at, end);
        if (at < 0 || at >= end) return -1;
        if (bytes[at] != '[') return afterSpace(bytes, at, end);
        for (boolean quoted = false; at < end; at++) {
            if (bytes[at] == '"' && bytes[at - 1] != '\\') quoted = !quoted;
            if (!quoted && bytes[at] == ']' && at + 1 < end && bytes[at + 1] == ' ') return at + 2;
        }
        return -1;
    }

    /** Scans a line in a JSON string. Resolves its escapes in a copy first, because a malformed line must stay as it is. */
    private int docker(byte[] bytes, int at, int from, int end, Rows batch, int row) {
        int to = dockerTo(bytes, from, end);
        if (to < 0) return fault;
        if (Bytes.indexOf(bytes, from, to, (byte) '\\') == to) return inner.scan(bytes, from, to, batch, row);
        copy.length = 0;
        copy.add(bytes, from, to - from).reserve(Bytes.PAD);
        int length = withoutLineEnd(copy.bytes, 0, JsonEscapes.unescape(copy.bytes, 0, to - from));
        batch.keepLine(row, at, end);
        int found = inner.scan(copy.bytes, 0, length, batch, row);
        if (found != OK) {
            batch.forgetLine(row);
            return found;
        }
        return inner.scan(bytes, from, withoutLineEnd(bytes, from, JsonEscapes.unescape(bytes, from, to)), batch, row);
    }

    /** Returns where the text begins in a line of Docker's, or -1. */
    static int dockerFrom(byte[] bytes, int at, int end) {
        return startsWith(LOG, bytes, at, end) ? at + LOG.length : -1;
    }

    /** Returns where the text that begins at {@code from} ends, or -1. */
    static int dockerTo(byte[] bytes, int from, int end) {
        int to = from;
        while ((to = Bytes.indexOf(bytes, to, end, (byte) '"')) < end && !startsWith(STREAM, bytes, to, end)) to++;
        return to == end ? -1 : to;
    }

    /** Returns whether the text that ends at {@code to} was written to stderr. */
    static boolean isDockerError(byte[] bytes, int to) {
        return bytes[to + STREAM.length + 3] == 'e';
    }

    private static int withoutLineEnd(byte[] bytes, int from, int to) {
        if (to > from && bytes[to - 1] == '\n') to--;
        return to > from && bytes[to - 1] == '\r' ? to - 1 : to;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }
}
