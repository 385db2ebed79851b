// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayDeque;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;

/**
 * Lincheck: in every schedule, a channel's answers are those of a queue used by one thread at a time.
 * Checks I1 to I5. {@code put} and {@code take} may leave a waiter behind and then answer "waits".
 */
@Param(name = "value", gen = IntGen.class, conf = "1:3")
public class ChannelCheck {
    private final Channel channel;

    ChannelCheck(int capacity) {
        this(new Channel(capacity == 0 ? null : new Buffers.Fixed(capacity)));
    }

    ChannelCheck(Channel channel) {
        this.channel = channel;
    }

    /** A waiter that does nothing with its result. */
    static final class Ignored extends Waiter {
        @Override
        protected void complete(Object result, Runner runner) {}
    }

    static String show(Object result) {
        return result == Channel.NONE ? "waits" : String.valueOf(result);
    }

    @Operation
    public String offer(@Param(name = "value") int v) {
        return show(channel.put(v, null, null));
    }

    @Operation
    public String put(@Param(name = "value") int v) {
        return show(channel.put(v, new Ignored(), null));
    }

    @Operation
    public String poll() {
        return show(channel.take(null, null));
    }

    @Operation
    public String take() {
        return show(channel.take(new Ignored(), null));
    }

    @Operation
    public void close() {
        channel.close();
    }

    /** The obvious channel. */
    public static class Model {
        private final int capacity;
        private final ArrayDeque<Integer> buffered = new ArrayDeque<>();
        private final ArrayDeque<Integer> puts = new ArrayDeque<>();
        private int takes;
        private boolean closed;

        Model(int capacity) {
            this.capacity = capacity;
        }

        /** Returns whether a put waits. */
        final boolean putWaits() {
            return !puts.isEmpty();
        }

        private String put(int v, boolean waits) {
            if (closed) return "false";
            if (takes > 0) {
                takes--;
            } else if (buffered.size() < capacity) {
                buffered.add(v);
            } else {
                if (waits) puts.add(v);
                return "waits";
            }
            return "true";
        }

        private String take(boolean waits) {
            Integer v = buffered.poll();
            if (v == null) v = puts.poll();
            else if (!puts.isEmpty()) buffered.add(puts.poll());
            if (v == null && !closed) {
                if (waits) takes++;
                return "waits";
            }
            return String.valueOf(v);
        }

        public String offer(int v) {
            return put(v, false);
        }

        public String put(int v) {
            return put(v, true);
        }

        public String poll() {
            return take(false);
        }

        public String take() {
            return take(true);
        }

        public void close() {
            closed = true;
            takes = 0;
        }
    }

    /** Channels of capacity 0. */
    public static class Capacity0 extends ChannelCheck {
        public Capacity0() {
            super(0);
        }
    }

    /** Channels of capacity 1. */
    public static class Capacity1 extends ChannelCheck {
        public Capacity1() {
            super(1);
        }
    }

    /** Channels of capacity 2. */
    public static class Capacity2 extends ChannelCheck {
        public Capacity2() {
            super(2);
        }
    }

    /** The model of capacity 0. */
    public static class Model0 extends Model {
        public Model0() {
            super(0);
        }
    }

    /** The model of capacity 1. */
    public static class Model1 extends Model {
        public Model1() {
            super(1);
        }
    }

    /** The model of capacity 2. */
    public static class Model2 extends Model {
        public Model2() {
            super(2);
        }
    }
}
