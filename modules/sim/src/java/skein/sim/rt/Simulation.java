// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IFn;
import clojure.lang.LockingTransaction;
import clojure.lang.RT;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import skein.base.Internals;
import skein.rt.Block;
import skein.rt.Operation;
import skein.rt.World;
import skein.rt.block.Frame;
import skein.rt.schedule.Scheduler;

/**
 * One run of a test: its body, and all blocks, callbacks, timers and threads that it starts, one at a time on one
 * platform thread. The strategy chooses when more than one could run.
 */
public final class Simulation extends World implements Executor {
    /*
     * A run has tasks, with a queue of those that are ready; a clock, with the timers; and a judge, who knows why it has failed.
     * A task is in one of these states:
     *
     *   READY     in the queue, or resting after a yield      RUNNING  `current`
     *   PARKED    a block in a channel or choice              BLOCKED  a virtual thread in java.util.concurrent
     *   DONE      no longer live
     *
     *   X1  One task runs at a time.
     *   X2  A live task is in exactly one of these states, and in the queue once at most.
     *   X3  Time moves only when nothing is ready, unless steps take time.
     *   X4  A choice of one is not a choice: nothing is drawn and nothing is recorded.
     *   X5  When a run is over no task of it runs again.
     *
     * With threads, the carrier runs a virtual thread's continuation, and a Server, a virtual thread of the simulation, runs
     * blocks and callbacks. If one of these blocks in the middle of a step, its server stays with the task, which is then like
     * a thread, and another server takes over. Without threads, the carrier runs everything: while the body waits, it runs
     * the others from within that wait.
     */

    /** A run goes through its phases in this order, and may leave out FAILED. */
    private enum Phase {
        RUNNING,
        /** No task runs any more. */
        FAILED,
        /** It has been judged. The tasks that are left have been cancelled, and clean up. */
        CLEANING,
        OVER
    }

    /** How many more steps a run has to clean up, once it is over. */
    private static final int LAST_STEPS = 1000;

    /** How many points a task passes at most while others are ready. */
    private static final int FAIR_TURNS = 500;

    /** How long a step can take, in nanoseconds, where steps take time. */
    private static final long[] STEP_NANOS = {
        0, 1_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000L, 10_000_000_000L
    };

    private static final String REFUSED = "its put fails, as the channel is closed";

    public final Trace trace;
    private final Settings settings;
    private final Strategy strategy;
    private final Races races; // the strategy, or null if it is another
    private final IFn body;
    private final SplittableRandom random;
    private final Clock clock;
    private final Judge judge = new Judge();
    final Tasks tasks;
    private final List<Runnable> settlers = new ArrayList<>(0);
    private Threads threads;
    private Stepper stepper; // the carrier's
    private volatile Phase phase = Phase.RUNNING; // written by one thread at a time
    private long steps; // likewise; the watching thread may see an older count
    Task current;
    private Task next; // chosen already
    private int turns; // points that the current task has passed without a break
    private boolean currentCompetes; // the current task is candidate 0
    private Task main;
    private final Task timers = new Task(this, null, Task.Kind.TIMER, null, null); // current when no task runs
    private BooleanSupplier mainWaits; // without threads: until what
    private int held; // locks under which user code runs
    private boolean quiet; // the simulation itself calls user code
    private double probability = Strategy.RARE; // of the choice that is being made
    private int extraSteps; // after the body has ended, and then after the verdict
    private boolean drew; // random numbers
    private IFn targeted; // injects a fault into what the test has named; null before that
    private int points; // passed since then
    private long endedAt; // the body, or the run if it ended before; on its clock
    private Object value; // of the body
    private Object description; // of what waits, when the run ended

    public Simulation(Settings settings, Strategy strategy, IFn body) {
        this.settings = settings;
        this.strategy = strategy;
        this.races = strategy instanceof Races r ? r : null;
        this.body = body;
        this.tasks = new Tasks(strategy);
        this.clock = new Clock(settings.manualTime() ? 0 : Long.MAX_VALUE);
        this.trace = new Trace(settings.keepsEvents());
        this.random = new SplittableRandom(settings.seed());
        if (races != null && (settings.slowSteps() || !settings.points() || !settings.atoms())) races.blinds();
    }

    /** Returns the simulation that the current thread is in, or null. */
    public static Simulation here() {
        return World.current() instanceof Simulation s ? s : null;
    }

    private boolean isRunning() {
        return phase == Phase.RUNNING;
    }

    /** Returns whether the run has been judged. */
    private boolean isCleaning() {
        Phase p = phase;
        return p == Phase.CLEANING || p == Phase.OVER;
    }

    // The run

    /** Runs the test to its end on this thread, which must be a platform thread. */
    public void run() {
        threads = new Threads(this);
        stepper = new Stepper(this);
        stepper.begin();
        try {
            main = add(new Task(this, null, Task.Kind.MAIN, this::runBody, null));
            current = main;
            if (settings.threads()) threads.start(main, this::runBody);
            else tasks.enqueue(main);
            loop();
            judge();
            cleanUp();
        } finally {
            phase = Phase.OVER;
            threads.end();
            stepper.end();
        }
    }

    private void runBody() {
        try {
            value = body.invoke();
        } catch (Throwable t) { // every exception of the test is its result
            if (!isCleaning()) fail(Verdict.Kind.EXCEPTION, t);
        }
        if (!settings.threads()) Thread.interrupted(); // nested may have interrupted this thread
        if (!isCleaning()) endedAt = clock.now;
        end(main);
    }

    private void loop() {
        for (Task t; (t = take(true)) != null; ) perform(t);
    }

    private void perform(Task t) {
        if (t.continuation != null) threads.run(t);
        else if (settings.threads()) threads.serve(t);
        else serve(stepper, t);
    }

    void serve(Stepper by, Task t) {
        current = t;
        if (t.isDeferred() && trace.keeps() && t.isRefused()) noteOperation(Trace.Kind.FAILED, t, REFUSED);
        by.step(t.work);
        if (t.kind == Task.Kind.CALLBACK || t.kind == Task.Kind.TIMER) end(t);
    }

    /** Without threads: runs others on the stack of the body, until it is the body's turn. */
    private void nested() {
        boolean[] back = {false};
        stepper.nested(() -> {
            for (Task t; (t = take(true)) != null; ) {
                if (t == main) {
                    back[0] = true;
                    break;
                }
                perform(t);
            }
        });
        current = main;
        if (back[0]) return;
        judge();
        phase = Phase.CLEANING;
        main.told = true;
        Thread.currentThread().interrupt();
    }

    // Tasks that are ready

    private Task add(Task t) {
        tasks.add(t);
        trace.mix(t.id);
        return t;
    }

    /** A thread has been started, with {@code work} if that is known. */
    Task newThread(Runnable work) {
        Task t = add(new Task(this, null, Task.Kind.THREAD, work, current));
        wakes(t);
        note(Trace.Kind.SPAWN, current, t, null);
        return t;
    }

    /** The current step makes {@code t} ready. */
    void wakes(Task t) {
        if (races != null) races.wakes(t);
    }

    /** The current step does something with {@code x} that other tasks may see. */
    public void touches(Object x) {
        if (races != null) races.touches(x);
    }

    private void begins(Task t) {
        if (races != null && !isCleaning()) races.begins(t);
    }

    /** Makes {@code t} the current task. */
    void runs(Task t) {
        current = t;
    }

    /** Makes {@code t} the next task. */
    void goesNext(Task t) {
        next = t;
    }

    void end(Task t) {
        if (tasks.remove(t)) note(Trace.Kind.END, t, null, null);
    }

    /** Returns candidate {@code i} of the choice that is being made. */
    Task candidate(int i) {
        return !currentCompetes ? tasks.ready(i) : i == 0 ? current : tasks.ready(i - 1);
    }

    /** Returns the probability of a rare event in the choice that is being made. */
    double probability() {
        return probability;
    }

    private int choose(Strategy.Kind kind, int n) {
        if (n < 2 || !isRunning()) return 0;
        int chosen = strategy.choose(kind, n, this);
        trace.chose(kind, n, chosen);
        if (chosen != 0 && kind != Strategy.Kind.TASK) note(Trace.Kind.DREW, current, null, chosen + 1 + " of " + n);
        return chosen;
    }

    /** Returns the next task, or null if none can run. Only the carrier can wait until one becomes ready. */
    Task take(boolean onCarrier) {
        turns = 0;
        Task chosen = next;
        if (chosen != null) {
            next = null;
            return chosen;
        }
        for (; ; ) {
            if (isCleaning() ? ++extraSteps > LAST_STEPS : phase == Phase.FAILED) return null;
            if (onCarrier) threads.admitOutsiders();
            else if (threads.needsCarrier()) return null;
            admitDue();
            if (mainWaits != null && mainWaits.getAsBoolean()) {
                mainWaits = null;
                wakes(main);
                tasks.enqueue(main);
            }
            if (tasks.readyCount() == 0) tasks.release(null);
            if (tasks.readyCount() > 0) return pick();
            if (!onCarrier || !goesOn()) return null;
        }
    }

    private Task pick() {
        if (!beginStep()) return null;
        Task fault = faultDue();
        if (fault != null) return fault;
        currentCompetes = false;
        int chosen = choose(Strategy.Kind.TASK, tasks.readyCount());
        Task first = tasks.ready(0);
        Task t = tasks.dequeue(chosen);
        if (chosen > 0) note(Trace.Kind.SWITCH, t, first, null);
        trace.mix(t.id);
        begins(t);
        tasks.release(t);
        return t;
    }

    /** Counts a step, and checks the claims that must always hold. Returns false if the limit of steps is exceeded. */
    private boolean beginStep() {
        long step = steps + 1;
        steps = step;
        if (step > settings.maxSteps() && isRunning()) fail(Verdict.Kind.LIVELOCK, null);
        if (judge.hasClaims() && isRunning()) checkClaims();
        if (settings.slowSteps()) {
            int length = choose(Strategy.Kind.CHANCE, STEP_NANOS.length);
            if (length > 0) passTime(clock.now + STEP_NANOS[length]);
        }
        return phase != Phase.FAILED;
    }

    private void checkClaims() {
        quiet = true;
        try {
            Verdict broken = judge.broken();
            if (broken != null) fail(broken.kind(), broken.cause());
        } finally {
            quiet = false;
        }
    }

    private void passTime(long now) {
        clock.now = now;
        trace.mix(now);
        note(Trace.Kind.TIME, null, null, null);
    }

    /** Counts the points since the test has named a target. Returns a task that injects the fault there, or null. */
    private Task faultDue() {
        if (targeted == null || !isRunning() || ++points != settings.faultAt()) return null;
        IFn inject = targeted;
        note(Trace.Kind.FAULT, current, null, "at point " + points);
        return add(new Task(
                this,
                null,
                Task.Kind.CALLBACK,
                () -> {
                    try {
                        inject.invoke();
                    } catch (Throwable t) { // the fault is the test's
                        uncaught(t);
                    }
                },
                current));
    }

    private void admitDue() {
        for (Clock.Due due; (due = clock.poll()) != null; ) {
            World.Timer timeout = due.timeout();
            Runnable work = timeout == null ? due.work() : timeout.channel()::close;
            tasks.enqueue(add(new Task(this, null, Task.Kind.TIMER, work, timers)));
        }
    }

    /** Called when no task is ready. Returns whether one may be ready now. */
    private boolean goesOn() {
        boolean cleaning = isCleaning();
        current = timers;
        if (races != null) races.rests();
        if (!settlers.isEmpty()) {
            settlers.remove(0).run();
            return true;
        }
        if (main.hasEnded() && !cleaning && !drains()) return false;
        if (clock.jump()) {
            passTime(clock.now);
            return true;
        }
        if (settings.waitsOutside() || threads.needsCarrier())
            return threads.awaitOutsiders(cleaning ? 1_000_000 : settings.outsideNanos());
        return !cleaning && threads.awaitOutsiders(settings.lateNanos());
    }

    /** The body has ended. Returns whether the clock may move: a timer is due soon, or one may save a value. */
    private boolean drains() {
        return judge.verdict() == null
                && (clock.isDueBy(endedAt + settings.drainNanos()) || tasks.anyPutWaits())
                && ++extraSteps <= LAST_STEPS
                && steps < settings.maxSteps() / 2; // a ticker that goes on for ever is no livelock
    }

    // The end of a run

    /** Records why the run has failed. The first reason counts, but each except a failed assertion ends the run. */
    public void fail(Verdict.Kind kind, Object cause) {
        judge.fails(kind, cause);
        if (kind != Verdict.Kind.ASSERTION && isRunning()) phase = Phase.FAILED;
    }

    /** Finds out whether the run has failed. A second call has no effect. */
    private void judge() {
        if (isCleaning()) return;
        if (!main.hasEnded()) endedAt = clock.now;
        judge.putCausesFirst();
        if (!main.hasEnded() && judge.verdict() == null) {
            Outsider waiting = threads.waitsOutside();
            if (!settings.waitsOutside()) threads.admitOutsiders(); // one that was woken meanwhile fails the run
            fail(waiting == null ? Verdict.Kind.DEADLOCK : Verdict.Kind.OUTSIDE, waiting);
        }
        judge.checkKept();
        if (judge.verdict() == null) {
            Task leak = leak();
            if (leak != null) fail(Verdict.Kind.LEAK, leak);
        }
        if (judge.verdict() != null && settings.describe() != null) {
            quiet = true;
            try {
                description = settings.describe().invoke(this);
            } finally {
                quiet = false;
            }
        }
    }

    /** Returns a task that is left and must not be, or null. */
    private Task leak() {
        if (settings.leaks() == Settings.Leaks.NONE) return null;
        for (Task t : tasks.live()) if (t.losesValue() || settings.leaks() == Settings.Leaks.ALL) return t;
        return null;
    }

    /** Cancels the tasks that are left, so that they clean up. */
    private void cleanUp() {
        phase = Phase.CLEANING;
        extraSteps = 0;
        clock.allow(Long.MAX_VALUE);
        current = timers;
        for (Task t : new ArrayList<>(tasks.live())) {
            boolean before = t.told;
            t.told = true;
            if (t.thread != null) t.thread.interrupt();
            else if (t.frame() != null && !before && (t.isDeferred() || !t.ready)) World.abort(t, cancellation());
            else t.told = before;
        }
        loop();
    }

    /** Cancels a task at the end of the run, once, and again if it takes long to end. Timers have no code to end. */
    private void ends(Task t) {
        if (t == timers || t.told && ++extraSteps < LAST_STEPS) return;
        t.told = true;
        throw cancellation();
    }

    private static CancellationException cancellation() {
        return new CancellationException("The simulation has ended.");
    }

    // Points

    /** Returns whether another task goes first. */
    private boolean passes() {
        if (next != null) return false;
        if (!beginStep()) return true;
        next = faultDue();
        if (next != null) return true;
        admitDue();
        int others = tasks.readyCount();
        if (others == 0) return false;
        if (++turns > FAIR_TURNS) { // it may wait in a loop for another task
            next = tasks.dequeue(0);
            strategy.yielded(current);
            begins(next);
            return true;
        }
        strategy.pending(current);
        currentCompetes = true;
        int chosen = choose(Strategy.Kind.TASK, others + 1);
        if (chosen == 0) {
            begins(current);
            return false;
        }
        next = tasks.dequeue(chosen - 1);
        trace.mix(next.id);
        begins(next);
        note(Trace.Kind.SWITCH, next, current, null);
        return true;
    }

    @Override
    protected boolean point(Member member, boolean mayDefer) {
        Task t = (Task) member;
        boolean cleaning = isCleaning();
        t.threadOperation = Operation.NONE;
        trace.mix(t.id * 8L + t.operation().ordinal());
        if (trace.keeps())
            noteOperation(
                    Trace.Kind.begun(t.operation()), t, t.operation() == Operation.PUT ? print(t.operand()) : null);
        if (cleaning) ends(t);
        if (!settings.points() || !mayDefer || held > 0 || quiet || cleaning || t != current || !passes()) {
            touches(t.port());
            if (trace.keeps() && t.isRefused()) noteOperation(Trace.Kind.FAILED, t, REFUSED);
            return false;
        }
        tasks.enqueue(t);
        return true;
    }

    /**
     * A thread, or a block in the middle of a step, is about to do something that others may see.
     *
     * @param operation what it may block in, or NONE
     * @param kind for the story
     */
    public void point(Operation operation, Trace.Kind kind, Object on, Object with) {
        if (held > 0) touches(on);
        if (held > 0 || quiet || phase == Phase.OVER) return;
        Task t = current;
        trace.mix(t.id * 8L + operation.ordinal() + 4);
        if (trace.keeps()) note(kind, t, on, with == null ? null : print(with));
        t.threadOperation = operation;
        t.threadPort = on;
        boolean cleaning = isCleaning();
        if (cleaning && !(kind == Trace.Kind.AT && Threads.inSkeinsCode()))
            ends(t); // a scope must learn that a child has ended
        if (cleaning) return;
        if (settings.points() && !Internals.holdsRefs())
            mayGiveWay(t); // others would wait for the transaction in real time
        touches(on);
    }

    private void mayGiveWay(Task t) {
        if (settings.threads()) {
            if (Thread.currentThread().isVirtual() && passes()) threads.giveWay();
        } else if (canNest() && passes()) {
            tasks.enqueue(main);
            nested();
        }
    }

    /** Without threads: whether others can run on the stack of the current task. They would join its transaction. */
    private boolean canNest() {
        return current == main && mainWaits == null && !LockingTransaction.isRunning();
    }

    /** The operation in which a thread may have blocked is done. */
    public void passed() {
        current.threadOperation = Operation.NONE;
    }

    // Calls by the runtime

    @Override
    public void ready(Runnable work) {
        if (phase == Phase.OVER) return;
        if (!(work instanceof Frame f)) {
            Task t = add(new Task(this, null, Task.Kind.CALLBACK, work, current));
            wakes(t);
            tasks.enqueue(t);
        } else if (World.member(f) instanceof Task t && t.world() == this) {
            if (trace.keeps() && t.operation() != Operation.NONE) {
                Object value = World.incoming(f);
                boolean cancelled = value instanceof CancellationException;
                Trace.Kind kind = cancelled ? Trace.Kind.CANCELLED : Trace.Kind.done(t.operation());
                noteOperation(kind, t, print(value));
            }
            wakes(t);
            tasks.enqueue(t);
        } else {
            if (!settings.waitsOutside())
                fail(Verdict.Kind.OUTSIDE, new Throwable("a block from outside was woken here"));
            Scheduler.submitToWorkers(work);
        }
    }

    @Override
    public long nanoTime() {
        return clock.now;
    }

    @Override
    public void at(World.Timer timer) {
        clock.add(timer.deadlineNanos(), timer, null);
    }

    @Override
    protected int choose(int bound) {
        return choose(Strategy.Kind.ARM, bound);
    }

    @Override
    protected double random() {
        drew = true;
        touches(random);
        return random.nextDouble();
    }

    @Override
    public Member spawned(Block block) {
        if (phase == Phase.OVER) return null;
        Task t = add(new Task(this, (Frame) block, Task.Kind.GO, block, current));
        wakes(t);
        note(Trace.Kind.SPAWN, current, t, null);
        return t;
    }

    @Override
    protected void withdrawn(Member member) {
        Task t = (Task) member;
        tasks.withdraw(t);
        if (next == t) next = null;
    }

    @Override
    public void ended(Member member, Throwable thrown) {
        touches(member.block().port());
        end((Task) member);
    }

    @Override
    protected void uncaught(Throwable thrown) {
        judge.uncaught(thrown);
    }

    @Override
    protected void rethrown(Throwable thrown) {
        judge.rethrown(thrown);
    }

    @Override
    public void kept(Throwable thrown, BooleanSupplier observed) {
        judge.kept(thrown, observed);
    }

    @Override
    protected void start(Runnable task) {
        checkThreads();
        threads.starting = task;
        Carriers.virtual(
                        this,
                        () -> {
                            try {
                                task.run();
                            } catch (Throwable t) { // as the thread's handler would
                                uncaught(t);
                            }
                        },
                        "sim-thread")
                .start();
    }

    @Override
    protected void checkThreads() {
        if (!settings.threads()) needsThreads();
    }

    private void needsThreads() {
        UnsupportedOperationException e = new UnsupportedOperationException(
                "Without --add-opens java.base/java.lang=ALL-UNNAMED only the body of a simulated test can block.");
        fail(Verdict.Kind.NEEDS_OPENS, e);
        throw e;
    }

    @Override
    protected void await(BooleanSupplier done) {
        if (current != main) needsThreads();
        mainWaits = done;
        nested();
        mainWaits = null;
    }

    @Override
    protected void hold(int n) {
        held = Math.max(0, held + n);
    }

    @Override
    protected void strayed(Block block) {
        if (phase != Phase.OVER) threads.wokenOutside(null, (Frame) block);
    }

    @Override
    public void execute(Runnable continuation) {
        threads.execute(continuation);
    }

    // Calls by tests

    /** A member that waits until it is woken. */
    private final class Wake {
        private final Thread thread = Thread.currentThread();
        private boolean done;

        void await() {
            if (!settings.threads()) {
                Simulation.this.await(() -> done);
                return;
            }
            while (!done && !Thread.currentThread().isInterrupted()) LockSupport.park(this);
        }

        void wake() {
            done = true;
            if (settings.threads()) LockSupport.unpark(thread);
        }
    }

    /** Without threads: runs others until {@code done}, a function, returns true, so that the body need not block. */
    public void awaitWithoutThreads(IFn done) {
        if (!settings.threads() && !RT.booleanCast(done.invoke())) await(() -> RT.booleanCast(done.invoke()));
    }

    /** Waits until no other task can run at this time. */
    public void settle() {
        Wake wake = new Wake();
        settlers.add(wake::wake);
        wake.await();
    }

    /** Waits until {@code nanos} have passed and no other task can run. */
    public void advance(long nanos) {
        Wake wake = new Wake();
        long at = clock.now + nanos;
        if (settings.manualTime()) clock.allow(at);
        clock.add(at, null, wake::wake);
        wake.await();
        settle();
    }

    /** Yields: lets other tasks go first. In a transaction that has changed a ref, does nothing, as a point there. */
    public void rest() {
        if (Internals.holdsRefs()) return;
        if (settings.threads()) Thread.yield();
        else if (canNest() && !isCleaning()) {
            tasks.rest(main);
            nested();
        }
    }

    /** Chooses a number from 0 to {@code n - 1}. */
    public int pick(int n) {
        return choose(Strategy.Kind.PICK, n);
    }

    /** Returns whether something happens that has the probability {@code p}. */
    public boolean chance(double p) {
        probability = p;
        boolean happens = choose(Strategy.Kind.CHANCE, 2) == 1;
        probability = Strategy.RARE;
        return happens;
    }

    /** Claims that {@code predicate} holds after each step, or after some step of some run. */
    public void claim(IFn predicate, String message, boolean always) {
        judge.claim(predicate, message, always);
        if (races != null) races.blinds();
    }

    /** Something that may happen, as {@code what} says, has happened. */
    public void sighted(String what) {
        judge.sighted(what);
    }

    /** Counts points from now on; {@code inject} injects the fault. */
    public void target(IFn inject) {
        targeted = inject;
    }

    /** Moves the clock to the next timer. */
    public void expire() {
        if (clock.jumpBeyond()) passTime(clock.now);
    }

    // Events

    /** Returns whether events are kept. */
    public boolean keepsEvents() {
        return trace.keeps();
    }

    /** Records something that happened to the current task, if events are kept. */
    public void note(Trace.Kind kind, Object on, String with) {
        note(kind, current, on, with);
    }

    /** Records something at the place in the code that does it. */
    private void note(Trace.Kind kind, Task task, Object on, String with) {
        if (!trace.keeps() || !isRunning() || quiet) return;
        boolean inCode = World.current() == this && kind != Trace.Kind.END && kind != Trace.Kind.SWITCH;
        record(kind, task, on, with, inCode ? new Throwable().getStackTrace() : null);
    }

    /** Records an operation of a block, whose code knows the place by the block's state. */
    private void noteOperation(Trace.Kind kind, Task t, String with) {
        if (trace.keeps() && isRunning()) record(kind, t, t.port(), with, t.frame().state);
    }

    /**
     * Records that the thread of {@code t} waits. Not in a run that is described if it fails: if another thread wakes {@code t}
     * while its stack is read, it is not known which one.
     */
    void parks(Task t) {
        if (trace.keeps() && isRunning() && settings.describe() == null && t.thread != null)
            record(Trace.Kind.PARK, t, null, null, threads.stack(t));
    }

    private void record(Trace.Kind kind, Task task, Object on, String with, Object site) {
        if (on instanceof Task spawned && kind == Trace.Kind.SPAWN) spawned.site = site;
        trace.add(new Trace.Event(clock.now, task, kind, on, with, site, trace.hash(), trace.choices()));
    }

    private String print(Object x) {
        if (settings.printer() == null) return null;
        boolean before = quiet;
        quiet = true;
        try {
            return (String) settings.printer().invoke(x);
        } finally {
            quiet = before;
        }
    }

    // What a run is, or was

    /** Returns whether the run is over. Any thread may ask. */
    public boolean isOver() {
        return phase == Phase.OVER;
    }

    /** Returns whether the run has failed or ended, and members are being cancelled. */
    public boolean isEnding() {
        return !isRunning();
    }

    /** Returns whether threads outside of the simulation may wake its members. */
    boolean admitsOutside() {
        return settings.waitsOutside() || isCleaning();
    }

    /** Returns whether reads and changes of atoms are points. */
    public boolean atoms() {
        return settings.atoms();
    }

    /** Returns what the body returned. */
    public Object value() {
        return value;
    }

    /** Returns why the run failed, or null. */
    public Verdict verdict() {
        return judge.verdict();
    }

    /** Returns what {@link Settings#describe} returned, or null. */
    public Object description() {
        return description;
    }

    /** Returns each claim that something holds sometimes, and whether it has held in this run. */
    public Map<String, Boolean> sightings() {
        return judge.sightings();
    }

    /** Returns what the run's steps touched, or null if the strategy does not reduce the search. */
    public Races races() {
        return races;
    }

    /** Returns the task that runs. */
    public Task running() {
        return current;
    }

    /** Returns the tasks that have not ended, in no particular order. */
    public List<Task> live() {
        return tasks.live();
    }

    /** Returns the thread on which {@code task} runs. Any thread may ask. */
    public Thread threadOf(Task task) {
        return threads.of(task);
    }

    /** Returns the stack of a task's thread, which waits. */
    public StackTraceElement[] stack(Task task) {
        return threads.stack(task);
    }

    /** Returns how many steps there have been. */
    public long steps() {
        return steps;
    }

    /** Returns how many points there were since a target was named. */
    public int points() {
        return points;
    }

    /** Returns the virtual time, in nanoseconds since the run began. */
    public long now() {
        return clock.now;
    }

    /** Returns the virtual time when the body ended, or when the run ended before it. */
    public long endedAt() {
        return endedAt;
    }

    /** Returns whether a random number has been drawn. */
    public boolean drew() {
        return drew;
    }
}
