// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/**
 * Joins the parts of the lines of one container's log. Runtimes cut lines of more than 16 kB, and lines of the other stream may stand between the
 * parts. Kubernetes' runtimes tag the last part F and all others P. Docker ends only the last part with a line feed. A short line without
 * a line feed is not a part: it is the last one that a program wrote before it stopped. For one thread.
 */
final class PartialLines {
    private static final int TAG = 7; // the offset of the tag in "stdout P "
    private static final int DOCKER_PART_BYTES = 16384;

    private final boolean docker;
    /* The parts that were read of a line of stdout, and of a line of stderr. */
    private final Text[] waiting = {new Text(0), new Text(0)};
    private final Text joined = new Text(0);
    private long end; // the position in the file at which the lines that were joined last end
    /* The results of find. */
    private boolean isError; // whether the line is one of stderr
    private boolean isPart;
    private int from;
    private int to;

    private PartialLines(boolean docker) {
        this.docker = docker;
    }

    /** Returns an object that joins the lines of {@code format}, or null if its lines are never cut. */
    static PartialLines of(LogFormat format) {
        if (!(format instanceof WrappedFormat wrapped) || wrapped.wrapper() == WrappedFormat.Wrapper.SYSLOG)
            return null;
        return new PartialLines(wrapped.wrapper() == WrappedFormat.Wrapper.DOCKER);
    }

    /** Forgets the parts of lines whose rest has not come, unless the last lines that were joined ended at {@code position}. */
    void continueAt(long position) {
        if (position != end) for (Text parts : waiting) parts.length = 0;
        end = position;
    }

    /** Returns how many lines have not been read to their end. */
    int waiting() {
        int n = 0;
        for (Text parts : waiting) if (parts.length > 0) n++;
        return n;
    }

    /** Returns {@code bytes[from, to)} with each joined line in the place of its last part; null if there is nothing to join. */
    Text join(byte[] bytes, int from, int to) {
        end += to - from;
        if (waiting() == 0 && !hasPart(bytes, from, to)) return null;
        joined.length = 0;
        for (int at = from, next; at < to; at = next) {
            next = Bytes.indexOfLineFeed(bytes, at) + 1;
            if (!find(bytes, at, next)) {
                joined.add(bytes, at, next - at);
                continue;
            }
            Text parts = waiting[isError ? 1 : 0];
            if (isPart) {
                parts.add(bytes, this.from, this.to - this.from);
            } else {
                joined.add(bytes, at, this.from - at)
                        .add(parts.bytes, 0, parts.length)
                        .add(bytes, this.from, next - this.from);
                parts.length = 0;
            }
        }
        joined.reserve(Bytes.PAD);
        return joined;
    }

    private boolean hasPart(byte[] bytes, int from, int to) {
        for (int at = from, next; at < to; at = next) {
            next = Bytes.indexOfLineFeed(bytes, at) + 1;
            if ((!docker || next - at > DOCKER_PART_BYTES) && find(bytes, at, next) && isPart) return true;
        }
        return false;
    }

    /** Finds the text inside the line {@code bytes[at, end)}. Returns whether the line is one of a container's log. */
    private boolean find(byte[] bytes, int at, int end) {
        return docker ? findDocker(bytes, at, end) : findKubernetes(bytes, at, end);
    }

    private boolean findDocker(byte[] bytes, int at, int end) {
        from = WrappedScanner.dockerFrom(bytes, at, end);
        to = from < 0 ? -1 : WrappedScanner.dockerTo(bytes, from, end);
        if (to < 0) return false;
        isError = WrappedScanner.isDockerError(bytes, to);
        isPart =
                to - from >= DOCKER_PART_BYTES && !(bytes[to - 1] == 'n' && TextScanner.isEscaped(bytes, from, to - 1));
        return true;
    }

    private boolean findKubernetes(byte[] bytes, int at, int end) {
        int stream = Bytes.indexOf(bytes, at, end, (byte) ' ') + 1;
        if (stream + TAG + 1 >= end
                || bytes[stream] != 's'
                || bytes[stream + TAG - 1] != ' '
                || bytes[stream + TAG + 1] != ' ') return false;
        isError = bytes[stream + 3] == 'e';
        isPart = bytes[stream + TAG] == 'P';
        from = stream + TAG + 2;
        to = end - 1;
        if (to > from && bytes[to - 1] == '\r') to--;
        return true;
    }
}
