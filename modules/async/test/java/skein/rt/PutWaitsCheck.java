// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import org.jetbrains.lincheck.datastructures.Operation;

/**
 * Lincheck: in every schedule, a callback for a waiting put is called once. Checks I7. The operations of {@link
 * ChannelCheck} go on beside it.
 */
public class PutWaitsCheck extends ChannelCheck {
    /** A channel that counts the calls of its callback. */
    private static final class Telling extends Channel {
        private int told; // guarded by lock

        Telling() {
            super(new Buffers.Fixed(1));
        }

        int told() {
            lock();
            try {
                return told;
            } finally {
                unlock();
            }
        }
    }

    private final Telling telling;

    public PutWaitsCheck() {
        this(new Telling());
    }

    private PutWaitsCheck(Telling telling) {
        super(telling);
        this.telling = telling;
    }

    @Operation
    public void whenPutWaits() {
        telling.whenPutWaits(() -> telling.told++);
    }

    @Operation
    public int told() {
        return telling.told();
    }

    /** The obvious channel, with a flag and a counter. */
    public static class Model extends ChannelCheck.Model {
        private boolean asked;
        private int told;

        public Model() {
            super(1);
        }

        private void tell() {
            if (asked && putWaits()) {
                asked = false;
                told++;
            }
        }

        @Override
        public String put(int v) {
            String result = super.put(v);
            if (result.equals("waits")) tell();
            return result;
        }

        public void whenPutWaits() {
            asked = true;
            tell();
        }

        public int told() {
            return told;
        }
    }
}
