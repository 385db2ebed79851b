// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import clojure.lang.AFn;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import skein.rt.block.Callback;
import skein.rt.block.ThreadWaiter;

/** Writes before a put are visible to the taker: plain fields, without help from the test. */
public final class PublicationStress {
    private PublicationStress() {}

    /** What is handed over: a plain field. */
    static final class Box {
        int content;

        static Box filled() {
            Box box = new Box();
            box.content = 42;
            return box;
        }

        static int content(Object boxOrNull) {
            return boxOrNull instanceof Box box ? box.content : -1;
        }
    }

    /** Through a channel, with a poll. */
    @JCStressTest
    @Outcome(id = "-1", expect = ACCEPTABLE, desc = "nothing there yet")
    @Outcome(id = "42", expect = ACCEPTABLE, desc = "the whole value")
    @Outcome(expect = FORBIDDEN, desc = "a value not yet written")
    @State
    public static class Buffered {
        final Channel channel = new Channel(new Buffers.Fixed(1));

        @Actor
        public void put() {
            channel.put(Box.filled(), null, null);
        }

        @Actor
        public void take(I_Result r) {
            r.r1 = Box.content(channel.take(null, null));
        }
    }

    /** From thread to thread, which spins or parks for it. */
    @JCStressTest
    @Outcome(id = "42", expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class Blocking {
        final Channel channel = new Channel(null);

        @Actor
        public void put() {
            try {
                ThreadWaiter.put(channel, Box.filled());
            } catch (InterruptedException e) {
                throw new AssertionError(e); // nobody interrupts
            }
        }

        @Actor
        public void take(I_Result r) {
            try {
                r.r1 = Box.content(ThreadWaiter.take(channel));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** To a callback, on whichever thread. */
    @JCStressTest
    @Outcome(id = "42", expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class CalledBack {
        final Channel channel = new Channel(null);
        int seen;

        @Actor
        public void put() {
            Callback nobody = new Callback(null, true);
            channel.put(Box.filled(), nobody, null);
        }

        @Actor
        public void take() {
            Callback see = new Callback(
                    new AFn() {
                        @Override
                        public Object invoke(Object value) {
                            seen = Box.content(value);
                            return null;
                        }
                    },
                    true);
            Object now = channel.take(see, null);
            if (now != Channel.NONE) seen = Box.content(now);
        }

        @Arbiter
        public void look(I_Result r) {
            r.r1 = seen;
        }
    }

    /** All that see a port closed know why it has closed. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "still open")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "closed, with the exception")
    @Outcome(expect = FORBIDDEN, desc = "closed, without the exception")
    @State
    public static class Failure {
        static final Throwable THROWN = new Throwable("meant", null, false, false) {};
        final Channel port = new Channel(null, Result.PLAIN);

        @Actor
        public void fail() {
            port.closeFor(skein.rt.Failure.told(THROWN));
        }

        @Actor
        public void see(I_Result r) {
            r.r1 = !port.isClosed() ? 0 : port.thrown() == THROWN ? 1 : 2;
        }
    }
}
