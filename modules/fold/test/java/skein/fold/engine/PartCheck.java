// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import org.jetbrains.lincheck.datastructures.Operation;

/** Lincheck: a part whose owner takes blocks of two units while helpers split it. Each unit goes to one of them. */
public class PartCheck {
    private static final int UNITS = 20;
    private final Part part = new Part(new Pace(2, 1)).range(0, UNITS);

    @Operation(nonParallelGroup = "owner")
    public long take() {
        return part.take(0);
    }

    @Operation
    public long split() {
        Part later = part.split();
        return later == null ? -1 : later.remaining();
    }

    @Operation
    public long remaining() {
        return part.remaining();
    }

    @Operation
    public void close() {
        part.close();
    }

    /** The units that nobody has taken. */
    public static class Model {
        private long at;
        private long end = UNITS;

        public long take() {
            if (end <= at) return -1;
            return at += Math.min(2, end - at);
        }

        public long split() {
            if (end <= at) return -1;
            long middle = at + (end - at) / 2;
            long later = end - middle;
            end = middle;
            return later;
        }

        public long remaining() {
            return end - at;
        }

        public void close() {
            end = at;
        }
    }
}
