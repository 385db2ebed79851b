// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/**
 * Joins the parts of a container's log lines. Kubernetes' runtimes cut lines of more than 16 kB: all parts but the last one are tagged P,
 * the last one F, and lines of the other stream may stand between them. For one thread.
 */
final class PartialLines {
    private static final int TAG = 7; // the offset of the tag in "stdout P "

    /* The parts that were read of a line of stdout, and of a line of stderr. */
    private final Text[] waiting = {new Text(0), new Text(0)};
    private final Text joined = new Text(0);

    /** Forgets the parts of lines whose rest has not come. */
    void forget() {
        for (Text parts : waiting) parts.length = 0;
    }

    /** Returns how many lines have not been read to their end. */
    int waiting() {
        int n = 0;
        for (Text parts : waiting) if (parts.length > 0) n++;
        return n;
    }

    /** Returns {@code bytes[from, to)} with each joined line in the place of its last part; null if there is nothing to join. */
    Text join(byte[] bytes, int from, int to) {
        if (waiting() == 0 && firstPart(bytes, from, to) == to) return null;
        joined.length = 0;
        for (int at = from, next; at < to; at = next) {
            next = Bytes.indexOfLineFeed(bytes, at) + 1;
            int stream = stream(bytes, at, next);
            if (stream < 0) {
                joined.add(bytes, at, next - at);
                continue;
            }
            Text parts = waiting[bytes[stream + 3] == 'o' ? 0 : 1];
            int text = stream + TAG + 2;
            if (bytes[stream + TAG] == 'P') {
                parts.add(bytes, text, withoutLineEnd(bytes, text, next) - text);
            } else {
                joined.add(bytes, at, text - at)
                        .add(parts.bytes, 0, parts.length)
                        .add(bytes, text, next - text);
                parts.length = 0;
            }
        }
        joined.reserve(Bytes.PAD);
        return joined;
    }

    private static int firstPart(byte[] bytes, int from, int to) {
        for (int at = from, next; at < to; at = next) {
            next = Bytes.indexOfLineFeed(bytes, at) + 1;
            int stream = stream(bytes, at, next);
            if (stream >= 0 && bytes[stream + TAG] == 'P') return at;
        }
        return to;
    }

    /** Returns where the name of the stream is in a line, or -1 if it is no line of a container's log. */
    private static int stream(byte[] bytes, int at, int end) {
        int stream = Bytes.indexOf(bytes, at, end, (byte) ' ') + 1;
        return stream + TAG + 1 < end
                        && bytes[stream] == 's'
                        && bytes[stream + TAG - 1] == ' '
                        && bytes[stream + TAG + 1] == ' '
                ? stream
                : -1;
    }

    private static int withoutLineEnd(byte[] bytes, int from, int to) {
        int end = to - 1;
        return end > from && bytes[end - 1] == '\r' ? end - 1 : end;
    }
}
