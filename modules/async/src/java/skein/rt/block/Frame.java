// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.PersistentArrayMap;
import clojure.lang.RT;
import clojure.lang.Tuple;
import clojure.lang.Var;
import java.util.function.BooleanSupplier;
import skein.rt.Alts;
import skein.rt.Block;
import skein.rt.Cancellable;
import skein.rt.Channel;
import skein.rt.ChannelFactory;
import skein.rt.Failure;
import skein.rt.Kept;
import skein.rt.NilPut;
import skein.rt.Operation;
import skein.rt.Region;
import skein.rt.Result;
import skein.rt.Runner;
import skein.rt.Uncaught;
import skein.rt.Waiter;
import skein.rt.World;
import skein.rt.schedule.Scheduler;

/**
 * One running go block: its state, the locals that live across a park, and the operation that it waits for. It is itself
 * the waiter in a channel's queue, so parking allocates nothing.
 */
public final class Frame extends Block {
    /*
     * States, seen from outside. Only its owner uses a frame. The owner is the thread that runs it, the channel
     * (or choice) in which it waits, or the run queue that contains it. Ownership passes under a lock, so the
     * fields need not be volatile.
     *
     *   NEW      -> READY      go(): into a run queue           NEW -> RUNNING   async(): on the caller's thread
     *   READY    -> RUNNING    a runner takes it
     *   RUNNING  -> WAITING    take, put, alts return false     WAITING -> READY   complete()
     *   RUNNING  -> DONE       the body returned or threw; the port is closed
     *
     *   F1  After take, put or alts has returned false, only the next owner uses the frame.
     *   F2  A frame is in at most one run queue or channel at a time, or in one choice's channels.
     *   F3  The thread bindings of the frame are installed whenever its body runs.
     */

    static {
        Failures.load();
    }

    /** The value that a body returns when its frame waits. */
    public static final Object PARKED = new Object();

    /** How many async blocks may start inside one another on one stack. A deeper one is scheduled instead. */
    private static final int MAX_INLINE = 128;

    public int state;
    public Object o0;
    public Object o1;
    public Object o2;
    public Object o3;
    public Object o4;
    public Object o5;
    public long l0;
    public long l1;
    public Object[] more;
    public long[] moreLongs;

    private final Body body;
    private Channel port;
    private Object bindings; // a Var binding frame
    private Runner runner; // the runner that runs it, while it runs
    private boolean movesBindings; // a step may end with other bindings on its thread than it began with
    private boolean reportsAtOnce; // what the block throws

    public Frame(Body body) {
        this.body = body;
    }

    /** Schedules the block with the caller's bindings. Returns its result port. */
    public Object go() {
        Runner r = prepare();
        if (r == null) Scheduler.submit(this);
        else r.ready(this);
        return port;
    }

    /** Like {@link #go}, for a block whose exception is reported at once, as core.async does. */
    public Object goReporting() {
        reportsAtOnce = true;
        return go();
    }

    /** Runs the block on this thread until the first park that has to wait. Returns its result port. */
    public Object async() {
        Runner r = prepare();
        if (r == null) r = Runner.here();
        Channel result = port;
        if (r.depth >= MAX_INLINE) {
            r.ready(this);
            return result;
        }
        Object caller = bindings;
        Object installed = r.installed;
        Cancellable ofCaller = Cancellable.of(r);
        r.depth++;
        try {
            if (ofCaller == null && r.lender() == null) runOn(r);
            else runLent(r, ofCaller);
        } finally {
            r.depth--;
            if (r.interrupted) r.interruptAgain();
            r.installed = installed;
            if (Var.getThreadBindingFrame() != caller) Var.resetThreadBindingFrame(caller);
        }
        return result;
    }

    private void runLent(Runner r, Cancellable ofCaller) {
        int interrupts = Cancellable.lend(r, ofCaller, cancellable);
        try {
            runOn(r);
        } finally {
            Cancellable.regain(r, ofCaller, interrupts);
        }
    }

    /** Like {@link #go}, for the child with this region. */
    public Object goIn(Region region) {
        become(region);
        return go();
    }

    /** Like {@link #async}, for the child with this region. */
    public Object asyncIn(Region region) {
        become(region);
        return async();
    }

    private void become(Region region) {
        cancellable = region.cancellable();
        cancellable.bind(this);
        reportsAtOnce = false;
    }

    private Runner prepare() {
        port = ChannelFactory.INSTANCE.channel(null, Result.PLAIN);
        bindings = Var.getThreadBindingFrame();
        if (cancellable == null) {
            Region child = Region.childHere();
            if (child != null) become(child);
        }
        Hooks hooks = Hooks.installed;
        if (hooks != null) spawned(hooks);
        return Runner.current();
    }

    private void spawned(Hooks hooks) {
        World world = hooks.simulated ? World.current() : null;
        if (world != null) keep(world.spawned(this));
        hooks.observer.spawned(this);
        if (hooks.conveyor == null) return;
        if (kept == null) kept = new Kept();
        kept.context = hooks.conveyor.capture();
    }

    /**
     * Keeps {@code k} with the block, for one observer, in a method that is called on the block's thread. Blocks of a
     * simulation keep the simulation's.
     */
    public void keep(Kept k) {
        if (kept != null && kept.getClass() != Kept.class && kept.getClass() != k.getClass())
            throw new IllegalStateException("This block keeps an object of another observer or of a simulation.");
        if (kept != null) k.context = kept.context;
        kept = k;
    }

    /** Runs the block on this thread, which need not be a worker's. */
    @Override
    public void run() {
        Runner r = Runner.here();
        Object outer = Var.getThreadBindingFrame();
        Object installed = r.installed;
        r.installed = outer;
        try {
            resume(r);
        } finally {
            r.installed = installed;
            Var.resetThreadBindingFrame(outer);
        }
    }

    /** Runs the block on {@code r} from its current state to its next park or its end. */
    @Override
    public void resume(Runner r) {
        Object b = bindings;
        if (r.installed != b) Var.resetThreadBindingFrame(b);
        r.installed = movesBindings ? null : b;
        runOn(r);
    }

    private void runOn(Runner r) {
        runner = r;
        Block outer = r.block;
        r.block = this;
        try {
            if (cancellable == null) runStep(r);
            else runCancellable(r);
        } finally {
            r.block = outer;
        }
    }

    private void runCancellable(Runner r) {
        Cancellable mine = cancellable; // when the step has parked, the frame belongs to another owner
        if (!mine.enter()) {
            fail(cancellable.cancellation());
            return;
        }
        try {
            runStep(r);
        } finally {
            mine.exit();
        }
    }

    private void runStep(Runner r) {
        if (Hooks.installed == null) runBody(r);
        else runWatched(r);
    }

    private void runWatched(Runner r) {
        Hooks hooks = Hooks.installed;
        if (hooks == null || World.strays(this)) return; // its simulation has ended, or is elsewhere
        Conveyor conveyor = hooks.conveyor;
        Object outer = conveyor == null ? null : conveyor.install(kept == null ? null : kept.context);
        hooks.observer.resumed(this);
        try {
            if (!(kept instanceof World.Member m) || !m.isDeferred() || performs(m)) runBody(r);
        } finally {
            hooks.observer.suspended(this);
            if (conveyor != null) conveyor.restore(outer);
        }
    }

    /** Does the deferred operation. Returns whether the block continues. */
    private boolean performs(World.Member member) {
        try {
            return perform(member);
        } catch (Throwable t) { // as in runBody
            int handler = body.handler(state);
            if (handler < 0) {
                fail(t);
                return false;
            }
            value = t;
            state = handler;
            return true;
        }
    }

    private boolean perform(World.Member member) {
        Object v = member.undefer();
        return switch (member.operation()) {
            case TAKE -> takeNow(member.port());
            case PUT -> putNow(member.port(), v);
            default -> altsNow(member.port(), v);
        };
    }

    private void runBody(Runner r) {
        for (; ; ) {
            try {
                Object result = body.run(this);
                if (result != PARKED) finish(result, r);
                return;
            } catch (Throwable t) { // an exception of the user's code goes to its handler, or ends the block
                int handler = body.handler(state);
                if (handler < 0) {
                    fail(t);
                    return;
                }
                value = t;
                state = handler;
            }
        }
    }

    private void finish(Object result, Runner r) {
        ending(result, null);
        Result.deliver(port, result, r);
        Result.ended(port, result, null);
        if (cancellable != null) cancellable.ended(result, null, null);
    }

    /** Tells the observers and the simulation, before the port closes: then others may run. */
    private void ending(Object result, Throwable thrown) {
        Hooks hooks = Hooks.installed;
        if (hooks == null) return;
        hooks.observer.ended(this, result, thrown);
        if (kept instanceof World.Member m) m.world().ended(m, thrown);
    }

    private void fail(Throwable thrown) {
        // An interrupt that was not for the block's own cancellation was for the caller, whose thread this is.
        boolean forCaller = runner.depth > 0
                && (cancellable == null || !cancellable.isCancelled())
                && Cancellable.isInterruptHere(thrown);
        Failures.failed(this, thrown);
        // This comes first: code that sees the end of the block may look for its exception.
        Throwable cause = cancellable == null ? thrown : cancellable.cause(thrown);
        Failure why = reportsAtOnce ? Failure.told(thrown) : Failure.of(cause, Result.firstWaiting(port) != null);
        boolean tell = reportsAtOnce && !World.told(thrown);
        if (tell) Uncaught.keep(thrown);
        ending(null, thrown);
        boolean scopeThrows = cancellable != null && cancellable.failed(thrown);
        port.closeFor(why);
        Result.ended(port, null, thrown); // before the handler, which may take long
        if (tell) Uncaught.tellHandler(thrown);
        if (forCaller) runner.interrupted = true;
        if (forCaller || scopeThrows) why.take();
        if (cancellable != null) {
            cancellable.ended(null, thrown, port::thrown);
        }
    }

    @Override
    public void throwAtPark(Throwable thrown) {
        int handler = body.handler(state);
        if (handler < 0) {
            fail(thrown);
        } else {
            state = handler;
            complete(thrown, null);
        }
    }

    @Override
    protected void complete(Object result, Runner r) {
        value = result;
        if (r == null) r = Runner.current();
        if (r == null) submit();
        else r.ready(this);
    }

    @Override
    public void submit() {
        Scheduler.submit(this);
    }

    @Override
    public void handedOff(Thread thread) {
        Hooks.observer().handedOff(this, thread);
    }

    /** Returns the value of the last parking operation, or the exception in a handler, and clears it. */
    public Object takeValue() {
        Object v = value;
        value = null;
        return v;
    }

    /** Called first by a block that makes bindings of its own, so that they move with it from thread to thread. */
    public void ownBindings() {
        movesBindings = true;
        runner.installed = null; // the thread may have other bindings when the step ends
    }

    /** Called before each parking operation. Returns whether a simulation is alive: it may defer the operation. */
    private boolean parking(Operation operation, Object port, int next) {
        state = next;
        if (movesBindings) bindings = Var.getThreadBindingFrame();
        Hooks hooks = Hooks.installed;
        if (hooks == null) return false;
        hooks.observer.parking(this, operation, port);
        return hooks.simulated;
    }

    private boolean defers(Operation operation, Object port, Object operand) {
        return kept instanceof World.Member m && m.defers(runner.depth == 0, operation, port, operand);
    }

    /** Takes from {@code source}. Returns true if {@link #takeValue} has the value, false if the frame waits. */
    public boolean take(Object source, int next) {
        if (parking(Operation.TAKE, source, next) && defers(Operation.TAKE, source, null)) return false;
        return takeNow(source);
    }

    private boolean takeNow(Object source) {
        Object v;
        if (!(source instanceof Channel channel)) v = foreign(source);
        else if (cancellable == null) v = channel.take(this, runner);
        else v = takeIn(channel);
        if (v == Channel.NONE) return false;
        if (v == null) {
            Failures.tookNil(this, source);
            refused();
        }
        value = v;
        return true;
    }

    /** Puts on {@code target}. Returns true if {@link #takeValue} has the outcome, false if the frame waits. */
    public boolean put(Object target, Object v, int next) {
        if (parking(Operation.PUT, target, next) && defers(Operation.PUT, target, v)) return false;
        return putNow(target, v);
    }

    private boolean putNow(Object target, Object v) {
        if (v == null) throw NilPut.refused();
        Object accepted;
        if (!(target instanceof Channel channel)) accepted = foreign(Tuple.create(target, v));
        else if (cancellable == null) accepted = channel.put(v, this, runner);
        else accepted = putIn(channel, v);
        if (accepted == Channel.NONE) return false;
        if (accepted == Boolean.FALSE) refused();
        value = accepted;
        return true;
    }

    // A block that can be cancelled waits in a channel by a Wait, which either is completed or withdrawn, whichever
    // comes
    // first. It makes a new one each time, so that a canceller that comes late does not withdraw the next operation.

    private Object takeIn(Channel channel) {
        cancellable.check();
        Object v = channel.take(null, runner);
        return v != Channel.NONE ? v : channel.take(new Wait(this, channel), runner);
    }

    private Object putIn(Channel channel, Object v) {
        cancellable.check();
        Object accepted = channel.put(v, null, runner);
        return accepted != Channel.NONE ? accepted : channel.put(v, new Wait(this, channel), runner);
    }

    /** Does one operation on a port of another kind, as an alts of one operation, which can be withdrawn. */
    private Object foreign(Object operation) {
        if (cancellable != null) cancellable.check();
        Object chosen = Alts.choose(Tuple.create(operation), PersistentArrayMap.EMPTY, new ForeignWait(this), runner);
        return chosen == null ? Channel.NONE : RT.nth(chosen, 0);
    }

    /** One take or put of a block that can be cancelled. */
    private static final class Wait extends Waiter implements BooleanSupplier {
        private final Frame owner;
        private final Channel channel;

        Wait(Frame owner, Channel channel) {
            this.owner = owner;
            this.channel = channel;
        }

        /** A canceller that sees the wait finds it queued as soon as it gets the channel's lock. */
        @Override
        protected boolean queues() {
            owner.cancellable.parks(this);
            return true;
        }

        @Override
        protected void complete(Object result, Runner runner) {
            owner.complete(result, runner);
        }

        @Override
        public void proceeds() {
            owner.proceeds();
        }

        /** Withdraws the operation. Returns false if it has happened, or is about to. */
        @Override
        public boolean getAsBoolean() {
            return channel.withdraw(this);
        }

        @Override
        public Block block() {
            return owner;
        }
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
        public void proceeds() {
            owner.proceeds();
        }

        @Override
        public Block block() {
            return owner;
        }
    }

    /** Tells the observers that the channel was closed. */
    private void refused() {
        Hooks hooks = Hooks.installed;
        if (hooks != null) hooks.observer.refused(this);
    }

    /** Does one of several operations. Returns true if {@link #takeValue} has {@code [value port]}, false if it waits. */
    public boolean alts(Object ports, Object options, int next) {
        if (parking(Operation.ALTS, ports, next) && defers(Operation.ALTS, ports, options)) return false;
        return altsNow(ports, options);
    }

    private boolean altsNow(Object ports, Object options) {
        if (cancellable != null) cancellable.check();
        Object chosen = Alts.choose(ports, options, this, runner);
        if (chosen == null) return false;
        value = chosen;
        return true;
    }

    /** Returns whether a thread runs the block's code now, and not that of another block started on its stack. */
    public boolean isRunning() {
        Runner r = runner;
        return r != null && r.block == this;
    }

    /** Returns the thread that runs the block's code now, see {@link #isRunning}, or null. */
    public Thread thread() {
        Runner r = runner;
        return r != null && r.block == this ? r.thread() : null;
    }

    @Override
    public Channel port() {
        return port;
    }

    /** Returns the block's code, which also lists its parks. */
    public Body body() {
        return body;
    }

    @Override
    public void withdrawal(BooleanSupplier withdraw) {
        if (cancellable != null) cancellable.parks(withdraw);
    }

    @Override
    public void proceeds() {
        if (cancellable != null) cancellable.unparks();
    }
}
