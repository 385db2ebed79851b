// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.IPersistentVector;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.PersistentArrayMap;
import clojure.lang.RT;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import skein.rt.Alts;
import skein.rt.Block;
import skein.rt.Cancellable;
import skein.rt.Channel;
import skein.rt.Runner;
import skein.rt.Waiter;

/**
 * One take or put of a block that can be cancelled. It waits in the channel in place of the frame, and is either
 * completed or withdrawn, whichever comes first. The static methods are the parking operations of such a block.
 */
final class Wait extends Waiter implements BooleanSupplier {
    private static final VarHandle CLAIMED;

    static {
        try {
            CLAIMED = MethodHandles.lookup().findVarHandle(Wait.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile boolean claimed; // volatile: claimed under the channel's lock, and by a cancellation without it
    private final Frame owner;
    private final Channel channel;

    private Wait(Frame owner, Channel channel) {
        this.owner = owner;
        this.channel = channel;
    }

    /** Like {@link Frame#take}. Returns {@link Channel#NONE} when the block waits. */
    static Object take(Object source, Frame frame, Runner runner) {
        frame.cancellable().check();
        if (source instanceof Channel channel) return operate(channel, null, frame, runner);
        return foreign(LazilyPersistentVector.createOwning(source), frame);
    }

    /** Like {@link Frame#put}. Returns {@link Channel#NONE} when the block waits. */
    static Object put(Object target, Object value, Frame frame, Runner runner) {
        frame.cancellable().check();
        if (target instanceof Channel channel) {
            if (value == null) return channel.put(null, null, runner); // put refuses nil
            return operate(channel, value, frame, runner);
        }
        return foreign(LazilyPersistentVector.createOwning(LazilyPersistentVector.createOwning(target, value)), frame);
    }

    /** Like {@link Frame#alts}. Returns null when the block waits. */
    static Object alts(Object ports, Object options, Frame frame, Runner runner) {
        frame.cancellable().check();
        return choose(ports, options, frame, frame.cancellable(), runner);
    }

    private static Object operate(Channel channel, Object toPut, Frame frame, Runner runner) {
        Cancellable cancellable = frame.cancellable(); // once the block waits, the frame belongs to another thread
        for (; ; ) {
            Object result = toPut == null ? channel.take(null, runner) : channel.put(toPut, null, runner);
            if (result != Channel.NONE) return result;
            Wait wait = new Wait(frame, channel);
            cancellable.parks(wait);
            try {
                if (channel.enlist(wait, toPut)) return Channel.NONE;
            } catch (Throwable t) { // too many wait
                if (!wait.claim()) return Channel.NONE;
                cancellable.unparks();
                throw t;
            }
            if (!wait.claim()) return Channel.NONE; // cancelled: another thread resumes the block
            cancellable.unparks();
        }
    }

    private static Object choose(Object ports, Object options, Waiter owner, Cancellable cancellable, Runner runner) {
        Object chosen;
        try {
            chosen = Alts.choose(ports, options, owner, runner);
        } catch (Throwable t) { // the block does not wait
            cancellable.unparks();
            throw t;
        }
        if (chosen != null) cancellable.unparks();
        return chosen;
    }

    /** One operation on a port of another kind, as an alts of one operation, which can be withdrawn. */
    private static Object foreign(IPersistentVector operation, Frame frame) {
        Object chosen = choose(operation, PersistentArrayMap.EMPTY, new ForeignWait(frame), frame.cancellable(), null);
        return chosen == null ? Channel.NONE : RT.nth(chosen, 0);
    }

    @Override
    protected boolean claim() {
        return !claimed && CLAIMED.compareAndSet(this, false, true);
    }

    @Override
    protected boolean active() {
        return !claimed;
    }

    @Override
    protected void complete(Object result, Runner runner) {
        owner.complete(result, runner);
    }

    /** Withdraws the operation. Returns false if it has happened, or is about to. */
    @Override
    public boolean getAsBoolean() {
        if (!claim()) return false;
        channel.withdraw(this); // if it is not queued yet, the channel will refuse it
        return true;
    }

    @Override
    public Block block() {
        return owner;
    }

    /** Waits for {@code [value port]} and gives the block the value. */
    private static final class ForeignWait extends Waiter {
        private final Frame owner;

        ForeignWait(Frame owner) {
            this.owner = owner;
        }

        @Override
        protected void complete(Object result, Runner runner) {
            owner.complete(RT.nth(result, 0), runner);
        }

        @Override
        public void withdrawal(BooleanSupplier withdraw) {
            owner.withdrawal(withdraw);
        }

        @Override
        public Block block() {
            return owner;
        }
    }
}
