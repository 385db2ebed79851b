// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import clojure.lang.AFn;
import clojure.lang.PersistentVector;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import skein.rt.block.Body;
import skein.rt.block.Callback;
import skein.rt.block.Frame;
import skein.rt.block.ThreadWaiter;

/** Races for one value or one waiting operation, which exactly one party gets: arms of an alts, a close and a put, a withdrawal and a put. */
public final class OnceStress {
    private OnceStress() {}

    /** The result that a waiting operation got. */
    static final class Seen extends AFn {
        final Callback callback = new Callback(this, true);
        volatile int times;
        volatile Object last;

        @Override
        public Object invoke(Object value) {
            times = times + 1;
            last = value;
            return null;
        }
    }

    static int accepted(Object outcome) {
        return outcome == Boolean.TRUE ? 1 : 0;
    }

    /** C1: two puts meet one alts that waits for either. */
    @JCStressTest
    @Outcome(
            id = {"1, 1"},
            expect = ACCEPTABLE,
            desc = "one put is accepted, one value arrives")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class Arms {
        final Channel a = new Channel(null);
        final Channel b = new Channel(null);
        final Seen seen = new Seen();
        int first;
        int second;

        public Arms() {
            Alts.choose(PersistentVector.create(a, b), null, seen.callback, null);
        }

        @Actor
        public void putA() {
            first = accepted(a.put(1, null, null));
        }

        @Actor
        public void putB() {
            second = accepted(b.put(2, null, null));
        }

        @Arbiter
        public void look(II_Result r) {
            r.r1 = first + second;
            int value = (Integer) ((List<?>) seen.last).get(0);
            boolean right =
                    seen.times == 1 && (value == 1 ? first == 1 : second == 1) && a.takerCount() + b.takerCount() == 0;
            r.r2 = right ? 1 : 0;
        }
    }

    /** An alts that waits and another that comes with the opposite operations. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "both meet on one of the channels")
    @Outcome(expect = FORBIDDEN)
    @State
    public static class AltsMeetsAlts {
        final Channel a = new Channel(null);
        final Channel b = new Channel(null);
        final Seen takes = new Seen();
        final Seen puts = new Seen();

        private static void choose(Seen seen, Object... ops) {
            Object now = Alts.choose(PersistentVector.create(ops), null, seen.callback, null);
            if (now != null) seen.invoke(now);
        }

        @Actor
        public void take() {
            choose(takes, a, b);
        }

        @Actor
        public void put() {
            choose(puts, PersistentVector.create(b, 2), PersistentVector.create(a, 1));
        }

        @Arbiter
        public void look(I_Result r) {
            boolean met = takes.times == 1
                    && puts.times == 1
                    && ((List<?>) takes.last).get(1) == ((List<?>) puts.last).get(1);
            int waiting = a.takerCount() + a.putterCount() + b.takerCount() + b.putterCount();
            r.r1 = met && waiting == 0 ? 1 : 0;
        }
    }

    /** A put that was accepted before the close can still be taken; one that wasn't can't. */
    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, 1"},
            expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class CloseAndPut {
        final Channel channel = new Channel(new Buffers.Fixed(1));

        @Actor
        public void close() {
            channel.close();
        }

        @Actor
        public void put(II_Result r) {
            r.r1 = accepted(channel.put(1, null, null));
        }

        @Arbiter
        public void look(II_Result r) {
            r.r2 = channel.take(null, null) == null ? 0 : 1;
        }
    }

    /** A take is withdrawn, or gets the value. It never loses the value. */
    @JCStressTest
    @Outcome(
            id = {"1, 0, 0", "0, 1, 1"},
            expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class WithdrawAndPut {
        final Channel channel = new Channel(null);
        final Seen seen = new Seen();

        public WithdrawAndPut() {
            channel.take(seen.callback, null);
        }

        @Actor
        public void withdraw(III_Result r) {
            r.r1 = channel.withdraw(seen.callback) ? 1 : 0;
        }

        @Actor
        public void put(III_Result r) {
            r.r2 = accepted(channel.put(1, null, null));
        }

        @Arbiter
        public void look(III_Result r) {
            r.r3 = seen.times;
        }
    }

    /** A block in a region of its own that takes from {@code channel} and returns the value. */
    static final class Taker {
        final Region region = Region.child(null);
        private final Frame block;

        Taker(Channel channel) {
            block = new Frame(new Body() {
                @Override
                public Object run(Frame frame) {
                    return frame.state == 0 && !frame.take(channel, 1) ? Frame.PARKED : frame.takeValue();
                }

                @Override
                public int handler(int state) {
                    return -1;
                }

                @Override
                public Object sites() {
                    return null;
                }
            });
        }

        void start() {
            block.asyncIn(region);
        }

        /** Waits for the block's end. Returns 1 if it got the value, 0 if not. */
        int result() {
            try {
                return ThreadWaiter.take(block.port()) == null ? 0 : 1;
            } catch (InterruptedException e) {
                return -1;
            }
        }
    }

    /** A waiting block is cancelled, or gets the value. */
    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, 1"},
            expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class CancelAndPut {
        final Channel channel = new Channel(null);
        final Taker taker = new Taker(channel);

        public CancelAndPut() {
            taker.start();
        }

        @Actor
        public void cancel() {
            taker.region.cancel();
        }

        @Actor
        public void put(II_Result r) {
            r.r1 = accepted(channel.put(1, null, null));
        }

        @Arbiter
        public void look(II_Result r) {
            r.r2 = taker.result();
        }
    }

    /** Likewise, while the block begins to wait. */
    @JCStressTest
    @Outcome(
            id = {"0, 0", "1, 1"},
            expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class CancelAndWait {
        final Channel channel = new Channel(null);
        final Taker taker = new Taker(channel);

        @Actor
        public void start() {
            taker.start();
        }

        @Actor
        public void putAndCancel(II_Result r) {
            r.r1 = accepted(channel.put(1, null, null));
            taker.region.cancel();
        }

        @Arbiter
        public void look(II_Result r) {
            r.r2 = taker.result();
        }
    }
}
