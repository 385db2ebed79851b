// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.ExceptionInfo;
import clojure.lang.IPersistentMap;
import clojure.lang.IPersistentVector;
import clojure.lang.ISeq;
import clojure.lang.Keyword;
import clojure.lang.LazilyPersistentVector;
import clojure.lang.PersistentArrayMap;
import clojure.lang.RT;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import skein.base.Assertion;

/**
 * Does one of several channel operations, in three steps. First it tries each operation in turn. It skips
 * this step if all are takes and none seems ready. If no operation is done, it locks all the channels, checks that none is
 * ready, and queues one arm in each. The first arm that is claimed wins.
 *
 * <p>The steps are those of Go's select (runtime/select.go). Differs: the first step takes one lock at a time, and
 * mostly succeeds. There is no global order of locks, since transducers run under them, so all locks but one are taken by
 * tryLock. The winner, not the owner, withdraws the other arms.
 */
public final class Alts {
    private static final Keyword PRIORITY = Keyword.intern(null, "priority");
    private static final Keyword DEFAULT = Keyword.intern(null, "default");

    private Alts() {}

    /**
     * Does one of {@code ports}, each a channel to take from or a vector of a channel and a value to put.
     *
     * @param given the options :priority and :default: a map, or a seq of the arguments after the ports; nil: none
     * @param owner gets {@code [value port]} through {@link Waiter#complete} if null is returned
     * @return {@code [value port]}, or null when {@code owner} waits
     */
    public static Object choose(Object ports, Object given, Waiter owner, Runner runner) {
        IPersistentMap options = given == null ? PersistentArrayMap.EMPTY : options(given);
        IPersistentVector ops = asVector(ports);
        if (!check(ops)) return foreign(ops, options, owner);
        boolean priority = RT.booleanCast(options.valAt(PRIORITY));
        boolean mayWait = !options.containsKey(DEFAULT);
        for (; ; ) {
            Object chosen = mayWait && allSeemToWait(ops) ? null : tryEach(ops, priority, runner);
            if (chosen != null) return chosen;
            if (!mayWait) return result(options.valAt(DEFAULT), DEFAULT);
            if (queue(ops, owner)) return null;
        }
    }

    /** Does one of several operations of which some are on ports of other kinds. */
    private static Object foreign(IPersistentVector ops, IPersistentMap options, Waiter owner) {
        Object chosen = Channel.NONE;
        try {
            chosen = Foreign.alts(ops, options, owner);
        } finally {
            if (chosen != null) owner.proceeds();
        }
        return chosen;
    }

    private static IPersistentVector asVector(Object ports) {
        if (ports instanceof IPersistentVector v) return v;
        if (ports == null
                || ports instanceof java.util.Collection<?>
                || ports.getClass().isArray()) {
            return LazilyPersistentVector.createOwning(RT.toArray(ports));
        }
        throw refused(
                "ports of alts!/alts!!", ports, "a vector of channels to take from and [channel value] pairs to put");
    }

    /** Returns whether all ports are Skein's channels. All operations are checked before any is tried. */
    private static boolean check(IPersistentVector ops) {
        int n = ops.count();
        if (n == 0) {
            throw Refusal.fromCaller(new Assertion(
                    "Assert failed: alts must have at least one channel operation\n(pos? (count ports))",
                    Refusal.data("bad-argument", "argument", "ports of alts!/alts!!", "value", "[]")));
        }
        boolean ours = true;
        for (int i = 0; i < n; i++) {
            Object op = ops.nth(i);
            if (op instanceof IPersistentVector pair) {
                if (pair.count() != 2) throw refused("a put in the ports of alts!/alts!!", op, "[channel value]");
                if (pair.nth(1) == null) throw NilPut.refusedInAlts();
                op = pair.nth(0);
            }
            if (!(op instanceof Channel)) ours = false;
        }
        return ours;
    }

    private static IPersistentMap options(Object given) {
        Object map = given instanceof ISeq args ? asMap(args) : given;
        if (map == null) return PersistentArrayMap.EMPTY;
        if (!(map instanceof IPersistentMap options))
            throw refused("The options of alts!/alts!!", map, "a map, or keys and values");
        int known = (options.containsKey(PRIORITY) ? 1 : 0) + (options.containsKey(DEFAULT) ? 1 : 0);
        if (options.count() == known) return options;
        for (ISeq s = RT.keys(options); ; s = s.next()) {
            if (s.first() != PRIORITY && s.first() != DEFAULT)
                throw refused("An option of alts!/alts!!", s.first(), ":priority or :default");
        }
    }

    /** Returns the options in {@code args}: keys and values, or a map. A single argument is returned unchecked. */
    private static Object asMap(ISeq args) {
        if (args.next() == null) return args.first();
        Object[] array = RT.toArray(args);
        int n = array.length / 2 * 2;
        IPersistentMap options = PersistentArrayMap.createAsIfByAssoc(Arrays.copyOf(array, n));
        if (n == array.length) return options;
        if (!(array[n] instanceof IPersistentMap more)) // as in Clojure, a map may follow keys and values
        throw refused("The options of alts!/alts!!", args, "a map, or keys and values");
        return options.cons(more);
    }

    private static ExceptionInfo refused(String what, Object value, String wanted) {
        String shown = RT.printString(value);
        if (shown.length() > 80) shown = shown.substring(0, 79) + "…";
        return Refusal.fromCaller(new ExceptionInfo(
                what + " must be " + wanted + ", but is " + shown + ". [:skein/bad-argument]",
                Refusal.data("bad-argument", "argument", what, "wanted", wanted, "value", shown)));
    }

    private static Channel channel(Object op) {
        return (Channel) (op instanceof IPersistentVector pair ? pair.nth(0) : op);
    }

    private static Object putValue(Object op) {
        return op instanceof IPersistentVector pair ? pair.nth(1) : null;
    }

    private static Object result(Object value, Object port) {
        return LazilyPersistentVector.createOwning(value, port);
    }

    /**
     * Returns whether all of {@code ops} are takes and none seems ready. It takes no lock, so it may miss a value that was
     * just put. The second step checks again.
     */
    private static boolean allSeemToWait(IPersistentVector ops) {
        for (int i = 0; i < ops.count(); i++) {
            if (!(ops.nth(i) instanceof Channel ch)) return false;
            if (ch.firstPutter() != null || ch.buffer() != null || ch.isClosed()) return false;
        }
        return true;
    }

    /** The first step. Tries the operations in the given order, or in a random order that is drawn one by one. */
    private static Object tryEach(IPersistentVector ops, boolean priority, Runner runner) {
        int n = ops.count();
        int[] order = null;
        if (!priority && n > 1) {
            order = new int[n];
            for (int i = 0; i < n; i++) order[i] = i;
        }
        for (int i = 0; i < n; i++) {
            Object op = ops.nth(order == null ? i : draw(order, i));
            Channel ch = channel(op);
            Object toPut = putValue(op);
            Object v = toPut == null ? ch.take(null, runner) : ch.put(toPut, null, runner);
            if (v != Channel.NONE) return result(v, ch.asPort());
            if (meetsItself(ops, order, i, ch, toPut == null))
                return result(toPut == null ? valueFor(ops, ch) : true, ch);
        }
        return null;
    }

    /** Swaps one of the remaining indices, drawn at random, to position i. */
    private static int draw(int[] order, int i) {
        int j = i + World.draw(order.length - i);
        int drawn = order[j];
        order[j] = order[i];
        order[i] = drawn;
        return drawn;
    }

    /**
     * Returns whether an operation tried earlier is the other side of this one, on the same unbuffered
     * channel. As in core.async, {@code (alts! [c [c 1]])} then completes with itself.
     */
    private static boolean meetsItself(IPersistentVector ops, int[] order, int i, Channel ch, boolean takes) {
        if (ch.buffer() != null) return false;
        for (int j = 0; j < i; j++) {
            Object other = ops.nth(order == null ? j : order[j]);
            if ((putValue(other) != null) == takes && channel(other) == ch) return true;
        }
        return false;
    }

    private static Object valueFor(IPersistentVector ops, Channel ch) {
        for (int i = 0; i < ops.count(); i++) {
            if (putValue(ops.nth(i)) != null && channel(ops.nth(i)) == ch) return putValue(ops.nth(i));
        }
        throw new IllegalStateException("no put on " + ch);
    }

    /** The second step. Returns false if an operation has become ready, so that all must be tried again. */
    private static boolean queue(IPersistentVector ops, Waiter owner) {
        Channel[] channels = new Channel[ops.count()];
        for (int i = 0; i < channels.length; i++) channels[i] = channel(ops.nth(i));
        lockAll(channels);
        try {
            if (anyReady(ops)) return false;
            addArms(ops, owner);
            return true;
        } finally {
            for (Channel ch : channels) if (ch != null) ch.unlock();
        }
    }

    /**
     * Locks the channels. Replaces a repeated one in {@code channels} by null, unless its lock is reentrant. Waits for a lock
     * only while it holds none, because a transducer under another channel's lock may wait for one of these. If another
     * thread holds a lock, it releases all, and waits for that lock first.
     */
    private static void lockAll(Channel[] channels) {
        int waitFor = 0;
        while (waitFor >= 0) {
            channels[waitFor].lock();
            waitFor = lockOthers(channels, waitFor);
        }
    }

    /**
     * Returns -1 when this thread holds all locks. Otherwise releases them, and returns the index of a lock that another
     * thread holds.
     */
    private static int lockOthers(Channel[] channels, int held) {
        for (int i = 0; i < channels.length; i++) {
            Channel ch = channels[i];
            if (i == held || ch == null || ch.tryLock()) continue;
            if (ch == channels[held] || occursBefore(channels, i)) {
                channels[i] = null;
                continue;
            }
            for (int j = 0; j < i; j++) if (j != held && channels[j] != null) channels[j].unlock();
            channels[held].unlock();
            return i;
        }
        return -1;
    }

    private static boolean occursBefore(Channel[] channels, int i) {
        for (int j = 0; j < i; j++) if (channels[j] == channels[i]) return true;
        return false;
    }

    private static boolean anyReady(IPersistentVector ops) {
        for (int i = 0; i < ops.count(); i++) {
            Object op = ops.nth(i);
            Channel ch = channel(op);
            if (putValue(op) == null ? ch.readyToTake() : ch.readyToPut()) return true;
        }
        return false;
    }

    /** Withdraws the take, put or alts of {@code block}, which waits in {@code ports}, one port or several. */
    static boolean withdraw(Block block, Object ports) {
        if (ports instanceof Channel channel) return channel.withdraw(block);
        IPersistentVector ops = asVector(ports);
        for (int i = 0; i < ops.count(); i++) {
            Object port = ops.nth(i) instanceof IPersistentVector pair ? pair.nth(0) : ops.nth(i);
            if (port instanceof Channel channel && channel.armOf(block) instanceof Choice.Arm arm)
                return arm.choice.getAsBoolean();
        }
        return false;
    }

    private static void addArms(IPersistentVector ops, Waiter owner) {
        Choice choice = new Choice(owner, ops.count());
        try {
            for (int i = 0; i < ops.count(); i++) {
                Object op = ops.nth(i);
                Object v = putValue(op);
                Choice.Arm arm = new Choice.Arm(choice, channel(op), v);
                choice.arms[i] = arm;
                if (v == null) arm.channel.addTaker(arm);
                else arm.channel.addPutter(arm, v);
            }
            // Last, because after this a cancelling thread may withdraw all arms, as soon as it gets their locks.
            owner.withdrawal(choice);
        } catch (Throwable t) { // too many wait, no memory, or cancelled: no arm may stay active
            choice.claim();
            for (Choice.Arm arm : choice.arms) if (arm != null) arm.channel.withdrawLocked(arm);
            throw t;
        }
    }

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
    private static final class Choice implements BooleanSupplier {
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
        @Override
        public boolean getAsBoolean() {
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
}
