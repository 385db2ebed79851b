// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.LazilyPersistentVector;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One alts that waits in several channels, with one {@link Arm} in each. At most one arm wins.
 *
 * <pre>
 *   OPEN -> CLAIMED        the first arm to be claimed, under its channel's lock; or a withdrawal
 * </pre>
 *
 * <ul>
 *   <li>C1 One arm is completed, or none if the alts is withdrawn.
 *   <li>C2 When its owner resumes, no arm is left in a channel: the winner withdraws the others, so that a finished alts
 *       leaves nothing in a channel that nobody uses.
 * </ul>
 */
final class Choice {
    private static final int OPEN = 0;
    private static final int CLAIMED = 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Choice.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int state; // volatile: arms are claimed under different locks
    final Waiter owner;
    final Arm[] arms;

    Choice(Waiter owner, int size) {
        this.owner = owner;
        this.arms = new Arm[size];
    }

    boolean open() {
        return state == OPEN;
    }

    boolean claim() {
        return state == OPEN && STATE.compareAndSet(this, OPEN, CLAIMED);
    }

    /** Withdraws all arms but {@code winner} from their channels. Holds one lock at a time. */
    void withdrawAllBut(Arm winner) {
        for (Arm arm : arms) {
            if (arm != winner && arm != null) arm.channel.withdraw(arm);
        }
    }

    /** Withdraws an alts that was interrupted or cancelled. Returns false if an arm has won before. */
    boolean withdraw() {
        if (!claim()) return false;
        withdrawAllBut(null);
        return true;
    }

    /** One operation of the choice. */
    static final class Arm extends Waiter {
        final Choice choice;
        final Channel channel;

        Arm(Choice choice, Channel channel, Object value) {
            this.choice = choice;
            this.channel = channel;
            this.value = value;
        }

        @Override
        protected boolean claim() {
            return choice.claim();
        }

        @Override
        protected boolean active() {
            return choice.open();
        }

        @Override
        protected void complete(Object result, Runner runner) {
            choice.withdrawAllBut(this);
            choice.owner.complete(LazilyPersistentVector.createOwning(result, channel.asPort()), runner);
        }

        @Override
        public Thread thread() {
            return choice.owner.thread();
        }

        @Override
        public StackTraceElement[] stack() {
            return choice.owner.stack();
        }

        @Override
        public Block block() {
            return choice.owner.block();
        }
    }
}
